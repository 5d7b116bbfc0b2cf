/* SPDX-License-Identifier: MIT */
#include <uerudp/partial.h>
#include "libcodec/observe/reassembly_state.h"

#include <string.h>

#define SEEN_PACKETS 64

/* One bunch on its way through the reassembly; of a late packet, the last of those that hang together. */
struct pass {
    struct ue_reassembly *assembly;
    const struct ue_reassembly_callbacks *sink;
    uint64_t frame;
    uint32_t item;
    unsigned side;
    uint32_t channel;
    bool is_reliable;
    bool is_partial_error;
    int64_t number; /* see struct ue_queued_fragment */
    enum ue_content_kind kind;
    bool is_kind_guessed;
};

struct ue_reassembly *ue_reassembly_new(const struct ue_allocator *memory) {
    struct ue_reassembly *assembly = memory->resize(memory->user, NULL, sizeof *assembly);
    if (assembly != NULL) {
        *assembly = (struct ue_reassembly){.budget = {*memory, sizeof *assembly, UE_REASSEMBLY_BYTES_MAX}};
        assembly->sides[0].newest_id = assembly->sides[1].newest_id = INT64_MIN / 2; /* before all */
    }
    return assembly;
}

void ue_reassembly_free(struct ue_reassembly *assembly) {
    if (assembly == NULL) {
        return;
    }
    const struct ue_allocator memory = assembly->budget.memory;
    while (assembly->oldest != NULL) {
        const struct ue_fragment_run run = ue_fragment_run_of(assembly->oldest);
        ue_fragment_run_drop(assembly, &run);
    }
    ue_reassembly_free_channels(assembly);
    memory.resize(memory.user, assembly, 0);
}

size_t ue_reassembly_bytes(const struct ue_reassembly *assembly) {
    return assembly->budget.bytes;
}

/* ---- packets ---- */

static void note_packet(struct ue_reassembly_side *side, int64_t id) {
    int64_t step = id - side->newest_id;
    if (step > 0) {
        side->seen = step < SEEN_PACKETS ? side->seen << step | 1 : 1;
        side->newest_id = id;
    } else if (step > -SEEN_PACKETS) {
        side->seen |= UINT64_C(1) << -step;
    }
}

static bool is_far_back(const struct ue_reassembly_side *side, int64_t id) {
    return id <= side->newest_id - SEEN_PACKETS;
}

static bool was_seen(const struct ue_reassembly_side *side, int64_t id) {
    return id <= side->newest_id && !is_far_back(side, id) && (side->seen >> (side->newest_id - id) & 1) != 0;
}

/* ---- telling ---- */

static void tell(const struct pass *p, struct ue_reassembly_event *event) {
    event->frame = p->frame;
    event->item = p->item;
    event->side = p->side;
    event->channel = p->channel;
    event->is_reliable = p->is_reliable;
    event->is_kind_guessed = p->is_kind_guessed;
    p->sink->event(p->sink->user, event);
}

static void tell_one(const struct pass *p, enum ue_reassembly_event_type type, enum ue_reassembly_problem problem, size_t bits,
                     const struct ue_content *content) {
    const struct ue_fragment fragment = {p->frame, p->item, (uint32_t)bits};
    struct ue_reassembly_event event = {
        .type = type, .problem = problem, .content = *content, .fragments = &fragment, .fragment_count = 1};
    tell(p, &event);
}

/* A bunch that is not partial, or the exports of a fragment. */
static void tell_bunch(const struct pass *p, const struct ue_bunch *bunch) {
    bool is_whole = !bunch->partial;
    tell_one(p, UE_REASSEMBLY_COMPLETE, UE_REASSEMBLY_NO_PROBLEM, bunch->data.bits,
             &(struct ue_content){.kind = p->kind,
                                  .open = is_whole && bunch->open,
                                  .close = is_whole && bunch->close,
                                  .has_exports = bunch->has_exports,
                                  .has_mapped = is_whole && bunch->has_mapped,
                                  .data = bunch->data});
}

/* Where there is no memory for all, the last one stands for them. */
static void give_up(const struct pass *p, const struct ue_fragment_run *run, enum ue_reassembly_problem problem) {
    struct ue_reassembly_event event = {.type = UE_REASSEMBLY_ABANDONED, .problem = problem};
    struct ue_fragment *fragments = ue_reassembly_alloc_block(p->assembly, run->count * sizeof *fragments);
    const struct ue_queued_fragment *fragment = run->first;
    for (uint32_t i = 0; fragments != NULL && i < run->count; i++, fragment = fragment->behind) {
        fragments[i] = fragment->seen;
    }
    event.fragments = fragments != NULL ? fragments : &run->last->seen;
    event.fragment_count = fragments != NULL ? run->count : 1;
    tell(p, &event);
    ue_reassembly_free_block(p->assembly, fragments, run->count * sizeof *fragments);
    ue_fragment_run_drop(p->assembly, run);
}

/* ---- whole chains ---- */

/* Where a chain is put together: the fragments of one message after the other, each with its bits behind each other
   from the beginning of a byte on. */
struct joined {
    struct ue_fragment *fragments;
    uint32_t count;
    uint8_t *data; /* zeros behind the bits */
    size_t bits;
};

static void append(struct joined *joined, const struct ue_queued_fragment *fragment) {
    joined->fragments[joined->count++] = fragment->seen;
    ue_bits_copy(joined->data, joined->bits, fragment->data, 0, fragment->seen.bits);
    joined->bits += fragment->seen.bits;
}

static void tell_joined(const struct pass *p, const struct joined *joined, struct ue_content *content) {
    bool is_too_large = ue_bits_bytes(joined->bits) > UE_REASSEMBLY_MESSAGE_BYTES_MAX;
    content->kind = p->kind;
    content->data = (struct ue_view){joined->data, 0, joined->bits};
    struct ue_reassembly_event event = {.type = UE_REASSEMBLY_COMPLETE,
                                      .problem = is_too_large ? UE_REASSEMBLY_TOO_LARGE : UE_REASSEMBLY_NO_PROBLEM,
                                      .content = *content,
                                      .is_joined = true,
                                      .fragments = joined->fragments,
                                      .fragment_count = joined->count};
    tell(p, &event);
}

/* The custom exports end with a fragment, and what follows begins anew. The last fragment stays one of the message,
   to which it then adds nothing. */
static void split_off(const struct pass *p, struct joined *joined, bool is_last) {
    tell_joined(p, joined, &(struct ue_content){.is_custom_exports = true});
    joined->data += ue_bits_bytes(joined->bits);
    joined->bits = 0;
    joined->fragments += joined->count - is_last;
    joined->count = is_last;
    joined->fragments[0].bits = is_last ? 0 : joined->fragments[0].bits;
}

static size_t size_joined(const struct ue_fragment_run *run) {
    size_t size_bytes = run->count * sizeof(struct ue_fragment);
    const struct ue_queued_fragment *fragment = run->first;
    for (uint32_t i = 0; i < run->count; i++, fragment = fragment->behind) {
        size_bytes += ue_bits_bytes(fragment->seen.bits);
    }
    return size_bytes;
}

static void deliver(const struct pass *p, const struct ue_fragment_run *run) {
    size_t size_bytes = size_joined(run);
    void *block = ue_reassembly_alloc_block(p->assembly, size_bytes);
    if (block == NULL) {
        give_up(p, run, UE_REASSEMBLY_NO_MEMORY);
        return;
    }
    memset(block, 0, size_bytes);
    struct joined joined = {.fragments = block, .data = (uint8_t *)((struct ue_fragment *)block + run->count)};
    const struct ue_queued_fragment *fragment = run->first;
    for (uint32_t i = 0; i < run->count; i++, fragment = fragment->behind) {
        append(&joined, fragment);
        if (fragment->is_exports_final) {
            split_off(p, &joined, fragment == run->last);
        }
    }
    const struct ue_queued_fragment *last = run->last;
    tell_joined(p, &joined,
                &(struct ue_content){.open = run->first->open, .close = last->close, .has_mapped = last->has_mapped});
    ue_reassembly_free_block(p->assembly, block, size_bytes);
    ue_fragment_run_drop(p->assembly, run);
}

/* ---- what proves a run broken ---- */

static enum ue_reassembly_problem judge_gap(const struct pass *p, const struct ue_fragment_queue *lane, int64_t number,
                                          enum ue_reassembly_problem when_seen) {
    const struct ue_reassembly_side *side = &p->assembly->sides[p->side];
    if (!lane->is_reliable) {
        return was_seen(side, number)      ? when_seen
               : is_far_back(side, number) ? UE_REASSEMBLY_FRAGMENT_LOST
                                           : UE_REASSEMBLY_NO_PROBLEM;
    }
    bool is_over = number <= p->number - UE_REASSEMBLY_FRAGMENTS_MAX;
    return is_over ? UE_REASSEMBLY_FRAGMENT_LOST : UE_REASSEMBLY_NO_PROBLEM;
}

static bool is_next(const struct ue_queued_fragment *before, const struct ue_queued_fragment *behind) {
    return before != NULL && behind != NULL &&
           ue_partial_is_next(before->lane->is_reliable, before->number, behind->number);
}

/* What ended right before a fragment is continued by none. */
static bool is_behind_an_end(const struct pass *p, const struct ue_queued_fragment *fragment) {
    const struct ue_fragment_queue *lane = fragment->lane;
    bool is_present = fragment->seen.frame == p->frame && fragment->seen.item == p->item;
    return is_next(fragment->before, fragment) || lane->done == fragment->number - lane->is_reliable ||
           (lane->is_reliable && is_present && p->is_partial_error);
}

/* Why no fragment can come that belongs before the run. */
static enum ue_reassembly_problem judge_head(const struct pass *p, const struct ue_fragment_run *run) {
    const struct ue_queued_fragment *first = run->first;
    if (first->is_initial) {
        return UE_REASSEMBLY_NO_PROBLEM;
    }
    return is_behind_an_end(p, first) ? UE_REASSEMBLY_NO_START
                                      : judge_gap(p, first->lane, first->number - 1, UE_REASSEMBLY_NO_START);
}

/* Why none can come that belongs behind it. */
static enum ue_reassembly_problem judge_tail(const struct pass *p, const struct ue_fragment_run *run) {
    const struct ue_queued_fragment *last = run->last;
    if (last->is_final) {
        return UE_REASSEMBLY_NO_PROBLEM;
    }
    return is_next(last, last->behind) ? UE_REASSEMBLY_INTERRUPTED
                                       : judge_gap(p, last->lane, last->number + 1, UE_REASSEMBLY_NO_END);
}

static enum ue_reassembly_problem judge(const struct pass *p, const struct ue_fragment_run *run) {
    enum ue_reassembly_problem problem = judge_head(p, run);
    return problem != UE_REASSEMBLY_NO_PROBLEM ? problem : judge_tail(p, run);
}

/* The run of a fragment other than the present one; NULL: there is none. */
static void give_up_broken(const struct pass *p, struct ue_queued_fragment *fragment) {
    if (fragment != NULL) {
        const struct ue_fragment_run run = ue_fragment_run_of(fragment);
        enum ue_reassembly_problem problem = judge(p, &run);
        if (problem != UE_REASSEMBLY_NO_PROBLEM) {
            give_up(p, &run, problem);
        }
    }
}

/* ---- fragments ---- */

/* A fragment without beginning while one of the other reliability waits for the next (protocol.md 10.2, rules 2 and
   8). */
static bool is_mixed(const struct pass *p) {
    const struct ue_fragment_queue *other = ue_fragment_queue_find(p->assembly, p->channel, p->side, !p->is_reliable);
    return other != NULL && other->last != NULL && !other->last->is_final;
}

/* What has become of the run that the present fragment is in. */
static void settle(const struct pass *p, const struct ue_fragment_run *run) {
    enum ue_reassembly_problem problem = judge(p, run);
    if (run->first->is_initial && run->last->is_final) {
        deliver(p, run);
    } else if (problem == UE_REASSEMBLY_NO_PROBLEM) {
        tell_one(p, UE_REASSEMBLY_PENDING, problem, run->last->seen.bits, &(struct ue_content){.kind = p->kind});
    } else {
        bool mixed = problem == UE_REASSEMBLY_NO_START && is_mixed(p);
        give_up(p, run, mixed ? UE_REASSEMBLY_MIXED_RELIABILITY : problem);
    }
}

static enum ue_reassembly_problem problem_of(const struct ue_bunch *fragment) {
    switch (ue_partial_check(fragment)) {
    case UE_PARTIAL_UNALIGNED: return UE_REASSEMBLY_UNALIGNED;
    case UE_PARTIAL_FINAL_EXPORTS: return UE_REASSEMBLY_FINAL_EXPORTS;
    case UE_PARTIAL_VALID: break;
    }
    return UE_REASSEMBLY_NO_PROBLEM;
}

static void evict(const struct pass *p, struct ue_queued_fragment *fragment) {
    const struct ue_fragment_run run = ue_fragment_run_of(fragment);
    give_up(p, &run, UE_REASSEMBLY_NO_MEMORY);
}

/* The lane where the present fragment belongs, with room for one more; NULL: no memory. Here and below, what waits the
   longest gives way. */
static struct ue_fragment_queue *make_room(const struct pass *p) {
    struct ue_queued_fragment **oldest = &p->assembly->oldest;
    struct ue_fragment_queue *lane;
    while ((lane = ue_fragment_queue_ensure(p->assembly, p->channel, p->side, p->is_reliable)) == NULL &&
           p->channel <= UE_CHANNEL_MAX && *oldest != NULL) {
        evict(p, *oldest);
    }
    if (lane != NULL && lane->count >= UE_REASSEMBLY_FRAGMENTS_MAX) {
        evict(p, lane->first);
    }
    return lane;
}

static struct ue_queued_fragment *add(const struct pass *p, struct ue_fragment_queue *lane, const struct ue_bunch *bunch) {
    const struct ue_fragment seen = {p->frame, p->item, (uint32_t)ue_partial_bits(bunch)};
    struct ue_queued_fragment **oldest = &p->assembly->oldest;
    struct ue_queued_fragment *fragment;
    while ((fragment = ue_fragment_queue_add(p->assembly, lane, p->number, &seen, bunch)) == NULL && *oldest != NULL) {
        evict(p, *oldest);
    }
    return fragment;
}

/* One that waits already came in a packet that the tracker had forgotten. */
static bool is_known(const struct pass *p, const struct ue_fragment_queue *lane) {
    const struct ue_queued_fragment *before = ue_fragment_queue_find_before(lane, p->number, p->item);
    const struct ue_queued_fragment *next = before != NULL ? before->behind : lane->first;
    return next != NULL && next->number == p->number && (lane->is_reliable || next->seen.item == p->item);
}

/* Others of its packet may stand between it and those of the next, which came before. */
static bool wait_for_end(const struct pass *p, struct ue_fragment_queue *lane) {
    if (p->is_reliable || p->number >= p->assembly->sides[p->side].newest_id) {
        return false;
    }
    if (!lane->is_late) {
        lane->is_late = true;
        lane->next_late = p->assembly->late;
        p->assembly->late = lane;
        p->assembly->late_id = p->number;
    }
    return true;
}

static void take_fragment(const struct pass *p, const struct ue_bunch *bunch) {
    struct ue_fragment_queue *lane = make_room(p);
    if (lane != NULL && is_known(p, lane)) {
        return;
    }
    struct ue_queued_fragment *fragment = lane != NULL ? add(p, lane, bunch) : NULL;
    if (fragment == NULL) {
        tell_one(p, UE_REASSEMBLY_ABANDONED, UE_REASSEMBLY_NO_MEMORY, ue_partial_bits(bunch), &(struct ue_content){0});
        return;
    }
    enum ue_reassembly_problem problem = problem_of(bunch);
    if (problem == UE_REASSEMBLY_NO_PROBLEM && wait_for_end(p, lane)) {
        return;
    }
    const struct ue_fragment_run run = ue_fragment_run_of(fragment);
    if (problem != UE_REASSEMBLY_NO_PROBLEM) {
        give_up(p, &run, problem);
        return;
    }
    give_up_broken(p, run.first->before);
    give_up_broken(p, run.last->behind);
    give_up_broken(p, lane->first != run.first ? lane->first : NULL);
    settle(p, &run);
}

/* A reliable bunch that is not partial stands between fragments: they do not belong together (protocol.md 10.2,
   rule 8). */
static void part_neighbours(const struct pass *p, const struct ue_fragment_queue *lane) {
    struct ue_queued_fragment *before = ue_fragment_queue_find_before(lane, p->number, 0);
    struct ue_queued_fragment *behind = before != NULL ? before->behind : lane->first;
    if (before != NULL && before->number == p->number - 1 && !before->is_final) {
        const struct ue_fragment_run run = ue_fragment_run_of(before);
        give_up(p, &run, UE_REASSEMBLY_NO_END);
    }
    if (behind != NULL && behind->number == p->number + 1 && !behind->is_initial) {
        const struct ue_fragment_run run = ue_fragment_run_of(behind);
        give_up(p, &run, UE_REASSEMBLY_NO_START);
    }
}

static void take_bunch(const struct pass *p, const struct ue_bunch *bunch) {
    if (bunch->partial) {
        if (bunch->has_exports) {
            tell_bunch(p, bunch);
        }
        take_fragment(p, bunch);
        return;
    }
    if (p->is_reliable && ue_reassembly_has_fragments(p->assembly, p->channel, p->side, true)) {
        part_neighbours(p, ue_fragment_queue_find(p->assembly, p->channel, p->side, true));
    }
    tell_bunch(p, bunch);
}

void ue_reassembly_feed(struct ue_reassembly *assembly, const struct ue_context *context,
                      const struct ue_tracker_event *event, const struct ue_reassembly_callbacks *sink) {
    if (event->type == UE_TRACKER_PACKET) {
        note_packet(&assembly->sides[event->side], event->packet_id);
        return;
    }
    if (event->type != UE_TRACKER_BUNCH || event->copy > 1) {
        return;
    }
    const struct ue_bunch *bunch = event->bunch;
    struct pass p = {.assembly = assembly,
                     .sink = sink,
                     .frame = event->frame,
                     .item = event->item,
                     .side = event->side,
                     .channel = bunch->channel,
                     .is_reliable = bunch->reliable,
                     .is_partial_error = event->is_partial_error,
                     .number = bunch->reliable ? event->reliable_id : event->packet_id};
    ue_reassembly_learn_kind(assembly, context, bunch);
    p.kind = ue_reassembly_channel_kind(assembly, bunch->channel, &p.is_kind_guessed);
    take_bunch(&p, bunch);
}

/* ---- late packets ---- */

/* The first of the late packet, where the run that it hangs together with begins; NULL: it gave way. */
static struct ue_queued_fragment *first_late(const struct ue_fragment_queue *lane, int64_t id) {
    struct ue_queued_fragment *before = ue_fragment_queue_find_before(lane, id, 0);
    struct ue_queued_fragment *first = before != NULL ? before->behind : lane->first;
    return first != NULL && first->number == id ? first : NULL;
}

static void point_at(struct pass *p, const struct ue_fragment_run *run) {
    const struct ue_queued_fragment *last = run->last;
    while (last->number != p->number) {
        last = last->before;
    }
    p->frame = last->seen.frame;
    p->item = last->seen.item;
}

static void settle_late(struct pass *p, struct ue_fragment_queue *lane) {
    struct ue_queued_fragment *fragment = first_late(lane, p->number);
    while (fragment != NULL) {
        const struct ue_fragment_run run = ue_fragment_run_of(fragment);
        struct ue_queued_fragment *behind = run.last->behind;
        point_at(p, &run);
        give_up_broken(p, run.first->before);
        fragment = behind != NULL && behind->number == p->number ? behind : NULL;
        give_up_broken(p, fragment == NULL ? behind : NULL);
        settle(p, &run);
    }
}

void ue_reassembly_end_datagram(struct ue_reassembly *assembly, const struct ue_reassembly_callbacks *sink) {
    while (assembly->late != NULL) {
        struct ue_fragment_queue *lane = assembly->late;
        assembly->late = lane->next_late;
        lane->is_late = false;
        struct pass p = {.assembly = assembly,
                         .sink = sink,
                         .side = lane->side,
                         .channel = lane->channel,
                         .number = assembly->late_id};
        p.kind = ue_reassembly_channel_kind(assembly, p.channel, &p.is_kind_guessed);
        settle_late(&p, lane);
    }
}

const char *ue_reassembly_problem_text(enum ue_reassembly_problem problem) {
    switch (problem) {
    case UE_REASSEMBLY_NO_PROBLEM: return "Nothing is wrong with the fragments";
    case UE_REASSEMBLY_INTERRUPTED: return "A new message began before the last fragment of this one came";
    case UE_REASSEMBLY_NO_START: return "The fragment continues a message, but what came before it is no part of one";
    case UE_REASSEMBLY_NO_END: return "What came next is no fragment that continues the message";
    case UE_REASSEMBLY_MIXED_RELIABILITY: return "The fragment is reliable where the message is not, or the reverse";
    case UE_REASSEMBLY_FRAGMENT_LOST: return "Other fragments of the message were not captured, and come no more";
    case UE_REASSEMBLY_UNALIGNED: return "A fragment before the last is no whole number of bytes";
    case UE_REASSEMBLY_FINAL_EXPORTS: return "The last fragment carries exports, which no receiver takes";
    case UE_REASSEMBLY_TOO_LARGE: return "The message is larger than receivers take unless they are told otherwise";
    case UE_REASSEMBLY_NO_MEMORY: return "More fragments wait for others than are kept";
    }
    return "";
}

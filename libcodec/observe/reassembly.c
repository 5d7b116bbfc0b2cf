/* SPDX-License-Identifier: MIT */
#include <uerudp/partial.h>
#include "libcodec/observe/reassembly_state.h"

#include <string.h>

#define CAPTURED_PACKETS 64

/* The processing of one bunch, or, for a late packet, of the last bunch of a run. */
struct reassembly_step {
    struct ue_reassembly *reassembly;
    const struct ue_observer_callbacks *callbacks;
    uint64_t frame;
    int64_t time_ns;
    int64_t packet_id;
    uint32_t item;
    unsigned side;
    uint32_t channel;
    bool is_reliable;
    bool is_partial_error;
    int64_t number; /* as in struct ue_queued_fragment */
    enum ue_content_kind kind;
    bool is_kind_guessed;
};

struct ue_reassembly *ue_reassembly_new(const struct ue_allocator *allocator) {
    struct ue_reassembly *reassembly = allocator->resize(allocator->user, NULL, sizeof *reassembly);
    if (reassembly != NULL) {
        *reassembly = (struct ue_reassembly){.memory = {*allocator, sizeof *reassembly, UE_REASSEMBLY_BYTES_MAX}};
        reassembly->sides[0].newest_id = reassembly->sides[1].newest_id = INT64_MIN / 2; /* before all packets */
    }
    return reassembly;
}

void ue_reassembly_free(struct ue_reassembly *reassembly) {
    if (reassembly == NULL) {
        return;
    }
    const struct ue_allocator allocator = reassembly->memory.allocator;
    while (reassembly->oldest != NULL) {
        const struct ue_fragment_run run = ue_fragment_run_of(reassembly->oldest);
        ue_fragment_run_drop(reassembly, &run);
    }
    ue_reassembly_free_channels(reassembly);
    allocator.resize(allocator.user, reassembly, 0);
}

size_t ue_reassembly_bytes(const struct ue_reassembly *reassembly) {
    return reassembly->memory.bytes;
}

/* ---- packets ---- */

static void mark_captured(struct ue_reassembly_side *side, int64_t id) {
    int64_t step = id - side->newest_id;
    if (step > 0) {
        side->captured = step < CAPTURED_PACKETS ? side->captured << step | 1 : 1;
        side->newest_id = id;
    } else if (step > -CAPTURED_PACKETS) {
        side->captured |= UINT64_C(1) << -step;
    }
}

static bool is_far_back(const struct ue_reassembly_side *side, int64_t id) {
    return id <= side->newest_id - CAPTURED_PACKETS;
}

static bool was_captured(const struct ue_reassembly_side *side, int64_t id) {
    return id <= side->newest_id && !is_far_back(side, id) && (side->captured >> (side->newest_id - id) & 1) != 0;
}

/* ---- events ---- */

/* Fills in what all events of the bunch have in common, and emits one of them. */
static void emit(const struct reassembly_step *p, enum ue_observed_event_type type, struct ue_observed_event *event) {
    event->type = type;
    event->side = p->side;
    event->frame = p->frame;
    event->time_ns = p->time_ns;
    event->packet_id = p->packet_id;
    event->message.item = p->item;
    event->message.channel = p->channel;
    event->message.is_reliable = p->is_reliable;
    event->message.is_kind_guessed = p->is_kind_guessed;
    p->callbacks->event(p->callbacks->user, event);
}

/* Emits an event of one fragment, without its content. */
static void emit_one(const struct reassembly_step *p, enum ue_observed_event_type type,
                     enum ue_reassembly_problem problem, size_t bits, enum ue_content_kind kind) {
    const struct ue_fragment fragment = {p->frame, p->item, (uint32_t)bits};
    emit(p, type,
         &(struct ue_observed_event){
             .message = {.problem = problem, .content.kind = kind, .fragments = &fragment, .fragment_count = 1}});
}

/* Emits a bunch that is not partial, or the exports of a fragment. */
static void emit_bunch(const struct reassembly_step *p, const struct ue_bunch *bunch) {
    const struct ue_fragment fragment = {p->frame, p->item, (uint32_t)bunch->data.bits};
    bool is_whole = !bunch->partial;
    emit(p, UE_OBSERVED_MESSAGE,
         &(struct ue_observed_event){.message = {.content = {.kind = p->kind,
                                                             .open = is_whole && bunch->open,
                                                             .close = is_whole && bunch->close,
                                                             .has_exports = bunch->has_exports,
                                                             .has_mapped = is_whole && bunch->has_mapped,
                                                             .data = bunch->data},
                                                 .fragments = &fragment,
                                                 .fragment_count = 1}});
}

/* Drops a run. If there is no memory for the list of its fragments, the event names only the last one. */
static void abandon(const struct reassembly_step *p, const struct ue_fragment_run *run,
                    enum ue_reassembly_problem problem) {
    struct ue_fragment *fragments = ue_reassembly_alloc_block(p->reassembly, run->count * sizeof *fragments);
    const struct ue_queued_fragment *fragment = run->first;
    for (uint32_t i = 0; fragments != NULL && i < run->count; i++, fragment = fragment->next) {
        fragments[i] = fragment->source;
    }
    emit(p, UE_OBSERVED_ABANDONED,
         &(struct ue_observed_event){.message = {.problem = problem,
                                                 .fragments = fragments != NULL ? fragments : &run->last->source,
                                                 .fragment_count = fragments != NULL ? run->count : 1}});
    ue_reassembly_free_block(p->reassembly, fragments, run->count * sizeof *fragments);
    ue_fragment_run_drop(p->reassembly, run);
}

/* ---- complete messages ---- */

/* A message that is joined from fragments. Its data begins at a byte boundary. */
struct joined {
    struct ue_fragment *fragments;
    uint32_t count;
    uint8_t *data; /* zeros after the last bit */
    size_t bits;
};

static void append(struct joined *joined, const struct ue_queued_fragment *fragment) {
    joined->fragments[joined->count++] = fragment->source;
    ue_bits_copy(joined->data, joined->bits, fragment->data, 0, fragment->source.bits);
    joined->bits += fragment->source.bits;
}

static void emit_joined(const struct reassembly_step *p, const struct joined *joined, struct ue_content *content) {
    bool is_too_large = ue_bits_bytes(joined->bits) > UE_REASSEMBLY_MESSAGE_BYTES_MAX;
    content->kind = p->kind;
    content->data = (struct ue_view){joined->data, 0, joined->bits};
    emit(p, UE_OBSERVED_MESSAGE,
         &(struct ue_observed_event){
             .message = {.problem = is_too_large ? UE_REASSEMBLY_TOO_LARGE : UE_REASSEMBLY_NO_PROBLEM,
                         .content = *content,
                         .is_joined = true,
                         .fragments = joined->fragments,
                         .fragment_count = joined->count}});
}

/* Emits the custom exports, which end with a fragment, and begins the message itself with the next fragment. The last
   fragment of all always belongs to the message, even if it adds no bits. */
static void split_custom_exports(const struct reassembly_step *p, struct joined *joined, bool is_last) {
    emit_joined(p, joined, &(struct ue_content){.is_custom_exports = true});
    joined->data += ue_bits_bytes(joined->bits);
    joined->bits = 0;
    joined->fragments += joined->count - is_last;
    joined->count = is_last;
    joined->fragments[0].bits = is_last ? 0 : joined->fragments[0].bits;
}

static size_t joined_bytes(const struct ue_fragment_run *run) {
    size_t size_bytes = run->count * sizeof(struct ue_fragment);
    const struct ue_queued_fragment *fragment = run->first;
    for (uint32_t i = 0; i < run->count; i++, fragment = fragment->next) {
        size_bytes += ue_bits_bytes(fragment->source.bits);
    }
    return size_bytes;
}

static void complete(const struct reassembly_step *p, const struct ue_fragment_run *run) {
    size_t size_bytes = joined_bytes(run);
    void *block = ue_reassembly_alloc_block(p->reassembly, size_bytes);
    if (block == NULL) {
        abandon(p, run, UE_REASSEMBLY_NO_MEMORY);
        return;
    }
    memset(block, 0, size_bytes);
    struct joined joined = {.fragments = block, .data = (uint8_t *)((struct ue_fragment *)block + run->count)};
    const struct ue_queued_fragment *fragment = run->first;
    for (uint32_t i = 0; i < run->count; i++, fragment = fragment->next) {
        append(&joined, fragment);
        if (fragment->is_exports_final) {
            split_custom_exports(p, &joined, fragment == run->last);
        }
    }
    const struct ue_queued_fragment *last = run->last;
    emit_joined(p, &joined,
                &(struct ue_content){.open = run->first->open, .close = last->close, .has_mapped = last->has_mapped});
    ue_reassembly_free_block(p->reassembly, block, size_bytes);
    ue_fragment_run_drop(p->reassembly, run);
}

/* ---- runs that cannot become a message ---- */

static enum ue_reassembly_problem check_gap(const struct reassembly_step *p, const struct ue_fragment_queue *queue,
                                            int64_t number, enum ue_reassembly_problem when_seen) {
    const struct ue_reassembly_side *side = &p->reassembly->sides[p->side];
    if (!queue->is_reliable) {
        return was_captured(side, number)  ? when_seen
               : is_far_back(side, number) ? UE_REASSEMBLY_FRAGMENT_LOST
                                           : UE_REASSEMBLY_NO_PROBLEM;
    }
    bool is_over = number <= p->number - UE_REASSEMBLY_FRAGMENTS_MAX;
    return is_over ? UE_REASSEMBLY_FRAGMENT_LOST : UE_REASSEMBLY_NO_PROBLEM;
}

static bool is_next(const struct ue_queued_fragment *previous, const struct ue_queued_fragment *next) {
    return previous != NULL && next != NULL &&
           ue_partial_is_next(previous->queue->is_reliable, previous->number, next->number);
}

/* Whether the message before a fragment is complete or was dropped, so that no fragment can arrive in between. */
static bool follows_an_end(const struct reassembly_step *p, const struct ue_queued_fragment *fragment) {
    const struct ue_fragment_queue *queue = fragment->queue;
    bool is_present = fragment->source.frame == p->frame && fragment->source.item == p->item;
    return is_next(fragment->previous, fragment) || queue->done == fragment->number - queue->is_reliable ||
           (queue->is_reliable && is_present && p->is_partial_error);
}

/* Why no fragment can arrive that precedes the run. */
static enum ue_reassembly_problem check_start(const struct reassembly_step *p, const struct ue_fragment_run *run) {
    const struct ue_queued_fragment *first = run->first;
    if (first->is_initial) {
        return UE_REASSEMBLY_NO_PROBLEM;
    }
    return follows_an_end(p, first) ? UE_REASSEMBLY_NO_START
                                    : check_gap(p, first->queue, first->number - 1, UE_REASSEMBLY_NO_START);
}

/* Why no fragment can arrive that follows the run. */
static enum ue_reassembly_problem check_end(const struct reassembly_step *p, const struct ue_fragment_run *run) {
    const struct ue_queued_fragment *last = run->last;
    if (last->is_final) {
        return UE_REASSEMBLY_NO_PROBLEM;
    }
    return is_next(last, last->next) ? UE_REASSEMBLY_INTERRUPTED
                                     : check_gap(p, last->queue, last->number + 1, UE_REASSEMBLY_NO_END);
}

static enum ue_reassembly_problem check_run(const struct reassembly_step *p, const struct ue_fragment_run *run) {
    enum ue_reassembly_problem problem = check_start(p, run);
    return problem != UE_REASSEMBLY_NO_PROBLEM ? problem : check_end(p, run);
}

/* Drops the run of another fragment if it cannot become a message; fragment may be NULL. */
static void abandon_if_broken(const struct reassembly_step *p, struct ue_queued_fragment *fragment) {
    if (fragment != NULL) {
        const struct ue_fragment_run run = ue_fragment_run_of(fragment);
        enum ue_reassembly_problem problem = check_run(p, &run);
        if (problem != UE_REASSEMBLY_NO_PROBLEM) {
            abandon(p, &run, problem);
        }
    }
}

/* ---- fragments ---- */

/* Whether a message of the other reliability is unfinished on the channel (protocol.md 10.2, rules 2 and 8). */
static bool is_mixed(const struct reassembly_step *p) {
    const struct ue_fragment_queue *other = ue_fragment_queue_find(p->reassembly, p->channel, p->side, !p->is_reliable);
    return other != NULL && other->last != NULL && !other->last->is_final;
}

/* Emits the result for the run of the current fragment. */
static void resolve_run(const struct reassembly_step *p, const struct ue_fragment_run *run) {
    enum ue_reassembly_problem problem = check_run(p, run);
    if (run->first->is_initial && run->last->is_final) {
        complete(p, run);
    } else if (problem == UE_REASSEMBLY_NO_PROBLEM) {
        emit_one(p, UE_OBSERVED_FRAGMENT, problem, run->last->source.bits, p->kind);
    } else {
        bool mixed = problem == UE_REASSEMBLY_NO_START && is_mixed(p);
        abandon(p, run, mixed ? UE_REASSEMBLY_MIXED_RELIABILITY : problem);
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

static void drop_oldest(const struct reassembly_step *p, struct ue_queued_fragment *fragment) {
    const struct ue_fragment_run run = ue_fragment_run_of(fragment);
    abandon(p, &run, UE_REASSEMBLY_NO_MEMORY);
}

/* The queue of the current fragment, with space for one more; NULL when there is no memory. Here and below the oldest
   pending fragments are dropped first. */
static struct ue_fragment_queue *reserve_slot(const struct reassembly_step *p) {
    struct ue_queued_fragment **oldest = &p->reassembly->oldest;
    struct ue_fragment_queue *queue;
    while ((queue = ue_fragment_queue_ensure(p->reassembly, p->channel, p->side, p->is_reliable)) == NULL &&
           p->channel <= UE_CHANNEL_MAX && *oldest != NULL) {
        drop_oldest(p, *oldest);
    }
    if (queue != NULL && queue->count >= UE_REASSEMBLY_FRAGMENTS_MAX) {
        drop_oldest(p, queue->first);
    }
    return queue;
}

static struct ue_queued_fragment *enqueue(const struct reassembly_step *p, struct ue_fragment_queue *queue,
                                          const struct ue_bunch *bunch) {
    const struct ue_fragment source = {p->frame, p->item, (uint32_t)ue_partial_bits(bunch)};
    struct ue_queued_fragment **oldest = &p->reassembly->oldest;
    struct ue_queued_fragment *fragment;
    while ((fragment = ue_fragment_queue_add(p->reassembly, queue, p->number, &source, bunch)) == NULL &&
           *oldest != NULL) {
        drop_oldest(p, *oldest);
    }
    return fragment;
}

/* Whether the fragment is pending already: it arrived in a packet that the tracker no longer remembers. */
static bool is_queued(const struct reassembly_step *p, const struct ue_fragment_queue *queue) {
    const struct ue_queued_fragment *previous = ue_fragment_queue_find_before(queue, p->number, p->item);
    const struct ue_queued_fragment *next = previous != NULL ? previous->next : queue->first;
    return next != NULL && next->number == p->number && (queue->is_reliable || next->source.item == p->item);
}

/* Defers an unreliable fragment of a late packet to the end of the datagram: further fragments of the packet may
   precede the fragments of the next packet, which are already pending. */
static bool defer(const struct reassembly_step *p, struct ue_fragment_queue *queue) {
    if (p->is_reliable || p->number >= p->reassembly->sides[p->side].newest_id) {
        return false;
    }
    if (!queue->is_late) {
        queue->is_late = true;
        queue->next_late = p->reassembly->late;
        p->reassembly->late = queue;
        p->reassembly->late_id = p->number;
        p->reassembly->late_ns = p->time_ns;
    }
    return true;
}

static void handle_fragment(const struct reassembly_step *p, const struct ue_bunch *bunch) {
    struct ue_fragment_queue *queue = reserve_slot(p);
    if (queue != NULL && is_queued(p, queue)) {
        return;
    }
    struct ue_queued_fragment *fragment = queue != NULL ? enqueue(p, queue, bunch) : NULL;
    if (fragment == NULL) {
        emit_one(p, UE_OBSERVED_ABANDONED, UE_REASSEMBLY_NO_MEMORY, ue_partial_bits(bunch), UE_CONTENT_UNKNOWN);
        return;
    }
    enum ue_reassembly_problem problem = problem_of(bunch);
    if (problem == UE_REASSEMBLY_NO_PROBLEM && defer(p, queue)) {
        return;
    }
    const struct ue_fragment_run run = ue_fragment_run_of(fragment);
    if (problem != UE_REASSEMBLY_NO_PROBLEM) {
        abandon(p, &run, problem);
        return;
    }
    abandon_if_broken(p, run.first->previous);
    abandon_if_broken(p, run.last->next);
    abandon_if_broken(p, queue->first != run.first ? queue->first : NULL);
    resolve_run(p, &run);
}

/* A reliable bunch that is not partial separates the fragments before and after it (protocol.md 10.2, rule 8). */
static void separate_neighbours(const struct reassembly_step *p, const struct ue_fragment_queue *queue) {
    struct ue_queued_fragment *previous = ue_fragment_queue_find_before(queue, p->number, 0);
    struct ue_queued_fragment *next = previous != NULL ? previous->next : queue->first;
    if (previous != NULL && previous->number == p->number - 1 && !previous->is_final) {
        const struct ue_fragment_run run = ue_fragment_run_of(previous);
        abandon(p, &run, UE_REASSEMBLY_NO_END);
    }
    if (next != NULL && next->number == p->number + 1 && !next->is_initial) {
        const struct ue_fragment_run run = ue_fragment_run_of(next);
        abandon(p, &run, UE_REASSEMBLY_NO_START);
    }
}

static void handle_bunch(const struct reassembly_step *p, const struct ue_bunch *bunch) {
    if (bunch->partial) {
        if (bunch->has_exports) {
            emit_bunch(p, bunch);
        }
        handle_fragment(p, bunch);
        return;
    }
    if (p->is_reliable && ue_reassembly_has_fragments(p->reassembly, p->channel, p->side, true)) {
        separate_neighbours(p, ue_fragment_queue_find(p->reassembly, p->channel, p->side, true));
    }
    emit_bunch(p, bunch);
}

/* When no bunch names the kind: channel 0 is always control, and channel 1 is voice in games that use it
   (protocol.md 11.1). */
enum ue_content_kind ue_reassembly_channel_kind(const struct ue_reassembly *reassembly, uint32_t channel,
                                                bool *is_guessed) {
    const struct ue_reassembly_channel *known = ue_reassembly_find_channel(reassembly, channel);
    *is_guessed = known == NULL || !known->has_kind;
    if (!*is_guessed) {
        return (enum ue_content_kind)known->kind;
    }
    return channel == 0 ? UE_CONTENT_CONTROL : channel == 1 ? UE_CONTENT_VOICE : UE_CONTENT_ACTOR;
}

/* The kind of the channel of a bunch, stored when the bunch names it. */
static enum ue_content_kind learn_kind(struct ue_reassembly *reassembly, const struct ue_context *context,
                                       const struct ue_bunch *bunch, bool *is_guessed) {
    enum ue_content_kind kind;
    if (!ue_content_named_kind(context, bunch, &kind)) {
        return ue_reassembly_channel_kind(reassembly, bunch->channel, is_guessed);
    }
    struct ue_reassembly_channel *channel = ue_reassembly_ensure_channel(reassembly, bunch->channel);
    if (channel != NULL) {
        channel->kind = (uint8_t)kind & 7u;
        channel->has_kind = true;
    }
    *is_guessed = false;
    return kind;
}

/* Not inline: other events need no registers for this. */
static __attribute__((noinline)) void feed_bunch(struct ue_reassembly *reassembly, const struct ue_context *context,
                                                 const struct ue_observed_event *event,
                                                 const struct ue_observer_callbacks *callbacks) {
    const struct ue_bunch *bunch = event->bunch.decoded;
    struct reassembly_step p = {.reassembly = reassembly,
                                .callbacks = callbacks,
                                .frame = event->frame,
                                .time_ns = event->time_ns,
                                .packet_id = event->packet_id,
                                .item = event->bunch.item,
                                .side = event->side,
                                .channel = bunch->channel,
                                .is_reliable = bunch->reliable,
                                .is_partial_error = event->bunch.is_partial_error,
                                .number = bunch->reliable ? event->bunch.reliable_id : event->packet_id};
    p.kind = learn_kind(reassembly, context, bunch, &p.is_kind_guessed);
    handle_bunch(&p, bunch);
}

void ue_reassembly_feed(struct ue_reassembly *reassembly, const struct ue_context *context,
                        const struct ue_observed_event *event, const struct ue_observer_callbacks *callbacks) {
    if (event->type == UE_OBSERVED_PACKET) {
        mark_captured(&reassembly->sides[event->side], event->packet_id);
    } else if (event->type == UE_OBSERVED_BUNCH && event->bunch.copy <= 1) {
        feed_bunch(reassembly, context, event, callbacks);
    }
}

/* ---- late packets ---- */

/* The first fragment of the late packet; NULL when it was dropped. */
static struct ue_queued_fragment *first_late(const struct ue_fragment_queue *queue, int64_t id) {
    struct ue_queued_fragment *previous = ue_fragment_queue_find_before(queue, id, 0);
    struct ue_queued_fragment *first = previous != NULL ? previous->next : queue->first;
    return first != NULL && first->number == id ? first : NULL;
}

static void set_position(struct reassembly_step *p, const struct ue_fragment_run *run) {
    const struct ue_queued_fragment *last = run->last;
    while (last->number != p->number) {
        last = last->previous;
    }
    p->frame = last->source.frame;
    p->item = last->source.item;
}

static void resolve_late_runs(struct reassembly_step *p, struct ue_fragment_queue *queue) {
    struct ue_queued_fragment *fragment = first_late(queue, p->number);
    while (fragment != NULL) {
        const struct ue_fragment_run run = ue_fragment_run_of(fragment);
        struct ue_queued_fragment *next = run.last->next;
        set_position(p, &run);
        abandon_if_broken(p, run.first->previous);
        fragment = next != NULL && next->number == p->number ? next : NULL;
        abandon_if_broken(p, fragment == NULL ? next : NULL);
        resolve_run(p, &run);
    }
}

void ue_reassembly_end_datagram(struct ue_reassembly *reassembly, const struct ue_observer_callbacks *callbacks) {
    while (reassembly->late != NULL) {
        struct ue_fragment_queue *queue = reassembly->late;
        reassembly->late = queue->next_late;
        queue->is_late = false;
        struct reassembly_step p = {.reassembly = reassembly,
                                    .callbacks = callbacks,
                                    .side = queue->side,
                                    .channel = queue->channel,
                                    .time_ns = reassembly->late_ns,
                                    .packet_id = reassembly->late_id,
                                    .number = reassembly->late_id};
        p.kind = ue_reassembly_channel_kind(reassembly, p.channel, &p.is_kind_guessed);
        resolve_late_runs(&p, queue);
    }
}

const char *ue_reassembly_problem_text(enum ue_reassembly_problem problem) {
    switch (problem) {
    case UE_REASSEMBLY_NO_PROBLEM: return "Nothing is wrong with the fragments";
    case UE_REASSEMBLY_INTERRUPTED: return "Another message began before the last fragment of this message";
    case UE_REASSEMBLY_NO_START: return "The fragment continues a message, but the bunch before it is not part of one";
    case UE_REASSEMBLY_NO_END: return "The bunch after the fragment does not continue the message";
    case UE_REASSEMBLY_MIXED_RELIABILITY:
        return "The fragment is reliable and the message is unreliable, or the reverse";
    case UE_REASSEMBLY_FRAGMENT_LOST: return "Other fragments of the message were not captured";
    case UE_REASSEMBLY_UNALIGNED: return "A fragment before the last is no whole number of bytes";
    case UE_REASSEMBLY_FINAL_EXPORTS: return "The last fragment carries exports, which receivers reject";
    case UE_REASSEMBLY_TOO_LARGE:
        return "The message is larger than receivers accept unless they are configured otherwise";
    case UE_REASSEMBLY_NO_MEMORY: return "Too many fragments are pending; the oldest were dropped";
    }
    return "";
}

/* SPDX-License-Identifier: MIT */
/* Bunches of a channel: their order (ReceivedRawBunch), reassembly (ReceivedNextBunch) and delivery to the program
   (ReceivedSequencedBunch; endpoint.md 17 to 19). */
#include "tools/endpoint/core/receiver.h"

#include <uerudp/partial.h>

#define PARTIAL_BYTES_FIRST 2048
#define IN_TURN_PART 16 /* this part of a connection's memory is left by bunches that came early */

/* ---- InRec ---- */

/* endpoint.md 17.5. */
static struct ue_in_rec *copy_in(struct ue_share *share, const struct ue_bunch *bunch, int64_t ch_seq,
                                 int64_t packet_id) {
    size_t size_bytes = sizeof(struct ue_in_rec) + ue_bits_bytes(bunch->data.bits);
    bool has_room = ue_share_room_bytes(share) >= size_bytes + share->limit_bytes / IN_TURN_PART;
    struct ue_in_rec *in = has_room ? ue_share_alloc(share, size_bytes) : NULL;
    share->refusals += !has_room;
    if (in != NULL) {
        *in = (struct ue_in_rec){.ch_seq = ch_seq, .packet_id = packet_id, .bunch = *bunch};
        ue_view_copy(bunch->data, in->data);
        in->bunch.data = (struct ue_view){in->data, 0, bunch->data.bits};
        in->bunch.name = (struct ue_name){0}; /* it was compared already, and its text is in the packet */
    }
    return in;
}

enum in_rec_result { IN_REC_INSERTED, IN_REC_KNOWN, IN_REC_FULL, IN_REC_NO_MEMORY };

/* Copies a bunch that came before its turn to its place in InRec (endpoint.md 17.2). */
static enum in_rec_result insert_in_rec(struct ue_channel_table *table, struct ue_channel *channel,
                                        const struct ue_bunch *bunch, int64_t ch_seq, int64_t packet_id,
                                        uint32_t limit) {
    struct ue_in_rec **at = &channel->in_first;
    while (*at != NULL && (*at)->ch_seq < ch_seq) {
        at = &(*at)->next;
    }
    if (*at != NULL && (*at)->ch_seq == ch_seq) {
        return IN_REC_KNOWN;
    }
    if (channel->in_count + 1 >= limit) {
        return IN_REC_FULL;
    }
    struct ue_in_rec *in = copy_in(&table->common->share, bunch, ch_seq, packet_id);
    if (in == NULL) {
        return IN_REC_NO_MEMORY;
    }
    in->next = *at;
    *at = in;
    channel->in_count++;
    return IN_REC_INSERTED;
}

/* Removes the bunch with this number; NULL: it has not come. */
static struct ue_in_rec *pop_in_rec(struct ue_channel *channel, int64_t ch_seq) {
    struct ue_in_rec *in = channel->in_first;
    if (in == NULL || in->ch_seq != ch_seq) {
        return NULL;
    }
    channel->in_first = in->next;
    channel->in_count--;
    return in;
}

/* ---- reassembly ---- */

enum reassembly_status {
    REASSEMBLY_INCOMPLETE, /* accepted; more parts follow */
    REASSEMBLY_COMPLETE,   /* channel->partial is complete */
    REASSEMBLY_REFUSED,    /* the packet counts as not delivered */
    REASSEMBLY_ERROR,      /* a rule is violated, see reason; the packet counts as not delivered if is_refused is set */
    REASSEMBLY_NO_MEMORY
};

struct reassembly {
    enum reassembly_status status;
    bool is_refused;
    enum ue_close_reason reason;
};

static struct reassembly result(enum reassembly_status status) {
    return (struct reassembly){.status = status,
                               .is_refused = status == REASSEMBLY_REFUSED || status == REASSEMBLY_NO_MEMORY};
}

static struct reassembly error(enum ue_close_reason reason) {
    return (struct reassembly){.status = REASSEMBLY_ERROR, .reason = reason};
}

static bool reserve(struct ue_share *share, struct ue_partial *p, size_t bits) {
    size_t needed = ue_bits_bytes(p->data_bits + bits);
    if (needed <= p->capacity_bytes) {
        return true;
    }
    size_t capacity = p->capacity_bytes != 0 ? p->capacity_bytes : PARTIAL_BYTES_FIRST;
    while (capacity < needed) {
        capacity *= 2;
    }
    uint8_t *data = ue_share_resize(share, p->data, capacity);
    if (data == NULL) {
        return false;
    }
    p->data = data;
    p->capacity_bytes = capacity;
    return true;
}

static void set_flags_of_last(struct ue_partial *p, const struct ue_bunch *last) {
    p->bunch.close = last->close;
    p->bunch.close_reason = last->close_reason;
    p->bunch.dormant = last->dormant;
    p->bunch.paused = last->paused;
    p->bunch.has_mapped = last->has_mapped;
    p->complete = true;
}

/* endpoint.md 18.3. */
static struct reassembly append(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part,
                                int64_t ch_seq, uint32_t max_bytes) {
    struct ue_partial *p = channel->partial;
    size_t bits = ue_partial_bits(part);
    if (ue_bits_bytes(p->data_bits + bits) > max_bytes) {
        return error(UE_CLOSE_PARTIAL_TOO_LARGE);
    }
    if (!reserve(share, p, bits)) {
        return result(REASSEMBLY_NO_MEMORY); /* what is there stays: a reliable part comes again */
    }
    p->ch_seq = ch_seq;
    ue_bits_copy(p->data, p->data_bits, part->data.base, part->data.bit, bits);
    p->data_bits += bits;
    if (part->partial_final) {
        set_flags_of_last(p, part);
    }
    return result(p->complete ? REASSEMBLY_COMPLETE : REASSEMBLY_INCOMPLETE);
}

/* endpoint.md 18.1. */
static struct reassembly begin(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part,
                               int64_t ch_seq, int64_t packet_id, uint32_t max_bytes) {
    struct ue_partial *p = channel->partial;
    if (p != NULL && !p->complete && p->reliable) {
        return part->reliable ? error(UE_CLOSE_PARTIAL_INITIAL_RELIABLE_DESTROY) : result(REASSEMBLY_REFUSED);
    }
    ue_partial_drop(share, channel);
    if (ue_partial_check(part) != UE_PARTIAL_VALID) {
        return error(UE_CLOSE_PARTIAL_INITIAL_NON_BYTE_ALIGNED);
    }
    p = ue_share_alloc(share, sizeof *p);
    if (p == NULL) {
        return result(REASSEMBLY_NO_MEMORY);
    }
    *p = (struct ue_partial){
        .bunch = *part, .first_ch_seq = ch_seq, .first_packet_id = packet_id, .reliable = part->reliable};
    p->bunch.name = (struct ue_name){0};
    p->bunch.data = (struct ue_view){0};
    channel->partial = p;
    struct reassembly begun = append(share, channel, part, ch_seq, max_bytes);
    if (begun.status == REASSEMBLY_NO_MEMORY) {
        ue_partial_drop(share, channel); /* it has not come */
    }
    return begun;
}

static bool fits(const struct ue_partial *p, const struct ue_bunch *part, int64_t ch_seq) {
    return p != NULL && !p->complete && p->reliable == part->reliable &&
           ue_partial_is_next(p->reliable, p->ch_seq, ch_seq);
}

/* endpoint.md 18.1, 18.2. */
static struct reassembly refuse_part(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part) {
    if (channel->partial == NULL || !channel->partial->reliable) {
        ue_partial_drop(share, channel);
        return result(REASSEMBLY_REFUSED);
    }
    struct reassembly assembled = result(REASSEMBLY_REFUSED);
    if (part->reliable) {
        assembled.status = REASSEMBLY_ERROR;
        assembled.reason = UE_CLOSE_PARTIAL_MERGE_RELIABLE_DESTROY;
    }
    return assembled;
}

/* Handles one part. ch_seq: the full number of a reliable part, the packet id of an unreliable one
   (endpoint.md 18.1, 18.2, 18.3). */
static struct reassembly reassemble(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part,
                                    int64_t ch_seq, int64_t packet_id, uint32_t max_bytes) {
    if (part->partial_initial) {
        return begin(share, channel, part, ch_seq, packet_id, max_bytes);
    }
    if (!fits(channel->partial, part, ch_seq)) {
        return refuse_part(share, channel, part);
    }
    switch (ue_partial_check(part)) {
    case UE_PARTIAL_UNALIGNED: return error(UE_CLOSE_PARTIAL_NON_BYTE_ALIGNED);
    case UE_PARTIAL_FINAL_EXPORTS: return error(UE_CLOSE_PARTIAL_FINAL_EXPORTS);
    case UE_PARTIAL_VALID: break;
    }
    return append(share, channel, part, ch_seq, max_bytes);
}

/* ---- delivery ---- */

/* What became of a bunch in its turn. */
struct delivery {
    enum ue_close_reason error; /* UE_CLOSE_NONE: none */
    bool is_refused;            /* the packet counts as not delivered */
    bool has_no_memory;         /* nothing changed, as if it had not come */
};

/* A whole bunch, assembled or not. */
struct whole {
    const struct ue_bunch *bunch;
    struct ue_view data;
    int64_t ch_seq;
    struct ue_packet_range packets; /* of its first and last part */
};

/* Legacy layouts have a bit for one reason only. */
static uint8_t channel_close_reason(const struct ue_bunch *bunch) {
    return bunch->dormant ? UE_CHANNEL_DORMANCY : bunch->close_reason;
}

static void describe(struct ue_event *event, const struct ue_channel *channel, const struct whole *w) {
    *event = (struct ue_event){
        .type = UE_EVENT_BUNCH,
        .channel = channel->index,
        .kind = channel->kind,
        .reliable = w->bunch->reliable,
        .open = w->bunch->open,
        .close = w->bunch->close,
        .has_exports = w->bunch->has_exports && !w->bunch->partial, /* those of fragments were delivered before */
        .has_mapped = w->bunch->has_mapped,
        .paused = w->bunch->paused,
        .close_reason = channel_close_reason(w->bunch),
        .ch_seq = w->bunch->reliable ? w->ch_seq : 0,
        .packet_id = w->packets.first,
        .data = w->data,
    };
}

/* endpoint.md 19.1. */
static void open_remotely(struct ue_common *common, struct ue_channel *channel, const struct whole *w) {
    channel->open_packets = w->packets;
    channel->open_acked = true;
    if (!channel->has_opened) {
        const struct ue_event event = {.type = UE_EVENT_CHANNEL_OPENED,
                                       .channel = channel->index,
                                       .kind = channel->kind,
                                       .packet_id = w->packets.first};
        channel->has_opened = true;
        ue_event_emit(common, &event);
    }
}

/* Whether the rules of opening let a bunch pass (endpoint.md 16.14, 19.1, 19.2, 19.3). */
static bool is_open_for(struct ue_common *common, struct ue_channel *channel, const struct whole *w,
                        struct delivery *delivery) {
    bool both = ue_kind_both_open(channel->kind) || common->config.no_login || common->config.any_opener;
    if (w->bunch->open) {
        if (!both && (channel->opened_locally || channel->open_packets.first != UE_NO_PACKET)) {
            delivery->error = UE_CLOSE_ALREADY_OPEN;
            return false;
        }
        open_remotely(common, channel, w);
    }
    if (both || channel->opened_locally || channel->open_acked) {
        return true;
    }
    delivery->error = w->bunch->reliable ? UE_CLOSE_RELIABLE_BEFORE_OPEN : UE_CLOSE_NONE;
    delivery->is_refused |= !w->bunch->reliable;
    return false;
}

static bool is_for_hook(const struct ue_receiver *r, const struct ue_event *event) {
    return r->hook.call != NULL && event->channel == 0 && event->data.bits != 0;
}

/* The channel, if it is still there after the hook. */
static struct ue_channel *same_channel(const struct ue_channel_table *channels, uint32_t index, uint32_t id) {
    struct ue_channel *channel = ue_channel_find(channels, index);
    return channel != NULL && channel->id == id ? channel : NULL;
}

/* block: space for the event, allocated before anything was changed (endpoint.md 19.4, 19.5, 20.2). */
static struct delivery deliver(struct ue_receiver *r, uint64_t now_ns, struct ue_channel *channel,
                               const struct whole *w, struct ue_output_block *block) {
    struct delivery delivery = {0};
    struct ue_event *event = ue_event_in(block);
    bool is_open = is_open_for(r->common, channel, w, &delivery);
    bool is_for_program = is_open && !channel->closing;
    describe(event, channel, w);
    if (is_for_program && is_for_hook(r, event)) {
        const uint32_t id = channel->id;
        is_for_program = !r->hook.call(r->hook.user, r->hook.conn, now_ns, event);
        channel = same_channel(r->channels, event->channel, id);
    }
    if (is_for_program) {
        r->common->statistics.counters.delivered++;
        ue_event_push(r->common, block);
    } else {
        ue_share_free_block(&r->common->share, block);
    }
    if (channel != NULL && is_open && w->bunch->close) {
        channel->close_reason = channel_close_reason(w->bunch);
        ue_channel_clean_up(r->channels, channel);
    }
    return delivery;
}

/* The events that a fragment can cause, allocated before anything is changed; NULL: none. */
struct part_events {
    struct ue_output_block *exports;
    struct ue_output_block *custom_exports;
    struct ue_output_block *whole;
};

static void free_part_events(struct ue_common *common, const struct part_events *events) {
    ue_share_free_block(&common->share, events->exports);
    ue_share_free_block(&common->share, events->custom_exports);
    ue_share_free_block(&common->share, events->whole);
}

static bool alloc_part_events(struct ue_common *common, const struct ue_bunch *part, size_t whole_bits,
                              struct part_events *events) {
    *events = (struct part_events){
        .exports = part->has_exports ? ue_event_alloc(common, part->data.bits) : NULL,
        .custom_exports = part->partial_exports_final ? ue_event_alloc(common, whole_bits) : NULL,
        .whole = part->partial_final ? ue_event_alloc(common, whole_bits) : NULL,
    };
    bool is_made = (events->exports != NULL) == part->has_exports &&
                   (events->custom_exports != NULL) == part->partial_exports_final &&
                   (events->whole != NULL) == part->partial_final;
    if (!is_made) {
        free_part_events(common, events);
    }
    return is_made;
}

static void deliver_exports(struct ue_common *common, const struct ue_channel *channel, const struct ue_bunch *part,
                            struct ue_view data, struct ue_output_block **block) {
    const struct ue_event event = {.type = UE_EVENT_EXPORTS,
                                   .channel = channel->index,
                                   .kind = channel->kind,
                                   .reliable = part->reliable,
                                   .has_exports = part->has_exports,
                                   .data = data};
    *ue_event_in(*block) = event;
    ue_event_push(common, *block);
    *block = NULL;
}

/* Exports are the package map's: they do not wait for the rest of the bunch (endpoint.md 17.1). */
static void split_off_exports(struct ue_common *common, struct ue_channel *channel, const struct ue_bunch *part,
                              struct part_events *events) {
    struct ue_partial *p = channel->partial;
    if (part->has_exports) {
        deliver_exports(common, channel, part, part->data, &events->exports);
    }
    if (part->partial_exports_final) {
        deliver_exports(common, channel, part, (struct ue_view){p->data, 0, p->data_bits}, &events->custom_exports);
        p->data_bits = 0;
    }
}

/* The channel, and with it the partial, may be freed while its data are handed over. */
static struct delivery deliver_whole_partial(struct ue_receiver *r, uint64_t now_ns, struct ue_channel *channel,
                                             int64_t packet_id, struct ue_output_block *block) {
    struct ue_partial *p = channel->partial;
    const struct ue_bunch bunch = p->bunch;
    uint8_t *data = p->data;
    const struct whole w = {&bunch, {data, 0, p->data_bits}, p->first_ch_seq, {p->first_packet_id, packet_id}};
    p->data = NULL;
    p->capacity_bytes = 0;
    p->data_bits = 0;
    struct delivery delivery = deliver(r, now_ns, channel, &w, block);
    ue_share_free_block(&r->common->share, data);
    return delivery;
}

static struct delivery receive_part(struct ue_receiver *r, uint64_t now_ns, struct ue_channel *channel,
                                    const struct ue_bunch *part, int64_t ch_seq, int64_t packet_id) {
    struct part_events events;
    bool continues = channel->partial != NULL && !part->partial_initial;
    if (!alloc_part_events(r->common, part, part->data.bits + (continues ? channel->partial->data_bits : 0), &events)) {
        return (struct delivery){.has_no_memory = true, .is_refused = true};
    }
    uint32_t max_bytes = ue_has_internal_ack(r->common) ? UINT32_MAX : r->common->config.partial_max_bytes;
    struct reassembly assembled = reassemble(&r->common->share, channel, part, ch_seq, packet_id, max_bytes);
    struct delivery delivery = {.is_refused = assembled.is_refused,
                                .has_no_memory = assembled.status == REASSEMBLY_NO_MEMORY,
                                .error = assembled.status == REASSEMBLY_ERROR ? assembled.reason : UE_CLOSE_NONE};
    if (assembled.status == REASSEMBLY_INCOMPLETE || assembled.status == REASSEMBLY_COMPLETE) {
        split_off_exports(r->common, channel, part, &events);
    }
    if (assembled.status == REASSEMBLY_COMPLETE) {
        delivery = deliver_whole_partial(r, now_ns, channel, packet_id, events.whole);
        events.whole = NULL;
    }
    free_part_events(r->common, &events);
    return delivery;
}

/* One bunch in its turn: reassembly, open rules, delivery, close. */
static struct delivery receive_in_turn(struct ue_receiver *r, uint64_t now_ns, struct ue_channel *channel,
                                       const struct ue_bunch *bunch, int64_t ch_seq, int64_t packet_id) {
    if (bunch->partial) {
        return receive_part(r, now_ns, channel, bunch, ch_seq, packet_id);
    }
    struct ue_output_block *block = ue_event_alloc(r->common, bunch->data.bits);
    if (block == NULL) {
        return (struct delivery){.has_no_memory = true, .is_refused = true};
    }
    const struct whole w = {bunch, bunch->data, ch_seq, {packet_id, packet_id}};
    return deliver(r, now_ns, channel, &w, block);
}

/* ---- order ---- */

/* A bunch that breaks a rule ends a client's connection to a server; a client only reports it (endpoint.md
   16.17, 39.8). */
static struct ue_bunch_outcome bunch_error(struct ue_common *common, enum ue_close_reason cause, uint32_t channel,
                                           bool skip) {
    ue_event_emit_fault(common, cause, NULL, channel);
    if (!ue_is_server(common) && !common->config.options.strict_client) {
        return (struct ue_bunch_outcome){skip, false};
    }
    ue_want_close(common, cause, UE_CLOSE_CORRUPT_DATA);
    return (struct ue_bunch_outcome){true, true};
}

static struct ue_bunch_outcome outcome_of(struct ue_common *common, const struct delivery *delivery, uint32_t channel) {
    if (delivery->error != UE_CLOSE_NONE) {
        return bunch_error(common, delivery->error, channel, delivery->is_refused);
    }
    return (struct ue_bunch_outcome){delivery->is_refused, ue_is_ending(common)};
}

/* The entry's number moves before anything can fail, unless there was no memory to take the bunch with
   (endpoint.md 17.3, 17.4). */
static struct delivery deliver_next(struct ue_receiver *r, uint64_t now_ns, struct ue_channel_entry *entry,
                                    const struct ue_bunch *bunch, int64_t ch_seq, int64_t packet_id) {
    int32_t before = entry->in_reliable;
    entry->in_reliable = bunch->reliable ? (int32_t)ch_seq : before;
    struct delivery delivery = receive_in_turn(r, now_ns, entry->channel, bunch, ch_seq, packet_id);
    if (delivery.has_no_memory) {
        entry->in_reliable = before;
        r->common->statistics.counters.in_bunches_refused++;
    }
    return delivery;
}

/* An early bunch that is now in order. Its packet was acknowledged long ago, so its skip has no effect
   (endpoint.md 17.3, 17.4). */
static struct ue_bunch_outcome deliver_waiting(struct ue_receiver *r, uint64_t now_ns, struct ue_channel_entry *entry) {
    struct ue_bunch_outcome outcome = UE_BUNCH_ACCEPTED;
    while (entry->channel != NULL && !ue_is_ending(r->common) && !outcome.is_over) {
        struct ue_in_rec *in = pop_in_rec(entry->channel, (int64_t)entry->in_reliable + 1);
        if (in == NULL) {
            break;
        }
        struct delivery delivery = deliver_next(r, now_ns, entry, &in->bunch, in->ch_seq, in->packet_id);
        if (delivery.has_no_memory) { /* it cannot come again: it waits on */
            r->channels->has_waiting_in_rec = true;
            in->next = entry->channel->in_first;
            entry->channel->in_first = in;
            entry->channel->in_count++;
            break;
        }
        ue_share_free_block(&r->common->share, in);
        outcome = outcome_of(r->common, &delivery, entry->index);
        outcome.is_refused = false;
    }
    return outcome;
}

/* endpoint.md 17.4. */
void ue_deliver_waiting(struct ue_receiver *r, uint64_t now_ns) {
    if (!r->channels->has_waiting_in_rec) {
        return;
    }
    r->channels->has_waiting_in_rec = false;
    for (uint32_t i = 0; i < r->channels->capacity; i++) {
        if (r->channels->slots[i] != NULL) {
            deliver_waiting(r, now_ns, r->channels->slots[i]);
        }
    }
}

/* endpoint.md 17.2. */
static struct ue_bunch_outcome keep_early(struct ue_receiver *r, struct ue_channel_entry *entry,
                                          const struct ue_bunch *bunch, int64_t ch_seq) {
    if (bunch->partial_exports_final) {
        r->common->statistics.counters.in_bunches_refused++;
        return UE_BUNCH_REFUSED; /* custom exports are not kept; they come again */
    }
    switch (insert_in_rec(r->channels, entry->channel, bunch, ch_seq, r->in_packet_id, r->common->limits.reliable)) {
    case IN_REC_KNOWN: r->common->statistics.counters.in_bunches_ignored++; return UE_BUNCH_ACCEPTED;
    case IN_REC_FULL: return bunch_error(r->common, UE_CLOSE_MAX_RELIABLE_EXCEEDED, entry->index, true);
    case IN_REC_NO_MEMORY: r->common->statistics.counters.in_bunches_refused++; return UE_BUNCH_REFUSED;
    default: return UE_BUNCH_ACCEPTED;
    }
}

/* ReceivedRawBunch (endpoint.md 17.2, 17.3). */
struct ue_bunch_outcome ue_receive_raw_bunch(struct ue_receiver *r, uint64_t now_ns, struct ue_channel_entry *entry,
                                             const struct ue_bunch *bunch, int64_t ch_seq) {
    if (bunch->reliable && ch_seq != (int64_t)entry->in_reliable + 1) {
        return keep_early(r, entry, bunch, ch_seq);
    }
    if (bunch->reliable && entry->channel->in_first != NULL && entry->channel->in_first->ch_seq == ch_seq) {
        r->common->statistics.counters.in_bunches_ignored++;
        return deliver_waiting(r, now_ns, entry); /* the first copy waits for memory */
    }
    struct delivery delivery = deliver_next(r, now_ns, entry, bunch, ch_seq, r->in_packet_id);
    struct ue_bunch_outcome outcome = outcome_of(r->common, &delivery, entry->index);
    if (!bunch->reliable || delivery.has_no_memory || outcome.is_over || entry->channel == NULL ||
        entry->channel->in_count == 0) {
        return outcome;
    }
    outcome.is_over = deliver_waiting(r, now_ns, entry).is_over;
    return outcome;
}

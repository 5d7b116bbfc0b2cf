/* SPDX-License-Identifier: MIT */
/* Bunches in their turn: put together, checked against the open rules, handed to the program (spec 6.5.2, 6.5.3). */
#include "tools/endpoint/connection.h"

/* An event as a parcel: the event, then its data. */
static struct ue_parcel *new_event(struct ue_conn *c, size_t data_bits) {
    return ue_outbox_new(&c->events, sizeof(struct ue_event) + ue_bits_bytes(data_bits));
}

static void add_event(struct ue_conn *c, struct ue_parcel *parcel, const struct ue_event *event) {
    struct ue_event copy = *event;
    uint8_t *data = parcel->bytes + sizeof copy;
    ue_view_copy(event->data, data);
    copy.data = (struct ue_view){data, 0, event->data.bits};
    memcpy(parcel->bytes, &copy, sizeof copy);
    ue_outbox_add(&c->events, parcel);
}

void ue_event_put(struct ue_conn *c, const struct ue_event *event) {
    struct ue_parcel *parcel = new_event(c, event->data.bits);
    if (parcel != NULL) {
        add_event(c, parcel, event);
    } else {
        c->counters.events_lost++;
    }
}

void ue_event_fault(struct ue_conn *c, enum ue_close_reason reason, const struct ue_fault *fault, uint32_t channel) {
    struct ue_event event = {.type = UE_EVENT_FAULT, .reason = reason, .channel = channel};
    if (fault != NULL) {
        event.fault = *fault;
    }
    c->counters.malformed++;
    ue_event_put(c, &event);
}

/* A whole bunch, assembled or not. */
struct whole {
    const struct ue_bunch *bunch;
    struct ue_view data;
    int64_t ch_seq;
    struct ue_packet_range packets; /* of its first and last part */
};

static struct ue_event event_of(const struct ue_channel *channel, const struct whole *w) {
    return (struct ue_event){
        .type = UE_EVENT_BUNCH,
        .channel = channel->index,
        .kind = channel->kind,
        .reliable = w->bunch->reliable,
        .open = w->bunch->open,
        .close = w->bunch->close,
        .has_exports = w->bunch->has_exports,
        .has_mapped = w->bunch->has_mapped,
        .paused = w->bunch->paused,
        .close_reason = w->bunch->close_reason,
        .ch_seq = w->bunch->reliable ? w->ch_seq : 0,
        .packet_id = w->packets.first,
        .data = w->data,
    };
}

static void open_remotely(struct ue_conn *c, struct ue_channel *channel, const struct whole *w) {
    channel->open_packets = w->packets;
    channel->open_acked = true;
    if (!channel->has_opened) {
        const struct ue_event event = {.type = UE_EVENT_CHANNEL_OPENED,
                                       .channel = channel->index,
                                       .kind = channel->kind,
                                       .packet_id = w->packets.first};
        channel->has_opened = true;
        ue_event_put(c, &event);
    }
}

/* Whether the channel is open for this bunch. */
static bool is_open_for(struct ue_conn *c, struct ue_channel *channel, const struct whole *w, struct ue_taken *taken) {
    bool both = ue_kind_both_open(channel->kind);
    if (w->bunch->open) {
        if (!both && (channel->opened_locally || channel->open_packets.first != UE_NO_PACKET)) {
            taken->error = UE_CLOSE_ALREADY_OPEN;
            return false;
        }
        open_remotely(c, channel, w);
    }
    if (both || channel->opened_locally || channel->open_acked) {
        return true;
    }
    taken->error = w->bunch->reliable ? UE_CLOSE_RELIABLE_BEFORE_OPEN : UE_CLOSE_NONE;
    taken->skip |= !w->bunch->reliable;
    return false;
}

static bool offer_to_hook(struct ue_conn *c, uint64_t now_ns, const struct ue_event *event) {
    return c->hook != NULL && event->channel == 0 && event->data.bits != 0 && c->hook(c->hook_user, c, now_ns, event);
}

/* parcel: room for the event, taken before anything was changed. */
static struct ue_taken hand_over(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, const struct whole *w,
                                 struct ue_parcel *parcel) {
    struct ue_taken taken = {0};
    const uint32_t index = channel->index, id = channel->id;
    bool is_open = is_open_for(c, channel, w, &taken);
    const struct ue_event event = event_of(channel, w);
    bool is_for_program = is_open && !channel->closing && !offer_to_hook(c, now_ns, &event);
    if (is_for_program) {
        c->counters.delivered++;
        add_event(c, parcel, &event);
    } else {
        ue_share_give(&c->share, parcel);
    }
    channel = ue_conn_channel(c, index); /* the hook may have closed it */
    if (channel == NULL || channel->id != id) {
        taken.is_gone = true;
    } else if (is_open && w->bunch->close) {
        channel->close_reason = w->bunch->close_reason;
        ue_conn_clean_up(c, now_ns, channel);
        taken.is_gone = true;
    }
    return taken;
}

static void hand_over_exports(struct ue_conn *c, struct ue_channel *channel, const struct ue_bunch *part,
                              struct ue_view data) {
    const struct ue_event event = {.type = UE_EVENT_EXPORTS,
                                   .channel = channel->index,
                                   .kind = channel->kind,
                                   .reliable = part->reliable,
                                   .has_exports = part->has_exports,
                                   .data = data};
    ue_event_put(c, &event);
}

/* Exports are the package map's: they do not wait for the rest of the bunch. */
static void split_off_exports(struct ue_conn *c, struct ue_channel *channel, const struct ue_bunch *part) {
    struct ue_partial *p = channel->partial;
    if (part->has_exports && part->data.bits != 0) {
        hand_over_exports(c, channel, part, part->data);
    }
    if (part->partial_exports_final) {
        hand_over_exports(c, channel, part, (struct ue_view){p->data, 0, p->data_bits});
        p->data_bits = 0;
    }
}

static struct ue_taken whole_partial(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, int64_t packet_id,
                                     struct ue_parcel *parcel) {
    struct ue_partial *p = channel->partial;
    const struct whole w = {&p->bunch, {p->data, 0, p->data_bits}, p->first_ch_seq, {p->first_packet_id, packet_id}};
    uint8_t *data = p->data;
    p->data = NULL; /* the channel, and with it the partial, may be freed meanwhile */
    struct ue_bunch bunch = p->bunch;
    struct whole copy = w;
    copy.bunch = &bunch;
    struct ue_taken taken = hand_over(c, now_ns, channel, &copy, parcel);
    ue_share_give(&c->share, data);
    if (!taken.is_gone) {
        channel->partial->capacity_bytes = 0;
        channel->partial->data_bits = 0;
    }
    return taken;
}

static struct ue_taken take_part(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                                 const struct ue_bunch *part, int64_t ch_seq, int64_t packet_id) {
    size_t bits =
        part->data.bits + (channel->partial != NULL && !part->partial_initial ? channel->partial->data_bits : 0);
    struct ue_parcel *parcel = part->partial_final ? new_event(c, bits) : NULL;
    if (part->partial_final && parcel == NULL) {
        return (struct ue_taken){.later = true, .skip = true};
    }
    uint32_t max_bytes = ue_conn_has_internal_ack(c) ? UINT32_MAX : c->config.partial_max_bytes;
    struct ue_assembled assembled = ue_assemble(&c->share, channel, part, ch_seq, packet_id, max_bytes);
    struct ue_taken taken = {.skip = assembled.skip, .later = assembled.result == UE_ASSEMBLE_NO_MEMORY};
    bool is_taken = assembled.result == UE_ASSEMBLE_WAIT || assembled.result == UE_ASSEMBLE_WHOLE;
    if (is_taken) {
        split_off_exports(c, channel, part);
    }
    if (assembled.result == UE_ASSEMBLE_WHOLE) {
        size_t parcel_bits = channel->partial->data_bits;
        parcel->size_bytes = sizeof(struct ue_event) + ue_bits_bytes(parcel_bits);
        return whole_partial(c, now_ns, channel, packet_id, parcel);
    }
    ue_share_give(&c->share, parcel);
    if (assembled.result == UE_ASSEMBLE_ERROR) {
        taken.error = assembled.reason;
    }
    return taken;
}

struct ue_taken ue_take_bunch(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                              const struct ue_bunch *bunch, int64_t ch_seq, int64_t packet_id) {
    if (bunch->partial) {
        return take_part(c, now_ns, channel, bunch, ch_seq, packet_id);
    }
    struct ue_parcel *parcel = new_event(c, bunch->data.bits);
    if (parcel == NULL) {
        return (struct ue_taken){.later = true, .skip = true};
    }
    const struct whole w = {bunch, bunch->data, ch_seq, {packet_id, packet_id}};
    return hand_over(c, now_ns, channel, &w, parcel);
}

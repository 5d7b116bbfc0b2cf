/* SPDX-License-Identifier: MIT */
/* Bunches in their turn: put together, checked against the open rules, handed to the program (endpoint.md 18, 19). */
#include "tools/endpoint/core/connection.h"

/* A whole bunch, assembled or not. */
struct whole {
    const struct ue_bunch *bunch;
    struct ue_view data;
    int64_t ch_seq;
    struct ue_packet_range packets; /* of its first and last part */
};

/* Legacy layouts tell of one reason only. */
static uint8_t reason_of(const struct ue_bunch *bunch) {
    return bunch->dormant ? UE_DORMANCY : bunch->close_reason;
}

static void describe(struct ue_event *event, const struct ue_channel *channel, const struct whole *w) {
    *event = (struct ue_event){
        .type = UE_EVENT_BUNCH,
        .channel = channel->index,
        .kind = channel->kind,
        .reliable = w->bunch->reliable,
        .open = w->bunch->open,
        .close = w->bunch->close,
        .has_exports = w->bunch->has_exports && !w->bunch->partial, /* of parts they were told before */
        .has_mapped = w->bunch->has_mapped,
        .paused = w->bunch->paused,
        .close_reason = reason_of(w->bunch),
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

/* Changes the state by the quotas: counts of this second, and how long this frame has taken. */
static bool is_open_for(struct ue_conn *c, struct ue_channel *channel, const struct whole *w, struct ue_taken *taken) {
    bool both = ue_kind_both_open(channel->kind) || c->config.no_login || c->config.any_opener;
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

static bool is_for_hook(const struct ue_conn *c, const struct ue_event *event) {
    return c->hook != NULL && event->channel == 0 && event->data.bits != 0;
}

/* The channel, if it is still there after the hook. */
static struct ue_channel *same_channel(const struct ue_conn *c, uint32_t index, uint32_t id) {
    struct ue_channel *channel = ue_conn_channel(c, index);
    return channel != NULL && channel->id == id ? channel : NULL;
}

/* parcel: room for the event, taken before anything was changed. */
static struct ue_taken hand_over(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, const struct whole *w,
                                 struct ue_outbox_block *parcel) {
    struct ue_taken taken = {0};
    struct ue_event *event = ue_event_in(parcel);
    bool is_open = is_open_for(c, channel, w, &taken);
    bool is_for_program = is_open && !channel->closing;
    describe(event, channel, w);
    if (is_for_program && is_for_hook(c, event)) {
        const uint32_t id = channel->id;
        is_for_program = !c->hook(c->hook_user, c, now_ns, event);
        channel = same_channel(c, event->channel, id);
    }
    if (is_for_program) {
        c->counters.delivered++;
        ue_event_add(c, parcel);
    } else {
        ue_share_free_block(&c->share, parcel);
    }
    if (channel != NULL && is_open && w->bunch->close) {
        channel->close_reason = reason_of(w->bunch);
        ue_conn_clean_up(c, channel);
        channel = NULL;
    }
    taken.is_gone = channel == NULL;
    return taken;
}

/* Events that a part may turn into, taken before anything is changed; NULL where there is none to come. */
struct room {
    struct ue_outbox_block *exports;
    struct ue_outbox_block *custom_exports;
    struct ue_outbox_block *whole;
};

static void give_room(struct ue_conn *c, const struct room *room) {
    ue_share_free_block(&c->share, room->exports);
    ue_share_free_block(&c->share, room->custom_exports);
    ue_share_free_block(&c->share, room->whole);
}

static bool make_room(struct ue_conn *c, const struct ue_bunch *part, size_t whole_bits, struct room *room) {
    *room = (struct room){
        .exports = part->has_exports ? ue_event_new(c, part->data.bits) : NULL,
        .custom_exports = part->partial_exports_final ? ue_event_new(c, whole_bits) : NULL,
        .whole = part->partial_final ? ue_event_new(c, whole_bits) : NULL,
    };
    bool is_made = (room->exports != NULL) == part->has_exports &&
                   (room->custom_exports != NULL) == part->partial_exports_final &&
                   (room->whole != NULL) == part->partial_final;
    if (!is_made) {
        give_room(c, room);
    }
    return is_made;
}

static void hand_over_exports(struct ue_conn *c, const struct ue_channel *channel, const struct ue_bunch *part,
                              struct ue_view data, struct ue_outbox_block **parcel) {
    const struct ue_event event = {.type = UE_EVENT_EXPORTS,
                                   .channel = channel->index,
                                   .kind = channel->kind,
                                   .reliable = part->reliable,
                                   .has_exports = part->has_exports,
                                   .data = data};
    *ue_event_in(*parcel) = event;
    ue_event_add(c, *parcel);
    *parcel = NULL;
}

/* Exports are the package map's: they do not wait for the rest of the bunch. */
static void split_off_exports(struct ue_conn *c, struct ue_channel *channel, const struct ue_bunch *part,
                              struct room *room) {
    struct ue_partial *p = channel->partial;
    if (part->has_exports) {
        hand_over_exports(c, channel, part, part->data, &room->exports);
    }
    if (part->partial_exports_final) {
        hand_over_exports(c, channel, part, (struct ue_view){p->data, 0, p->data_bits}, &room->custom_exports);
        p->data_bits = 0;
    }
}

/* The channel, and with it the partial, may be freed while its data are handed over. */
static struct ue_taken whole_partial(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, int64_t packet_id,
                                     struct ue_outbox_block *parcel) {
    struct ue_partial *p = channel->partial;
    const struct ue_bunch bunch = p->bunch;
    uint8_t *data = p->data;
    const struct whole w = {&bunch, {data, 0, p->data_bits}, p->first_ch_seq, {p->first_packet_id, packet_id}};
    p->data = NULL;
    p->capacity_bytes = 0;
    p->data_bits = 0;
    struct ue_taken taken = hand_over(c, now_ns, channel, &w, parcel);
    ue_share_free_block(&c->share, data);
    return taken;
}

static struct ue_taken take_part(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                                 const struct ue_bunch *part, int64_t ch_seq, int64_t packet_id) {
    struct room room;
    bool continues = channel->partial != NULL && !part->partial_initial;
    if (!make_room(c, part, part->data.bits + (continues ? channel->partial->data_bits : 0), &room)) {
        return (struct ue_taken){.later = true, .skip = true};
    }
    uint32_t max_bytes = ue_conn_has_internal_ack(c) ? UINT32_MAX : c->config.partial_max_bytes;
    struct ue_assembled assembled = ue_assemble(&c->share, channel, part, ch_seq, packet_id, max_bytes);
    struct ue_taken taken = {.skip = assembled.skip,
                             .later = assembled.result == UE_ASSEMBLE_NO_MEMORY,
                             .error = assembled.result == UE_ASSEMBLE_ERROR ? assembled.reason : UE_CLOSE_NONE};
    if (assembled.result == UE_ASSEMBLE_WAIT || assembled.result == UE_ASSEMBLE_WHOLE) {
        split_off_exports(c, channel, part, &room);
    }
    if (assembled.result == UE_ASSEMBLE_WHOLE) {
        taken = whole_partial(c, now_ns, channel, packet_id, room.whole);
        room.whole = NULL;
    }
    give_room(c, &room);
    return taken;
}

struct ue_taken ue_take_bunch(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                              const struct ue_bunch *bunch, int64_t ch_seq, int64_t packet_id) {
    if (bunch->partial) {
        return take_part(c, now_ns, channel, bunch, ch_seq, packet_id);
    }
    struct ue_outbox_block *parcel = ue_event_new(c, bunch->data.bits);
    if (parcel == NULL) {
        return (struct ue_taken){.later = true, .skip = true};
    }
    const struct whole w = {bunch, bunch->data, ch_seq, {packet_id, packet_id}};
    return hand_over(c, now_ns, channel, &w, parcel);
}

/* SPDX-License-Identifier: MIT */
/* The bunches of one packet (endpoint.md 16, 17). */
#include "tools/endpoint/core/connection.h"

#include <uerudp/seq.h>

#define NAME_INDEX_MAX 410 /* MAX_NETWORKED_HARDCODED_NAME: names beyond it travel as text */

/* Legacy layouts have a bit for one reason only. */
struct outcome {
    bool skip;    /* exports of parts were delivered before */
    bool is_over; /* nothing more of this packet is looked at */
};

static const struct outcome TAKEN = {false, false};
static const struct outcome SKIPPED = {true, false};

static struct outcome close_for(struct ue_conn *c, enum ue_close_reason reason, uint32_t channel) {
    ue_event_fault(c, reason, NULL, channel);
    ue_conn_want_close(c, reason, UE_CLOSE_NONE);
    return (struct outcome){true, true};
}

/* A bunch that breaks a rule ends a client's connection to a server; a client only notes it (endpoint.md 16.17). */
static struct outcome bunch_error(struct ue_conn *c, enum ue_close_reason cause, uint32_t channel, bool skip) {
    ue_event_fault(c, cause, NULL, channel);
    if (!ue_conn_is_server(c) && !c->config.options.strict_client) {
        return (struct outcome){skip, false};
    }
    ue_conn_want_close(c, cause, UE_CLOSE_CORRUPT_DATA);
    return (struct outcome){true, true};
}

static struct outcome outcome_of(struct ue_conn *c, const struct ue_taken *taken, uint32_t channel) {
    if (taken->error != UE_CLOSE_NONE) {
        return bunch_error(c, taken->error, channel, taken->skip);
    }
    return (struct outcome){taken->skip, ue_conn_is_ending(c)};
}

/* The lane's number moves before anything can fail, unless there was no memory to take the bunch with. */
static struct ue_taken take_in_turn(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane,
                                    const struct ue_bunch *bunch, int64_t ch_seq, int64_t packet_id) {
    int32_t before = lane->in_reliable;
    lane->in_reliable = bunch->reliable ? (int32_t)ch_seq : before;
    struct ue_taken taken = ue_take_bunch(c, now_ns, lane->channel, bunch, ch_seq, packet_id);
    if (taken.later) {
        lane->in_reliable = before;
        c->counters.in_bunches_refused++;
    }
    return taken;
}

/* An early bunch that is now in order. Its packet was acknowledged long ago, so its skip has no effect. */
static struct outcome take_waiting(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane) {
    struct outcome outcome = TAKEN;
    while (lane->channel != NULL && !ue_conn_is_ending(c) && !outcome.is_over) {
        struct ue_in *in = ue_channel_take_in(lane->channel, (int64_t)lane->in_reliable + 1);
        if (in == NULL) {
            break;
        }
        struct ue_taken taken = take_in_turn(c, now_ns, lane, &in->bunch, in->ch_seq, in->packet_id);
        if (taken.later) { /* it cannot come again: it waits on */
            c->has_due = true;
            in->next = lane->channel->in_first;
            lane->channel->in_first = in;
            lane->channel->in_count++;
            break;
        }
        ue_share_free_block(&c->share, in);
        outcome = outcome_of(c, &taken, lane->index);
        outcome.skip = false;
    }
    return outcome;
}

void ue_dispatch_waiting(struct ue_conn *c, uint64_t now_ns) {
    if (!c->has_due) {
        return;
    }
    c->has_due = false;
    for (uint32_t i = 0; i < c->lanes.capacity; i++) {
        if (c->lanes.slots[i] != NULL) {
            take_waiting(c, now_ns, c->lanes.slots[i]);
        }
    }
}

static struct outcome keep_early(struct ue_conn *c, struct ue_lane *lane, const struct ue_bunch *bunch,
                                 int64_t ch_seq) {
    if (bunch->partial_exports_final) {
        c->counters.in_bunches_refused++;
        return SKIPPED; /* custom exports are not kept; they come again */
    }
    switch (ue_channel_keep_in(&c->lanes, lane->channel, bunch, ch_seq, c->in_packet_id, c->limits.reliable)) {
    case UE_IN_KNOWN: c->counters.in_bunches_ignored++; return TAKEN;
    case UE_IN_TOO_MANY: return bunch_error(c, UE_CLOSE_MAX_RELIABLE_EXCEEDED, lane->index, true);
    case UE_IN_NO_MEMORY: c->counters.in_bunches_refused++; return SKIPPED;
    default: return TAKEN;
    }
}

/* ReceivedRawBunch. */
static struct outcome take_raw(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane, const struct ue_bunch *bunch,
                               int64_t ch_seq) {
    if (bunch->reliable && ch_seq != (int64_t)lane->in_reliable + 1) {
        return keep_early(c, lane, bunch, ch_seq);
    }
    if (bunch->reliable && lane->channel->in_first != NULL && lane->channel->in_first->ch_seq == ch_seq) {
        c->counters.in_bunches_ignored++;
        return take_waiting(c, now_ns, lane); /* the first copy waits for memory */
    }
    struct ue_taken taken = take_in_turn(c, now_ns, lane, bunch, ch_seq, c->in_packet_id);
    struct outcome outcome = outcome_of(c, &taken, lane->index);
    if (!bunch->reliable || taken.later || outcome.is_over || lane->channel == NULL || lane->channel->in_count == 0) {
        return outcome;
    }
    struct outcome rest = take_waiting(c, now_ns, lane);
    return (struct outcome){outcome.skip || rest.skip, rest.is_over};
}

static bool is_control(const struct ue_conn *c, const struct ue_bunch *bunch) {
    enum ue_channel_kind kind;
    return bunch->channel == 0 && ue_conn_kind_of(c, bunch, &kind) && kind == UE_KIND_CONTROL;
}

/* Whether bunches for a channel that is not there may come at all now; UE_CLOSE_NONE: yes. */
static enum ue_close_reason premature(const struct ue_conn *c, const struct ue_bunch *bunch) {
    if (ue_conn_has_internal_ack(c) || c->config.no_login) {
        return UE_CLOSE_NONE;
    }
    if (!is_control(c, bunch)) {
        if (ue_conn_channel(c, 0) == NULL) {
            return UE_CLOSE_BUNCH_PREMATURE_CONTROL_CHANNEL;
        }
        if (ue_conn_is_server(c) && !c->is_admitted) {
            return UE_CLOSE_BUNCH_PREMATURE_CHANNEL;
        }
    }
    return bunch->channel == 0 && bunch->close ? UE_CLOSE_BUNCH_PREMATURE_CONTROL_CLOSE : UE_CLOSE_NONE;
}

static bool may_be_opened_by_peer(const struct ue_conn *c, enum ue_channel_kind kind) {
    if (ue_conn_has_internal_ack(c) || c->config.no_login || c->config.any_opener) {
        return true;
    }
    switch (kind) {
    case UE_KIND_CONTROL: return ue_conn_is_server(c);
    case UE_KIND_ACTOR: return !ue_conn_is_server(c);
    default: return true;
    }
}

/* A bunch for a channel that is not there. *created: the channel, when there is one now. */
static struct outcome create(struct ue_conn *c, const struct ue_bunch *bunch, struct ue_channel **created) {
    enum ue_channel_kind kind;
    *created = NULL;
    if (!bunch->reliable && !(bunch->open && (bunch->close || bunch->partial))) {
        c->counters.in_bunches_refused++;
        return SKIPPED;
    }
    if (!ue_conn_kind_of(c, bunch, &kind)) {
        return close_for(c, UE_CLOSE_UNKNOWN_CHANNEL_TYPE, bunch->channel);
    }
    if (!may_be_opened_by_peer(c, kind)) {
        c->counters.in_bunches_ignored++;
        return TAKEN;
    }
    *created = ue_conn_channel_from(c, bunch, kind);
    if (*created == NULL) {
        c->counters.in_bunches_refused++;
        return SKIPPED;
    }
    return TAKEN;
}

/* The full number of a reliable bunch; unreliable parts are numbered by their packet. */
static int64_t full_ch_seq(const struct ue_conn *c, const struct ue_bunch *bunch, int32_t in_reliable) {
    if (!bunch->reliable) {
        return bunch->partial ? c->in_packet_id : 0;
    }
    return ue_conn_has_internal_ack(c) ? (int64_t)in_reliable + 1
                                       : ue_seq_expand(bunch->ch_seq, in_reliable, c->in_context.ch_seq_bound);
}

static enum ue_close_reason refused_flags(const struct ue_conn *c, const struct ue_bunch *bunch) {
    if (!ue_conn_is_server(c)) {
        return UE_CLOSE_NONE;
    }
    return bunch->has_exports  ? UE_CLOSE_BUNCH_SERVER_EXPORTS
           : bunch->has_mapped ? UE_CLOSE_CLIENT_HAS_MUST_BE_MAPPED_GUIDS
                               : UE_CLOSE_NONE;
}

/* What is wrong with a header, whatever data follow; UE_CLOSE_NONE: nothing. */
static enum ue_close_reason refused_header(const struct ue_conn *c, const struct ue_channel *channel,
                                           const struct ue_bunch *bunch) {
    if (bunch->channel >= c->config.max_channels) {
        return UE_CLOSE_BUNCH_BAD_CHANNEL_INDEX;
    }
    if (bunch->has_name && bunch->name.hardcoded && bunch->name.index > NAME_INDEX_MAX && !c->config.any_channel) {
        return UE_CLOSE_BUNCH_CHANNEL_NAME_FAIL;
    }
    bool is_wrong = channel != NULL && !ue_conn_same_kind(c, channel, bunch);
    return is_wrong ? UE_CLOSE_BUNCH_WRONG_CHANNEL_TYPE : UE_CLOSE_NONE;
}

static struct outcome take(struct ue_conn *c, uint64_t now_ns, const struct ue_bunch *bunch) {
    struct ue_lane *lane = ue_lane_find(&c->lanes, bunch->channel);
    struct ue_channel *channel = lane != NULL ? lane->channel : NULL;
    enum ue_close_reason reason = refused_header(c, channel, bunch);
    if (reason == UE_CLOSE_NONE) {
        reason = refused_flags(c, bunch);
    }
    if (reason == UE_CLOSE_NONE && channel == NULL) {
        reason = premature(c, bunch);
    }
    if (reason != UE_CLOSE_NONE) {
        return close_for(c, reason, bunch->channel);
    }
    int32_t in_reliable = lane != NULL ? lane->in_reliable : c->lanes.in_first;
    int64_t ch_seq = full_ch_seq(c, bunch, in_reliable);
    if (bunch->reliable && ch_seq <= in_reliable) {
        c->counters.in_bunches_ignored++;
        return TAKEN;
    }
    if (channel == NULL) {
        struct outcome outcome = create(c, bunch, &channel);
        if (channel == NULL) {
            return outcome;
        }
        lane = ue_lane_find(&c->lanes, bunch->channel);
    }
    return take_raw(c, now_ns, lane, bunch, ch_seq);
}

static enum ue_close_reason reason_of(const struct ue_fault *fault) {
    switch (fault->field) {
    case UE_F_BUNCH_NAME_HARDCODED:
    case UE_F_BUNCH_NAME_INDEX:
    case UE_F_BUNCH_NAME_TEXT:
    case UE_F_BUNCH_NAME_NUMBER: return UE_CLOSE_BUNCH_CHANNEL_NAME_FAIL;
    case UE_F_BUNCH_CHANNEL:
        return fault->status == UE_E_RANGE ? UE_CLOSE_BUNCH_BAD_CHANNEL_INDEX : UE_CLOSE_BUNCH_HEADER_OVERFLOW;
    case UE_F_BUNCH_DATA: return UE_CLOSE_BUNCH_DATA_OVERFLOW;
    default: return UE_CLOSE_BUNCH_HEADER_OVERFLOW;
    }
}

/* Acknowledgements of the legacy layout stand among the bunches (endpoint.md 36). */
static void take_ack(struct ue_conn *c, uint64_t now_ns, const struct ue_ack *ack) {
    struct ue_legacy_acks verdicts;
    int64_t packet_id;
    bool delivered;
    int64_t acked = ue_seq_expand(ack->ack_id, c->out_ack_packet_id, UE_PACKET_SEQ_MAX);
    if (acked >= c->out_packet_id) {
        c->counters.malformed++; /* of a packet that was never sent */
        return;
    }
    ue_legacy_begin(&c->legacy, acked, &verdicts);
    while (ue_legacy_next(&verdicts, &packet_id, &delivered)) {
        if (packet_id > c->last_notified_id) {
            c->last_notified_id = packet_id;
            ue_conn_handle_ack(c, now_ns, packet_id, delivered);
        }
    }
    if (ue_conn_is_server(c)) {
        c->peer_wants_frame_time = ack->has_frame_time;
    }
    if (c->acked_sent_ns != UE_NO_TIME) {
        uint32_t frame_time_ms = c->config.want_frame_time ? ack->frame_time_ms : 0;
        ue_ping_feed(&c->ping, c->out_ack_packet_id, c->out_packet_id - 1, c->acked_sent_ns, now_ns, frame_time_ms);
        c->acked_sent_ns = UE_NO_TIME;
    }
}

/* Of a bunch whose data are cut off: its header counts first. */
static enum ue_close_reason refused_cut(const struct ue_conn *c, const struct ue_bunch *bunch) {
    return refused_header(c, ue_conn_channel(c, bunch->channel), bunch);
}

bool ue_dispatch(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, struct ue_item_range rest,
                 uint32_t *bunches) {
    struct outcome all = TAKEN;
    *bunches = 0;
    while (rest.bit < rest.end_bit && !all.is_over && !ue_conn_is_ending(c)) {
        struct ue_item item;
        struct ue_fault fault;
        if (ue_datagram_next(&c->in_context, bytes, &rest, &item, 1, &fault) == 0) {
            enum ue_close_reason reason = fault.field == UE_F_BUNCH_DATA ? refused_cut(c, &item.bunch) : UE_CLOSE_NONE;
            reason = reason != UE_CLOSE_NONE ? reason : reason_of(&fault);
            ue_event_fault(c, reason, &fault, 0);
            ue_conn_want_close(c, reason, UE_CLOSE_NONE);
            return true;
        }
        if (item.is_ack) {
            take_ack(c, now_ns, &item.ack);
            continue;
        }
        ++*bunches;
        c->counters.in_bunches++;
        struct outcome outcome = take(c, now_ns, &item.bunch);
        all.skip |= outcome.skip;
        all.is_over = outcome.is_over;
    }
    return all.skip || rest.bit < rest.end_bit;
}

/* SPDX-License-Identifier: MIT */
#include "tools/events/observed_event_lines.h"

#include <uerudp/field.h>

/* ---- events that a connection reports too ---- */

void event_log_delivery(struct event_log *log, const struct event_log_place *place, int64_t packet_id, bool delivered,
                        struct event_log_sent_packet sent) {
    event_log_begin(log, place, delivered ? "recovery:packet_acked" : "recovery:packet_lost");
    event_log_number(log, "packet_id", packet_id);
    if (sent.frame != 0) {
        event_log_number(log, "sent_frame", (int64_t)sent.frame);
    }
    if (sent.elapsed_ns >= 0) {
        event_log_number(log, "elapsed_ns", sent.elapsed_ns);
    }
    event_log_flag(log, "acks_lost", sent.acks_lost);
    event_log_end(log);
}

void event_log_channel_opened(struct event_log *log, const struct event_log_place *place, uint32_t channel,
                              const char *name) {
    event_log_begin(log, place, "connectivity:channel_opened");
    event_log_number(log, "channel", channel);
    event_log_text(log, "channel_name", name);
    event_log_end(log);
}

void event_log_channel_closed(struct event_log *log, const struct event_log_place *place, uint32_t channel,
                              uint8_t close_reason) {
    event_log_begin(log, place, channel == 0 ? "connectivity:connection_closed" : "connectivity:channel_closed");
    event_log_number(log, "channel", channel);
    event_log_text(log, "reason", ue_values_name(UE_VALUES_CLOSE_REASON, close_reason));
    event_log_end(log);
}

/* ---- datagrams ---- */

/* For a capture all packets are sent; for an endpoint only its own, the others are received. */
static bool is_sent(const struct event_log_from_tracker *t, unsigned side) {
    enum event_log_vantage vantage = event_log_vantage(t->log);
    return vantage == EVENT_LOG_VANTAGE_NETWORK || (unsigned)vantage == side;
}

static void put_frame(const struct event_log_from_tracker *t, const char *key, uint64_t frame) {
    if (t->has_frames && frame != 0) {
        event_log_number(t->log, key, (int64_t)frame);
    }
}

static void put_handshake(const struct event_log_from_tracker *t, const struct event_log_place *place,
                          const struct ue_observed_event *event) {
    const struct ue_handshake *handshake = event->handshake.decoded;
    bool sent = is_sent(t, event->side);
    event_log_begin(t->log, place, sent ? "transport:handshake_sent" : "transport:handshake_received");
    event_log_text(t->log, "type", ue_values_name(UE_VALUES_HANDSHAKE_TYPE, handshake->type));
    event_log_number(t->log, "length", (int64_t)t->size_bytes);
    event_log_flag(t->log, "restart", handshake->restart);
    if (event->handshake.answer_ns >= 0) {
        event_log_number(t->log, "answer_ns", event->handshake.answer_ns);
    }
    event_log_end(t->log);
}

static void put_packet(const struct event_log_from_tracker *t, const struct event_log_place *place,
                       const struct ue_observed_event *event) {
    event_log_begin(t->log, place, is_sent(t, event->side) ? "transport:packet_sent" : "transport:packet_received");
    event_log_number(t->log, "packet_id", event->packet_id);
    event_log_number(t->log, "length", (int64_t)t->size_bytes);
    event_log_number(t->log, "in_flight", event->packet.in_flight);
    event_log_flag(t->log, "late", event->packet.is_late);
    event_log_flag(t->log, "duplicate", event->packet.is_duplicate);
    put_frame(t, "first_frame", event->packet.first_frame);
    event_log_end(t->log);
}

static void put_missing(const struct event_log_from_tracker *t, const struct event_log_place *place,
                        const struct ue_observed_event *event) {
    bool is_disproved = event->type == UE_OBSERVED_NOT_LOST;
    event_log_begin(t->log, place, is_disproved ? "transport:packets_disproved" : "transport:packets_missing");
    event_log_number(t->log, "first_packet_id", event->lost.first_id);
    event_log_number(t->log, "last_packet_id", event->lost.last_id);
    put_frame(t, "first_frame", event->lost.jump_frame);
    event_log_end(t->log);
}

static void put_delivery(const struct event_log_from_tracker *t, const struct event_log_place *place,
                         const struct ue_observed_event *event) {
    const struct ue_observed_ack *ack = &event->ack;
    event_log_delivery(
        t->log, place, ack->packet_id, event->type == UE_OBSERVED_ACK,
        (struct event_log_sent_packet){ack->frame, ack->may_be_repeated ? -1 : ack->span_ns, ack->is_withdrawn});
}

/* ---- bunches ---- */

static void put_reliable(const struct event_log_from_tracker *t, const struct ue_observed_event *event) {
    event_log_number(t->log, "reliable_id", event->bunch.reliable_id);
    event_log_number(t->log, "in_flight", event->bunch.in_flight.at_least);
    event_log_number(t->log, "copy", event->bunch.copy);
    put_frame(t, "first_frame", event->bunch.first_frame);
    event_log_flag(t->log, "spurious", event->bunch.is_spurious);
    event_log_flag(t->log, "gap", event->bunch.is_gap);
    event_log_flag(t->log, "impossible_jump", event->bunch.is_jump);
}

static void put_bunch(const struct event_log_from_tracker *t, const struct event_log_place *place,
                      const struct ue_observed_event *event) {
    const struct ue_bunch *bunch = event->bunch.decoded;
    event_log_begin(t->log, place, is_sent(t, event->side) ? "transport:bunch_sent" : "transport:bunch_received");
    event_log_number(t->log, "packet_id", event->packet_id);
    event_log_number(t->log, "channel", bunch->channel);
    event_log_text(t->log, "channel_name", ue_bunch_channel_name(t->context, bunch));
    event_log_number(t->log, "bits", (int64_t)bunch->data.bits);
    if (bunch->reliable) {
        put_reliable(t, event);
    }
    event_log_flag(t->log, "open", bunch->open);
    event_log_flag(t->log, "close", bunch->close);
    event_log_flag(t->log, "partial", bunch->partial);
    event_log_flag(t->log, "partial_initial", bunch->partial_initial);
    event_log_flag(t->log, "partial_final", bunch->partial_final);
    event_log_flag(t->log, "partial_error", event->bunch.is_partial_error);
    event_log_end(t->log);
}

void event_log_from_tracker(void *user, const struct ue_observed_event *event) {
    const struct event_log_from_tracker *t = user;
    bool is_own = is_sent(t, event->side);
    bool is_network = event_log_vantage(t->log) == EVENT_LOG_VANTAGE_NETWORK;
    struct event_log_place place = {t->has_frames ? event->frame : 0, event->time_ns, t->stream, event->side};
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: put_handshake(t, &place, event); break;
    case UE_OBSERVED_PACKET: put_packet(t, &place, event); break;
    case UE_OBSERVED_LOST:
    case UE_OBSERVED_NOT_LOST: put_missing(t, &place, event); break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK:
        place.role = !event->side;
        if (is_network) {
            put_delivery(t, &place, event);
        }
        break;
    case UE_OBSERVED_BUNCH: put_bunch(t, &place, event); break;
    case UE_OBSERVED_CHANNEL_OPENED:
        if (is_own) {
            event_log_channel_opened(t->log, &place, event->channel.bunch->channel,
                                     ue_bunch_channel_name(t->context, event->channel.bunch));
        }
        break;
    case UE_OBSERVED_CHANNEL_CLOSED:
        if (is_own) {
            event_log_channel_closed(t->log, &place, event->channel.bunch->channel, event->channel.close_reason);
        }
        break;
    case UE_OBSERVED_RESTARTED:
        event_log_begin(t->log, &place, "connectivity:connection_restarted");
        event_log_end(t->log);
        break;
    default: break;
    }
}

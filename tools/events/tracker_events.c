/* SPDX-License-Identifier: MIT */
#include "tools/events/tracker_events.h"

#include <uerudp/field.h>

/* ---- what a connection tells, too ---- */

void ue_log_verdict(struct ue_log *log, const struct ue_log_place *place, int64_t packet_id, bool delivered,
                    struct ue_log_sent sent) {
    ue_log_begin(log, place, delivered ? "recovery:packet_acked" : "recovery:packet_lost");
    ue_log_number(log, "packet_id", packet_id);
    if (sent.frame != 0) {
        ue_log_number(log, "sent_frame", (int64_t)sent.frame);
    }
    if (sent.elapsed_ns >= 0) {
        ue_log_number(log, "elapsed_ns", sent.elapsed_ns);
    }
    ue_log_flag(log, "acks_lost", sent.acks_lost);
    ue_log_end(log);
}

void ue_log_opened(struct ue_log *log, const struct ue_log_place *place, uint32_t channel, const char *name) {
    ue_log_begin(log, place, "connectivity:channel_opened");
    ue_log_number(log, "channel", channel);
    ue_log_text(log, "channel_name", name);
    ue_log_end(log);
}

void ue_log_closed(struct ue_log *log, const struct ue_log_place *place, uint32_t channel, uint8_t close_reason) {
    ue_log_begin(log, place, channel == 0 ? "connectivity:connection_closed" : "connectivity:channel_closed");
    ue_log_number(log, "channel", channel);
    ue_log_text(log, "reason", ue_values_name(UE_VALUES_CLOSE_REASON, close_reason));
    ue_log_end(log);
}

/* ---- datagrams ---- */

/* To the network everything is sent; to an endpoint, only what is its own. */
static bool is_sent(const struct ue_log_tracked *t, unsigned side) {
    enum ue_vantage vantage = ue_log_vantage(t->log);
    return vantage == UE_VANTAGE_NETWORK || (unsigned)vantage == side;
}

static void put_span(const struct ue_log_tracked *t, const char *key, const struct ue_track_event *event) {
    if (event->span_ns >= 0) {
        ue_log_number(t->log, key, event->span_ns);
    }
}

static void put_frame(const struct ue_log_tracked *t, const char *key, uint64_t frame) {
    if (t->has_frames && frame != 0) {
        ue_log_number(t->log, key, (int64_t)frame);
    }
}

static void put_handshake(const struct ue_log_tracked *t, const struct ue_log_place *place,
                          const struct ue_track_event *event) {
    const struct ue_handshake *handshake = &event->datagram->handshake;
    bool sent = is_sent(t, event->side);
    ue_log_begin(t->log, place, sent ? "transport:handshake_sent" : "transport:handshake_received");
    ue_log_text(t->log, "type", ue_values_name(UE_VALUES_HANDSHAKE_TYPE, handshake->type));
    ue_log_number(t->log, "length", (int64_t)t->size_bytes);
    ue_log_flag(t->log, "restart", handshake->restart);
    put_span(t, "answer_ns", event);
    ue_log_end(t->log);
}

static void put_packet(const struct ue_log_tracked *t, const struct ue_log_place *place,
                       const struct ue_track_event *event) {
    ue_log_begin(t->log, place, is_sent(t, event->side) ? "transport:packet_sent" : "transport:packet_received");
    ue_log_number(t->log, "packet_id", event->packet_id);
    ue_log_number(t->log, "length", (int64_t)t->size_bytes);
    ue_log_number(t->log, "in_flight", event->packets_in_flight);
    ue_log_flag(t->log, "late", event->is_late);
    ue_log_flag(t->log, "duplicate", event->is_duplicate);
    put_frame(t, "first_frame", event->other_frame);
    ue_log_end(t->log);
}

static void put_missing(const struct ue_log_tracked *t, const struct ue_log_place *place,
                        const struct ue_track_event *event) {
    bool is_disproved = event->type == UE_TRACK_DISPROVED;
    ue_log_begin(t->log, place, is_disproved ? "transport:packets_disproved" : "transport:packets_missing");
    ue_log_number(t->log, "first_packet_id", event->packet_id);
    ue_log_number(t->log, "last_packet_id", event->last_id);
    put_frame(t, "first_frame", event->other_frame);
    ue_log_end(t->log);
}

/* ---- bunches ---- */

static void put_reliable(const struct ue_log_tracked *t, const struct ue_track_event *event) {
    ue_log_number(t->log, "reliable_id", event->reliable_id);
    ue_log_number(t->log, "in_flight", event->reliable_in_flight);
    ue_log_number(t->log, "copy", event->copy);
    put_frame(t, "first_frame", event->first_frame);
    ue_log_flag(t->log, "spurious", event->is_spurious);
    ue_log_flag(t->log, "gap", event->is_gap);
    ue_log_flag(t->log, "impossible_jump", event->is_jump);
}

static void put_bunch(const struct ue_log_tracked *t, const struct ue_log_place *place,
                      const struct ue_track_event *event) {
    const struct ue_bunch *bunch = event->bunch;
    ue_log_begin(t->log, place, is_sent(t, event->side) ? "transport:bunch_sent" : "transport:bunch_received");
    ue_log_number(t->log, "packet_id", event->packet_id);
    ue_log_number(t->log, "channel", bunch->channel);
    ue_log_text(t->log, "channel_name", ue_bunch_channel_name(t->context, bunch));
    ue_log_number(t->log, "bits", (int64_t)bunch->data.bits);
    if (bunch->reliable) {
        put_reliable(t, event);
    }
    ue_log_flag(t->log, "open", bunch->open);
    ue_log_flag(t->log, "close", bunch->close);
    ue_log_flag(t->log, "partial", bunch->partial);
    ue_log_flag(t->log, "partial_initial", bunch->partial_initial);
    ue_log_flag(t->log, "partial_final", bunch->partial_final);
    ue_log_flag(t->log, "partial_error", event->is_partial_error);
    ue_log_end(t->log);
}

void ue_log_tracked(void *user, const struct ue_track_event *event) {
    const struct ue_log_tracked *t = user;
    const struct ue_bunch *bunch = event->bunch;
    bool is_ours = is_sent(t, event->side);
    bool is_network = ue_log_vantage(t->log) == UE_VANTAGE_NETWORK;
    struct ue_log_place place = {t->has_frames ? event->frame : 0, event->time_ns, t->stream, event->side};
    switch (event->type) {
    case UE_TRACK_HANDSHAKE: put_handshake(t, &place, event); break;
    case UE_TRACK_PACKET: put_packet(t, &place, event); break;
    case UE_TRACK_MISSING:
    case UE_TRACK_DISPROVED: put_missing(t, &place, event); break;
    case UE_TRACK_ACKED:
    case UE_TRACK_NACKED:
        place.role = !event->side;
        if (is_network) {
            ue_log_verdict(t->log, &place, event->packet_id, event->type == UE_TRACK_ACKED,
                           (struct ue_log_sent){event->other_frame, event->span_ns, event->is_withdrawn});
        }
        break;
    case UE_TRACK_BUNCH: put_bunch(t, &place, event); break;
    case UE_TRACK_OPENED:
        if (is_ours) {
            ue_log_opened(t->log, &place, bunch->channel, ue_bunch_channel_name(t->context, bunch));
        }
        break;
    case UE_TRACK_CLOSED:
        if (is_ours) {
            ue_log_closed(t->log, &place, bunch->channel, event->close_reason);
        }
        break;
    case UE_TRACK_RESET:
        ue_log_begin(t->log, &place, "connectivity:connection_restarted");
        ue_log_end(t->log);
        break;
    }
}

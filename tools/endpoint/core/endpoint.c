/* SPDX-License-Identifier: MIT */
/* The calls of endpoint.h that only look, or pass on. */
#include "tools/endpoint/core/connection.h"

enum ue_status ue_conn_send(struct ue_conn *c, uint64_t now_ns, const struct ue_outgoing *bunch,
                            struct ue_packet_range *range) {
    ue_conn_settle(c);
    struct ue_lane *lane = ue_conn_is_up(c) ? ue_lane_find(&c->lanes, bunch->channel) : NULL;
    if (lane == NULL || lane->channel == NULL) {
        return UE_E_CONFLICT;
    }
    bool is_held =
        c->config.options.send_window && !ue_conn_is_legacy(c) && ue_notify_window_full(&c->notify, UE_WINDOW_MARGIN);
    bool is_paced = c->config.options.pacing && !ue_conn_is_ready(c);
    if (!bunch->reliable && (is_held || is_paced)) {
        c->counters.window_refused++;
        return UE_E_FULL;
    }
    enum ue_status status = ue_control_send_or_queue(c, now_ns, lane, bunch, range);
    ue_conn_carry_out_close(c, now_ns);
    return status;
}

enum ue_status ue_conn_send_message(struct ue_conn *c, uint64_t now_ns, const struct ue_message *message) {
    enum ue_status status = ue_control_send(c, now_ns, message);
    ue_conn_carry_out_close(c, now_ns);
    return status;
}

size_t ue_conn_room_bits(const struct ue_conn *c, uint32_t index) {
    const struct ue_lane *lane = ue_conn_is_up(c) ? ue_lane_find(&c->lanes, index) : NULL;
    if (lane == NULL || lane->channel == NULL || lane->channel->closing) {
        return 0;
    }
    size_t parts = ue_conn_room_parts(c, lane, false);
    size_t bits = parts > 1 ? parts * c->limits.part_bits : parts * c->limits.single_bits;
    size_t most = (size_t)c->config.partial_max_bytes * 8;
    return bits < most ? bits : most;
}

void ue_conn_flush(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_settle(c);
    if (ue_conn_is_up(c)) {
        ue_send_buffer_flush(c, now_ns);
        ue_conn_carry_out_close(c, now_ns);
    }
}

void ue_conn_set_net_speed(struct ue_conn *c, int32_t bytes_per_second) {
    c->budget.net_speed = ue_net_speed(bytes_per_second);
}

bool ue_conn_next_datagram(struct ue_conn *c, struct ue_bytes *datagram) {
    const struct ue_outbox_block *parcel = ue_outbox_take(&c->datagrams);
    if (parcel != NULL) {
        *datagram = (struct ue_bytes){parcel->bytes, parcel->size_bytes};
    }
    return parcel != NULL;
}

bool ue_conn_next_event(struct ue_conn *c, struct ue_event *event) {
    const struct ue_outbox_block *parcel = ue_outbox_take(&c->events);
    if (parcel != NULL) {
        memcpy(event, parcel->bytes, sizeof *event);
    }
    return parcel != NULL;
}

enum ue_conn_state ue_conn_state(const struct ue_conn *c) {
    return c->state;
}

const struct ue_counters *ue_conn_counters(const struct ue_conn *c) {
    return &c->counters;
}

const struct ue_ping *ue_conn_ping(const struct ue_conn *c) {
    return &c->ping;
}

double ue_conn_jitter_ms(const struct ue_conn *c) {
    return c->jitter.average_ms;
}

size_t ue_conn_memory_bytes(const struct ue_conn *c, size_t *peak_bytes) {
    if (peak_bytes != NULL) {
        *peak_bytes = c->share.peak_bytes;
    }
    return c->share.used_bytes;
}

uint32_t ue_conn_unacked(const struct ue_conn *c, uint32_t index) {
    const struct ue_channel *channel = ue_conn_channel(c, index);
    return channel != NULL ? channel->out_count : 0;
}

uint32_t ue_conn_unacked_peak(const struct ue_conn *c, uint32_t index) {
    const struct ue_lane *lane = ue_lane_find(&c->lanes, index);
    return lane != NULL ? lane->out_peak : 0;
}

const struct ue_context *ue_conn_context(const struct ue_conn *c) {
    return &c->out_context;
}

/* ---- names ---- */

const char *ue_conn_state_name(enum ue_conn_state state) {
    static const char *const names[] = {[UE_CONN_INVALID] = "invalid",
                                        [UE_CONN_HANDSHAKE] = "handshaking",
                                        [UE_CONN_PENDING] = "pending",
                                        [UE_CONN_OPEN] = "open",
                                        [UE_CONN_CLOSED] = "closed"};
    return names[state];
}

const char *ue_event_name(enum ue_event_type type) {
    static const char *const names[] = {
        [UE_EVENT_STATE] = "state",     [UE_EVENT_CHANNEL_OPENED] = "channel opened", [UE_EVENT_BUNCH] = "bunch",
        [UE_EVENT_EXPORTS] = "exports", [UE_EVENT_CHANNEL_CLOSED] = "channel closed", [UE_EVENT_PACKET] = "packet",
        [UE_EVENT_FAULT] = "fault"};
    return names[type];
}

const char *ue_channel_kind_name(enum ue_channel_kind kind) {
    static const char *const names[] = {
        [UE_KIND_CONTROL] = "Control", [UE_KIND_ACTOR] = "Actor", [UE_KIND_VOICE] = "Voice", [UE_KIND_OTHER] = "Other"};
    return names[kind];
}

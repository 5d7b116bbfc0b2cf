/* SPDX-License-Identifier: MIT */
/* The calls of endpoint.h that only look, or pass on. */
#include "tools/endpoint/core/connection.h"

enum ue_status ue_conn_open(struct ue_conn *c, enum ue_channel_kind kind, int64_t index, uint32_t *opened) {
    ue_conn_begin_input(c);
    index = index >= 0 ? index : ue_channel_free_index(&c->channels, kind);
    if (!ue_is_up(&c->common) || !ue_may_open(&c->common, kind) || (kind == UE_KIND_CONTROL) != (index == 0)) {
        return UE_E_CONFLICT;
    }
    if (index >= c->common.config.max_channels) {
        return UE_E_FULL;
    }
    if (ue_channel_find(&c->channels, (uint32_t)index) != NULL) {
        return UE_E_CONFLICT;
    }
    struct ue_channel *channel = ue_channel_create(&c->channels, (uint32_t)index, kind);
    if (channel == NULL) {
        return UE_E_FULL;
    }
    channel->opened_locally = true;
    channel->has_opened = true;
    if (opened != NULL) {
        *opened = (uint32_t)index;
    }
    return UE_OK;
}

/* endpoint.md 39.3, 39.5. */
enum ue_status ue_conn_send(struct ue_conn *c, uint64_t now_ns, const struct ue_outgoing *bunch,
                            struct ue_packet_range *range) {
    ue_conn_begin_input(c);
    struct ue_channel_entry *entry = ue_is_up(&c->common) ? ue_channel_entry_find(&c->channels, bunch->channel) : NULL;
    if (entry == NULL || entry->channel == NULL) {
        return UE_E_CONFLICT;
    }
    bool is_held = c->common.config.options.send_window && !ue_is_legacy(&c->common) &&
                   ue_notify_window_full(&c->sender.packet_notify, UE_WINDOW_MARGIN);
    bool is_paced = c->common.config.options.pacing && !ue_conn_is_ready(c);
    if (!bunch->reliable && (is_held || is_paced)) {
        c->common.statistics.counters.window_refused++;
        return UE_E_FULL;
    }
    enum ue_status status = bunch->channel == 0 ? ue_control_send_or_queue(&c->sender, now_ns, entry, bunch, range)
                                                : ue_send(&c->sender, now_ns, entry, bunch, range);
    ue_carry_out_close(&c->sender, now_ns);
    return status;
}

enum ue_status ue_conn_send_message(struct ue_conn *c, uint64_t now_ns, const struct ue_message *message) {
    enum ue_status status = ue_control_send(&c->sender, now_ns, message);
    ue_carry_out_close(&c->sender, now_ns);
    return status;
}

size_t ue_conn_room_bits(const struct ue_conn *c, uint32_t index) {
    const struct ue_channel_entry *entry = ue_is_up(&c->common) ? ue_channel_entry_find(&c->channels, index) : NULL;
    if (entry == NULL || entry->channel == NULL || entry->channel->closing) {
        return 0;
    }
    size_t parts = ue_send_room_parts(&c->channels, entry, false);
    size_t bits = parts > 1 ? parts * c->common.limits.part_bits : parts * c->common.limits.single_bits;
    size_t most = (size_t)c->common.config.partial_max_bytes * 8;
    return bits < most ? bits : most;
}

void ue_conn_close(struct ue_conn *c, uint64_t now_ns, enum ue_close_reason reason) {
    ue_conn_begin_input(c);
    ue_want_close(&c->common, reason, UE_CLOSE_NONE);
    ue_carry_out_close(&c->sender, now_ns);
}

void ue_conn_flush(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_begin_input(c);
    if (ue_is_up(&c->common)) {
        ue_send_buffer_flush(&c->sender, now_ns);
        ue_carry_out_close(&c->sender, now_ns);
    }
}

void ue_conn_set_net_speed(struct ue_conn *c, int32_t bytes_per_second) {
    c->sender.budget.net_speed = ue_net_speed(bytes_per_second);
}

bool ue_conn_is_ready(const struct ue_conn *c) {
    return ue_sender_is_ready(&c->sender);
}

bool ue_conn_next_datagram(struct ue_conn *c, struct ue_bytes *datagram) {
    const struct ue_output_block *block = ue_output_queue_pop(&c->sender.datagrams);
    if (block != NULL) {
        *datagram = (struct ue_bytes){block->bytes, block->size_bytes};
    }
    return block != NULL;
}

bool ue_conn_next_event(struct ue_conn *c, struct ue_event *event) {
    const struct ue_output_block *block = ue_output_queue_pop(&c->common.events);
    if (block != NULL) {
        memcpy(event, block->bytes, sizeof *event);
    }
    return block != NULL;
}

enum ue_conn_state ue_conn_state(const struct ue_conn *c) {
    return c->common.life.state;
}

const struct ue_counters *ue_conn_counters(const struct ue_conn *c) {
    return &c->common.statistics.counters;
}

const struct ue_ping *ue_conn_ping(const struct ue_conn *c) {
    return &c->common.statistics.ping;
}

double ue_conn_jitter_ms(const struct ue_conn *c) {
    return c->common.statistics.jitter.average_ms;
}

size_t ue_conn_memory_bytes(const struct ue_conn *c, size_t *peak_bytes) {
    if (peak_bytes != NULL) {
        *peak_bytes = c->common.share.peak_bytes;
    }
    return c->common.share.used_bytes;
}

uint32_t ue_conn_unacked(const struct ue_conn *c, uint32_t index) {
    const struct ue_channel *channel = ue_channel_find(&c->channels, index);
    return channel != NULL ? channel->out_count : 0;
}

uint32_t ue_conn_unacked_peak(const struct ue_conn *c, uint32_t index) {
    const struct ue_channel_entry *entry = ue_channel_entry_find(&c->channels, index);
    return entry != NULL ? entry->out_peak : 0;
}

const struct ue_context *ue_conn_context(const struct ue_conn *c) {
    return &c->common.context;
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

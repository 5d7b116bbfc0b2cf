/* SPDX-License-Identifier: MIT */
/* Work that depends on time: timeouts, retransmissions, keep-alives, the flush at the end of a tick (endpoint.md
   29). */
#include "tools/endpoint/core/connection.h"

#define STALL_LOOKS_NS UINT64_C(1000000000)

static uint64_t timeout_ns(const struct ue_conn *c) {
    return c->is_admitted ? c->config.timeout_ns : c->config.connect_timeout_ns;
}

static bool is_silent(const struct ue_conn *c, uint64_t now_ns) {
    return !c->config.no_timeouts && !ue_conn_has_internal_ack(c) && now_ns - c->last_receive_ns > timeout_ns(c);
}

static void tick_handshake(struct ue_conn *c, uint64_t now_ns) {
    if (is_silent(c, now_ns)) {
        ue_conn_end(c, UE_CLOSE_CONNECTION_TIMEOUT);
        return;
    }
    ue_client_handshake_tick(&c->handshake, now_ns);
    ue_conn_send_handshake(c);
}

/* Channel 0 was used and is gone: the connection is over. */
static bool is_control_lost(const struct ue_conn *c) {
    const struct ue_channel_entry *entry = ue_channel_entry_find(&c->channels, 0);
    return entry != NULL && entry->channel == NULL && entry->in_reliable != c->channels.in_first;
}

static void tick_channels(struct ue_conn *c, uint64_t now_ns) {
    if (is_control_lost(c)) {
        ue_conn_end(c, UE_CLOSE_CONTROL_CHANNEL_CLOSE);
        return;
    }
    ue_send_waiting(c, now_ns);
    ue_control_tick(c, now_ns);
}

static void tick_flush(struct ue_conn *c, uint64_t now_ns) {
    if (ue_conn_is_legacy(c) && ue_conn_may_send(c)) {
        ue_send_legacy_acks_again(c, now_ns);
    }
    bool is_due = c->time_sensitive || (now_ns - c->last_send_ns > c->config.keep_alive_ns);
    if (is_due && ue_conn_may_send(c)) {
        ue_send_buffer_flush(c, now_ns);
    }
}

static void tick_budget(struct ue_conn *c, uint64_t elapsed_ns) {
    if (ue_conn_has_internal_ack(c)) {
        return;
    }
    c->counters.saturated_ticks += !ue_conn_is_ready(c);
    ue_send_budget_tick(&c->budget, elapsed_ns, c->config.desired_tick_ns);
}

static bool is_part_missing(const struct ue_channel *channel) {
    return channel->partial != NULL && !channel->partial->complete;
}

/* Changes with each bunch for which something waited. */
static int64_t progress_of(const struct ue_channel_entry *entry) {
    const struct ue_channel *channel = entry->channel;
    bool is_unreliable = is_part_missing(channel) && !channel->partial->reliable;
    return is_unreliable ? channel->partial->ch_seq : entry->in_reliable;
}

static bool is_stalled(const struct ue_conn *c, uint64_t now_ns, const struct ue_channel_entry *entry) {
    struct ue_channel *channel = entry->channel;
    bool waits = channel->in_first != NULL || is_part_missing(channel);
    int64_t progress = progress_of(entry);
    if (!waits || progress != channel->progress || channel->progress_ns == 0) {
        channel->progress = progress;
        channel->progress_ns = now_ns;
    }
    return now_ns - channel->progress_ns > c->config.stall_timeout_ns;
}

/* Unreliable parts are never sent again; a reliable bunch cannot be skipped. */
static void give_up(struct ue_conn *c, struct ue_channel *channel) {
    if (channel->in_first == NULL && is_part_missing(channel) && !channel->partial->reliable) {
        ue_partial_drop(&c->share, channel);
        return;
    }
    ue_event_emit_fault(c, UE_CLOSE_RECEIVED_NEXT_BUNCH_FAIL, NULL, channel->index);
    ue_conn_want_close(c, UE_CLOSE_CONNECTION_TIMEOUT, UE_CLOSE_RECEIVED_NEXT_BUNCH_FAIL);
}

static void tick_stalls(struct ue_conn *c, uint64_t now_ns) {
    if (c->config.stall_timeout_ns == 0 || now_ns - c->last_stall_look_ns < STALL_LOOKS_NS) {
        return;
    }
    c->last_stall_look_ns = now_ns;
    for (uint32_t i = 0; i < c->channels.capacity && !ue_conn_is_ending(c); i++) {
        struct ue_channel_entry *entry = c->channels.slots[i];
        if (entry != NULL && entry->channel != NULL && is_stalled(c, now_ns, entry)) {
            give_up(c, entry->channel);
        }
    }
}

static void tick_up(struct ue_conn *c, uint64_t now_ns, uint64_t elapsed_ns) {
    if (ue_conn_has_internal_ack(c)) {
        ue_conn_ack_everything(c, now_ns);
        ue_conn_carry_out_close(c, now_ns);
    }
    ue_traffic_tick(&c->traffic, &c->ping, now_ns);
    if (is_silent(c, now_ns)) {
        ue_conn_want_close(c, UE_CLOSE_CONNECTION_TIMEOUT, UE_CLOSE_NONE);
        ue_conn_carry_out_close(c, now_ns);
        return;
    }
    tick_channels(c, now_ns);
    if (ue_conn_carry_out_close(c, now_ns)) {
        return;
    }
    ue_options_tick(c, now_ns);
    tick_stalls(c, now_ns);
    if (ue_conn_carry_out_close(c, now_ns)) {
        return;
    }
    if (!ue_conn_is_server(c)) {
        ue_client_handshake_tick(&c->handshake, now_ns);
        ue_conn_send_handshake(c);
    }
    if (!ue_conn_is_client_restarting(c)) {
        tick_flush(c, now_ns);
    }
    tick_budget(c, elapsed_ns);
}

void ue_conn_tick(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_begin_input(c);
    if (!c->has_ticked) {
        c->has_ticked = true;
        c->last_receive_ns = now_ns;
        c->last_tick_ns = now_ns;
    }
    uint64_t elapsed_ns = now_ns - c->last_tick_ns;
    c->last_tick_ns = now_ns;
    c->frame_time_ms = (uint8_t)(elapsed_ns / 1000000 < 255 ? elapsed_ns / 1000000 : 255);
    if (c->state == UE_CONN_HANDSHAKE) {
        tick_handshake(c, now_ns);
    } else if (ue_conn_is_up(c)) {
        tick_up(c, now_ns, elapsed_ns);
        ue_conn_carry_out_close(c, now_ns);
    }
    c->flushed_this_tick = false;
    c->burst_packets = 0;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* A server that may not send yet waits for the client, whatever it has to send; a client in a restart handshake waits
   for the server. */
static uint64_t flush_deadline(const struct ue_conn *c) {
    if (!ue_conn_may_send(c)) {
        return UINT64_MAX;
    }
    if (ue_conn_is_client_restarting(c)) {
        return UINT64_MAX;
    }
    if (c->time_sensitive || c->has_pending_out_rec || ue_send_is_waiting(c)) {
        return c->last_tick_ns;
    }
    return ue_conn_has_internal_ack(c) ? UINT64_MAX : c->last_send_ns + c->config.keep_alive_ns + 1;
}

/* Until when ue_conn_end_receive leaves early packets waiting. */
static uint64_t reorder_deadline(const struct ue_conn *c) {
    return c->order_cache.count != 0 ? c->order_cache_since_ns + c->config.options.reorder_wait_ns : UINT64_MAX;
}

static uint64_t timeout_deadline(const struct ue_conn *c) {
    bool has_timeout = !c->config.no_timeouts && !ue_conn_has_internal_ack(c);
    return has_timeout ? c->last_receive_ns + timeout_ns(c) + 1 : UINT64_MAX;
}

uint64_t ue_conn_deadline(const struct ue_conn *c) {
    uint64_t shake_ns = ue_conn_is_server(c) ? UINT64_MAX : ue_client_handshake_deadline(&c->handshake);
    uint64_t deadline = earlier(timeout_deadline(c), shake_ns);
    if (c->state == UE_CONN_HANDSHAKE) {
        return deadline;
    }
    return ue_conn_is_up(c) ? earlier(deadline, earlier(flush_deadline(c), reorder_deadline(c))) : UINT64_MAX;
}

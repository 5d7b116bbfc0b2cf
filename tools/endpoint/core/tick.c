/* SPDX-License-Identifier: MIT */
/* Work that depends on time: timeouts, retransmissions, keep-alives, the flush at the end of a tick (endpoint.md
   29). */
#include "tools/endpoint/core/connection.h"

#define STALL_LOOKS_NS UINT64_C(1000000000)

static uint64_t timeout_ns(const struct ue_common *common) {
    return common->life.is_admitted ? common->config.timeout_ns : common->config.connect_timeout_ns;
}

/* endpoint.md 33.1. */
static bool is_silent(const struct ue_receiver *r, uint64_t now_ns) {
    return !r->common->config.no_timeouts && !ue_has_internal_ack(r->common) &&
           now_ns - r->last_receive_ns > timeout_ns(r->common);
}

static void tick_handshake(struct ue_conn *c, uint64_t now_ns) {
    if (is_silent(&c->receiver, now_ns)) {
        ue_end(&c->common, UE_CLOSE_CONNECTION_TIMEOUT);
        return;
    }
    ue_client_handshake_tick(&c->handshake.client, now_ns);
    ue_conn_send_handshake(c);
}

/* Channel 0 was used and is gone: the connection is over. */
static bool is_control_lost(const struct ue_channel_table *channels) {
    return channels->control.channel == NULL && channels->control.in_reliable != channels->in_first;
}

/* endpoint.md 29.3. */
static void tick_channels(struct ue_sender *s, uint64_t now_ns) {
    struct ue_channel_entry *control = &s->channels->control;
    if (is_control_lost(s->channels)) {
        ue_end(s->common, UE_CLOSE_CONTROL_CHANNEL_CLOSE);
        return;
    }
    ue_send_waiting(s, now_ns);
    if (control->channel != NULL) {
        ue_control_tick(s, now_ns, control);
    }
}

/* endpoint.md 29.5. */
static void tick_flush(struct ue_sender *s, uint64_t now_ns) {
    if (ue_is_legacy(s->common) && ue_may_send(s->channels)) {
        ue_send_legacy_acks_again(s, now_ns);
    }
    bool is_due = s->time_sensitive || (now_ns - s->last_send_ns > s->common->config.keep_alive_ns);
    if (is_due && ue_may_send(s->channels)) {
        ue_send_buffer_flush(s, now_ns);
    }
}

/* endpoint.md 29.6. */
static void tick_budget(struct ue_conn *c, uint64_t elapsed_ns) {
    if (ue_has_internal_ack(&c->common)) {
        return;
    }
    if (!ue_conn_is_ready(c)) {
        c->common.statistics.counters.saturated_ticks++;
    }
    ue_send_budget_tick(&c->sender.budget, elapsed_ns, c->common.config.desired_tick_ns);
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

static bool is_stalled(const struct ue_common *common, uint64_t now_ns, const struct ue_channel_entry *entry) {
    struct ue_channel *channel = entry->channel;
    bool waits = channel->in_first != NULL || is_part_missing(channel);
    int64_t progress = progress_of(entry);
    if (!waits || progress != channel->progress || channel->progress_ns == 0) {
        channel->progress = progress;
        channel->progress_ns = now_ns;
    }
    return now_ns - channel->progress_ns > common->config.stall_timeout_ns;
}

/* Unreliable parts are never sent again; a reliable bunch cannot be skipped (endpoint.md 17.6). */
static void give_up(struct ue_common *common, struct ue_channel *channel) {
    if (channel->in_first == NULL && is_part_missing(channel) && !channel->partial->reliable) {
        ue_partial_drop(&common->share, channel);
        return;
    }
    ue_event_emit_fault(common, UE_CLOSE_RECEIVED_NEXT_BUNCH_FAIL, NULL, channel->index);
    ue_want_close(common, UE_CLOSE_CONNECTION_TIMEOUT, UE_CLOSE_RECEIVED_NEXT_BUNCH_FAIL);
}

/* endpoint.md 17.6. */
static void tick_stalls(struct ue_conn *c, uint64_t now_ns) {
    if (c->common.config.stall_timeout_ns == 0 || now_ns - c->clock.last_stall_look_ns < STALL_LOOKS_NS) {
        return;
    }
    c->clock.last_stall_look_ns = now_ns;
    for (uint32_t i = 0; i < c->channels.capacity && !ue_is_ending(&c->common); i++) {
        struct ue_channel_entry *entry = c->channels.slots[i];
        if (entry != NULL && entry->channel != NULL && is_stalled(&c->common, now_ns, entry)) {
            give_up(&c->common, entry->channel);
        }
    }
}

/* endpoint.md 29.2, 29.3, 29.4, 29.5, 29.6. */
static void tick_up(struct ue_conn *c, uint64_t now_ns, uint64_t elapsed_ns) {
    if (ue_has_internal_ack(&c->common)) {
        ue_ack_everything(&c->sender, now_ns);
        ue_carry_out_close(&c->sender, now_ns);
    }
    struct ue_statistics *statistics = &c->common.statistics;
    ue_traffic_tick(&statistics->traffic, &statistics->counters, &statistics->ping, now_ns);
    if (is_silent(&c->receiver, now_ns)) {
        ue_want_close(&c->common, UE_CLOSE_CONNECTION_TIMEOUT, UE_CLOSE_NONE);
        ue_carry_out_close(&c->sender, now_ns);
        return;
    }
    tick_channels(&c->sender, now_ns);
    if (ue_carry_out_close(&c->sender, now_ns)) {
        return;
    }
    ue_options_tick(&c->sender, now_ns);
    tick_stalls(c, now_ns);
    if (ue_carry_out_close(&c->sender, now_ns)) {
        return;
    }
    if (!ue_is_server(&c->common)) {
        ue_client_handshake_tick(&c->handshake.client, now_ns);
        ue_conn_send_handshake(c);
    }
    if (!ue_conn_is_client_restarting(c)) {
        tick_flush(&c->sender, now_ns);
    }
    tick_budget(c, elapsed_ns);
}

void ue_conn_tick(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_begin_input(c);
    if (!c->clock.has_ticked) {
        c->clock.has_ticked = true;
        c->receiver.last_receive_ns = now_ns;
        c->clock.last_tick_ns = now_ns;
    }
    uint64_t elapsed_ns = now_ns - c->clock.last_tick_ns;
    c->clock.last_tick_ns = now_ns;
    c->sender.frame_time_ms = (uint8_t)(elapsed_ns / 1000000 < 255 ? elapsed_ns / 1000000 : 255);
    if (c->common.life.state == UE_CONN_HANDSHAKE) {
        tick_handshake(c, now_ns);
    } else if (ue_is_up(&c->common)) {
        tick_up(c, now_ns, elapsed_ns);
        ue_carry_out_close(&c->sender, now_ns);
    }
    ue_output_queue_tick(&c->sender.datagrams);
    ue_output_queue_tick(&c->common.events);
    ue_spares_tick(&c->channels.out_recs, &c->common.share);
    c->sender.flushed_this_tick = false;
    c->sender.burst_packets = 0;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* A server that may not send yet waits for the client, whatever it has to send; a client in a restart handshake waits
   for the server. */
static uint64_t flush_deadline(const struct ue_conn *c) {
    if (!ue_may_send(&c->channels)) {
        return UINT64_MAX;
    }
    if (ue_conn_is_client_restarting(c)) {
        return UINT64_MAX;
    }
    if (c->sender.time_sensitive || c->channels.has_pending_out_rec || ue_send_is_waiting(&c->channels)) {
        return c->clock.last_tick_ns;
    }
    if (ue_has_internal_ack(&c->common)) {
        return UINT64_MAX;
    }
    const struct ue_channel *control = c->channels.control.channel;
    uint64_t resend_ns = control != NULL ? ue_control_deadline(control) : UINT64_MAX;
    uint64_t keep_alive_ns = c->sender.last_send_ns + c->common.config.keep_alive_ns + 1;
    return earlier(earlier(keep_alive_ns, resend_ns), ue_options_deadline(&c->sender, c->clock.last_tick_ns));
}

/* Until when ue_conn_end_receive leaves early packets waiting. */
static uint64_t reorder_deadline(const struct ue_receiver *r) {
    return r->order_cache.count != 0 ? r->order_cache_since_ns + r->common->config.options.reorder_wait_ns : UINT64_MAX;
}

static uint64_t timeout_deadline(const struct ue_receiver *r) {
    bool has_timeout = !r->common->config.no_timeouts && !ue_has_internal_ack(r->common);
    return has_timeout ? r->last_receive_ns + timeout_ns(r->common) + 1 : UINT64_MAX;
}

uint64_t ue_conn_deadline(const struct ue_conn *c) {
    uint64_t handshake_ns = ue_is_server(&c->common) ? UINT64_MAX : ue_client_handshake_deadline(&c->handshake.client);
    uint64_t deadline = earlier(timeout_deadline(&c->receiver), handshake_ns);
    if (c->common.life.state == UE_CONN_HANDSHAKE) {
        return deadline;
    }
    return ue_is_up(&c->common) ? earlier(deadline, earlier(flush_deadline(c), reorder_deadline(&c->receiver)))
                                : UINT64_MAX;
}

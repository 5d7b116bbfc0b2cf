/* SPDX-License-Identifier: MIT */
/* Options that the engine does not have and that a peer cannot distinguish from it (endpoint.md 39). */
#include "tools/endpoint/core/sender.h"

#define CLOSE_REPEATS_NS UINT64_C(100000000)

/* The oldest reliable bunch that was not reported, of a packet that left; NULL: none. */
static struct ue_out_rec *oldest_unacked(struct ue_channel *channel) {
    for (struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
        if (!out->acked && out->packet_id != UE_NO_PACKET) {
            return out;
        }
    }
    return NULL;
}

static struct ue_out_rec *oldest_of_all(const struct ue_channel_table *channels, struct ue_channel **owner) {
    struct ue_out_rec *oldest = NULL;
    for (uint32_t i = 0; i < channels->capacity; i++) {
        struct ue_channel *channel = ue_channel_at(channels, i);
        struct ue_out_rec *out = channel != NULL ? oldest_unacked(channel) : NULL;
        if (out != NULL && (oldest == NULL || out->sent_ns < oldest->sent_ns)) {
            oldest = out;
            *owner = channel;
        }
    }
    return oldest;
}

static uint64_t tick_ns(const struct ue_sender *s) {
    return (uint64_t)s->frame_time_ms * 1000000;
}

/* A round trip and a tick, at least two ticks: the report is later than that only if it was lost. */
static uint64_t probe_after_ns(const struct ue_sender *s) {
    uint64_t round_trip_ns = s->common->statistics.ping.smoothed_ns;
    return tick_ns(s) + (round_trip_ns > tick_ns(s) ? round_trip_ns : tick_ns(s));
}

static bool has_probe(const struct ue_sender *s) {
    const struct ue_conn_options *options = &s->common->config.options;
    return options->tail_probe || options->tail_probe_data;
}

/* When to ask for the report of a bunch: after it left, and again after each time that it was asked for. */
static uint64_t probe_ns(const struct ue_sender *s, const struct ue_out_rec *out) {
    return (out->sent_ns > s->last_probe_ns ? out->sent_ns : s->last_probe_ns) + probe_after_ns(s);
}

/* The loss of a packet is detected only by a later one (endpoint.md 39.1). */
static void probe(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out) {
    s->last_probe_ns = now_ns;
    s->common->statistics.counters.probes++;
    if (s->common->config.options.tail_probe_data) {
        ue_retransmit_early(s, now_ns, channel, out);
    } else {
        ue_send_buffer_begin(s, now_ns);
    }
    s->time_sensitive = true;
}

/* Not in the tick that wrote the bunch. */
static bool is_repeating(const struct ue_sender *s) {
    return s->repeat_ticks_left != 0 && s->repeat_ticks_left <= s->common->config.options.repeat_ticks;
}

/* A packet for the copies of a bunch that left in one of the last ticks (endpoint.md 39.12). */
static void repeat(struct ue_sender *s, uint64_t now_ns) {
    s->common->statistics.counters.repeat_packets++;
    s->time_sensitive = ue_send_buffer_begin(s, now_ns);
}

void ue_options_tick(struct ue_sender *s, uint64_t now_ns) {
    bool repeats = is_repeating(s) && ue_sender_is_ready(s);
    s->repeat_ticks_left -= s->repeat_ticks_left != 0;
    if (!(repeats || has_probe(s)) || !ue_may_send(s->channels) || ue_has_internal_ack(s->common) ||
        !ue_send_buffer_is_empty(s)) {
        return;
    }
    struct ue_channel *channel = NULL;
    struct ue_out_rec *out = oldest_of_all(s->channels, &channel);
    if (out == NULL) {
        return;
    }
    if (has_probe(s) && now_ns >= probe_ns(s, out)) {
        probe(s, now_ns, channel, out);
    } else if (repeats) {
        repeat(s, now_ns);
    }
}

uint64_t ue_options_deadline(const struct ue_sender *s, uint64_t last_tick_ns) {
    struct ue_channel *channel = NULL;
    struct ue_out_rec *out = is_repeating(s) || has_probe(s) ? oldest_of_all(s->channels, &channel) : NULL;
    if (out == NULL) {
        return UINT64_MAX;
    }
    return is_repeating(s) ? last_tick_ns : probe_ns(s, out);
}

/* Sends CloseReason and the close again: the peer may lack either (endpoint.md 39.7). */
void ue_options_repeat_close(struct ue_sender *s, uint64_t now_ns) {
    struct ue_channel *channel = ue_channel_find(s->channels, 0);
    if (channel == NULL || now_ns < s->next_close_ns) {
        return;
    }
    s->next_close_ns = now_ns + CLOSE_REPEATS_NS;
    s->burst_packets = 0;
    ue_control_repeat(s, now_ns, channel, UE_NO_TIME);
    ue_send_buffer_flush(s, now_ns);
}

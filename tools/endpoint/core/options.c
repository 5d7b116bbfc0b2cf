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

static uint64_t probe_after_ns(const struct ue_common *common, uint64_t elapsed_ns) {
    uint64_t by_rtt = common->statistics.ping.smoothed_ns + common->statistics.ping.smoothed_ns / 2;
    return by_rtt > 2 * elapsed_ns ? by_rtt : 2 * elapsed_ns;
}

/* The loss of the last packet of a burst is detected only by a later one (endpoint.md 39.1). */
static void probe(struct ue_sender *s, uint64_t now_ns) {
    struct ue_channel *channel = NULL;
    uint64_t wait_ns = probe_after_ns(s->common, (uint64_t)s->frame_time_ms * 1000000);
    if (now_ns - s->last_send_ns < wait_ns || now_ns - s->last_probe_ns < wait_ns || !ue_send_buffer_is_empty(s)) {
        return;
    }
    struct ue_out_rec *out = oldest_of_all(s->channels, &channel);
    if (out == NULL) {
        return;
    }
    s->last_probe_ns = now_ns;
    s->common->statistics.counters.probes++;
    if (s->common->config.options.tail_probe_data) {
        ue_retransmit_early(s, now_ns, channel, out);
    } else {
        ue_send_buffer_begin(s, now_ns);
    }
    s->time_sensitive = true;
}

void ue_options_tick(struct ue_sender *s, uint64_t now_ns) {
    const struct ue_conn_options *options = &s->common->config.options;
    if ((options->tail_probe || options->tail_probe_data) && ue_may_send(s->channels) &&
        !ue_has_internal_ack(s->common)) {
        probe(s, now_ns);
    }
}

/* Sends CloseReason and the close again: the peer may lack either (endpoint.md 39.7). */
void ue_options_repeat_close(struct ue_sender *s, uint64_t now_ns) {
    struct ue_channel *channel = ue_channel_find(s->channels, 0);
    if (channel == NULL || now_ns - s->last_probe_ns < CLOSE_REPEATS_NS) {
        return;
    }
    s->last_probe_ns = now_ns;
    s->burst_packets = 0;
    ue_control_repeat(s, now_ns, channel, UE_NO_TIME);
    ue_send_buffer_flush(s, now_ns);
}

/* SPDX-License-Identifier: MIT */
/* Options that the engine does not have and that a peer cannot distinguish from it (endpoint.md 39). */
#include "tools/endpoint/core/connection.h"

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

static struct ue_channel *channel_at(const struct ue_conn *c, uint32_t slot) {
    return c->channels.slots[slot] != NULL ? c->channels.slots[slot]->channel : NULL;
}

static struct ue_out_rec *oldest_of_all(const struct ue_conn *c, struct ue_channel **owner) {
    struct ue_out_rec *oldest = NULL;
    for (uint32_t i = 0; i < c->channels.capacity; i++) {
        struct ue_channel *channel = channel_at(c, i);
        struct ue_out_rec *out = channel != NULL ? oldest_unacked(channel) : NULL;
        if (out != NULL && (oldest == NULL || out->sent_ns < oldest->sent_ns)) {
            oldest = out;
            *owner = channel;
        }
    }
    return oldest;
}

static uint64_t probe_after_ns(const struct ue_conn *c, uint64_t elapsed_ns) {
    uint64_t by_rtt = c->ping.smoothed_ns + c->ping.smoothed_ns / 2;
    return by_rtt > 2 * elapsed_ns ? by_rtt : 2 * elapsed_ns;
}

/* The fate of a burst's last packet is learnt only from a later one. */
static void probe(struct ue_conn *c, uint64_t now_ns) {
    struct ue_channel *channel = NULL;
    uint64_t wait_ns = probe_after_ns(c, (uint64_t)c->frame_time_ms * 1000000);
    if (now_ns - c->last_send_ns < wait_ns || now_ns - c->last_probe_ns < wait_ns || !ue_send_buffer_is_empty(c)) {
        return;
    }
    struct ue_out_rec *out = oldest_of_all(c, &channel);
    if (out == NULL) {
        return;
    }
    c->last_probe_ns = now_ns;
    c->counters.probes++;
    if (c->config.options.tail_probe_data) {
        ue_retransmit_early(c, now_ns, channel, out);
    } else {
        ue_send_buffer_begin(c, now_ns);
    }
    c->time_sensitive = true;
}

void ue_options_tick(struct ue_conn *c, uint64_t now_ns) {
    const struct ue_conn_options *options = &c->config.options;
    if ((options->tail_probe || options->tail_probe_data) && ue_conn_may_send(c) && !ue_conn_has_internal_ack(c)) {
        probe(c, now_ns);
    }
}

/* The reason and the close behind it: the peer waits for the first while it has only the second. */
void ue_options_repeat_close(struct ue_conn *c, uint64_t now_ns) {
    struct ue_channel *channel = ue_conn_channel(c, 0);
    if (channel == NULL || now_ns - c->last_probe_ns < CLOSE_REPEATS_NS) {
        return;
    }
    c->last_probe_ns = now_ns;
    c->burst_packets = 0;
    ue_control_repeat(c, now_ns, channel, UE_NO_TIME);
    ue_send_buffer_flush(c, now_ns);
}

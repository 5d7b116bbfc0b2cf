/* SPDX-License-Identifier: MIT */
/* What a verdict on an own packet does (endpoint.md 15). */
#include "tools/endpoint/core/connection.h"

static bool waits_for_open(const struct ue_channel *channel) {
    for (const struct ue_out *out = channel->out_first; out != NULL; out = out->next) {
        if (out->open) {
            return true;
        }
    }
    return false;
}

static void released(struct ue_conn *c, struct ue_channel *channel, bool is_closed) {
    if (channel->temporary && channel->open_acked) {
        ue_conn_clean_up(c, channel);
    } else if (is_closed) {
        channel->is_dying = true;
        c->has_dying = true;
    }
}

static void ack_channel(struct ue_conn *c, struct ue_channel *channel, const struct ue_written *written) {
    struct ue_out *next;
    for (struct ue_out *out = written->first; out != NULL; out = next) {
        next = out->next_in_packet;
        out->acked = true;
    }
    if (channel->opened_locally && channel->open_packets.last == written->packet_id && !waits_for_open(channel)) {
        channel->open_acked = true;
    }
    released(c, channel, ue_channel_release(&c->lanes, channel));
}

static void nak_channel(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                        const struct ue_written *written) {
    struct ue_out *next;
    for (struct ue_out *out = written->first; out != NULL; out = next) {
        next = out->next_in_packet;
        ue_resend(c, now_ns, channel, out);
    }
    if (channel->temporary && channel->closing && channel->open_packets.last == written->packet_id) {
        ue_conn_clean_up(c, channel); /* a one-shot channel that was lost is not tried again */
    }
}

/* The channel that wrote, unless its index has changed hands. */
static struct ue_channel *writer(const struct ue_conn *c, const struct ue_written *written) {
    struct ue_channel *channel = written->channel != UE_WRITTEN_NONE ? ue_conn_channel(c, written->channel) : NULL;
    return channel != NULL && channel->id == written->channel_id ? channel : NULL;
}

static void report(struct ue_conn *c, int64_t packet_id, bool delivered) {
    if (c->config.report_packets) {
        const struct ue_event event = {.type = UE_EVENT_PACKET, .packet_id = packet_id, .delivered = delivered};
        ue_event_put(c, &event);
    }
}

void ue_conn_handle_ack(struct ue_conn *c, uint64_t now_ns, int64_t packet_id, bool delivered) {
    struct ue_written written;
    report(c, packet_id, delivered);
    c->traffic.out_judged++;
    if (delivered) {
        c->counters.out_packets_acked++;
        c->out_ack_packet_id = packet_id;
        c->acked_sent_ns = UE_NO_TIME;
    } else {
        c->counters.out_packets_lost++;
        c->traffic.out_lost++;
    }
    while (ue_sent_packets_pop(&c->flight, packet_id, &written)) {
        struct ue_channel *channel = writer(c, &written);
        c->acked_sent_ns = delivered ? written.sent_ns : c->acked_sent_ns;
        if (channel != NULL && delivered) {
            ack_channel(c, channel, &written);
        } else if (channel != NULL) {
            nak_channel(c, now_ns, channel, &written);
        }
    }
}

void ue_conn_ack_everything(struct ue_conn *c, uint64_t now_ns) {
    while (c->last_notified_id + 1 < c->out_packet_id) {
        ue_conn_handle_ack(c, now_ns, ++c->last_notified_id, true);
    }
    ue_conn_bury(c);
}

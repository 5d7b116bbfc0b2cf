/* SPDX-License-Identifier: MIT */
/* What the reports of the peer on own packets do (ReceivedAck, ReceivedNak), and own acks up to 4.21 (endpoint.md 11,
   15, 36). */
#include "tools/endpoint/core/connection.h"

#include <uerudp/seq.h>

static bool waits_for_open(const struct ue_channel *channel) {
    for (const struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
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
        channel->close_acked = true;
        c->has_close_acked = true;
    }
}

static void ack_channel(struct ue_conn *c, struct ue_channel *channel, const struct ue_written *written) {
    struct ue_out_rec *next;
    for (struct ue_out_rec *out = written->first; out != NULL; out = next) {
        next = out->next_in_packet;
        out->acked = true;
    }
    if (channel->opened_locally && channel->open_packets.last == written->packet_id && !waits_for_open(channel)) {
        channel->open_acked = true;
    }
    released(c, channel, ue_channel_release(&c->channels, channel));
}

static void nak_channel(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                        const struct ue_written *written) {
    struct ue_out_rec *next;
    for (struct ue_out_rec *out = written->first; out != NULL; out = next) {
        next = out->next_in_packet;
        ue_retransmit(c, now_ns, channel, out);
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
        ue_event_emit(c, &event);
    }
}

static void handle_report(struct ue_conn *c, uint64_t now_ns, int64_t packet_id, bool delivered) {
    struct ue_written written;
    report(c, packet_id, delivered);
    c->traffic.out_reported++;
    if (delivered) {
        c->counters.out_packets_acked++;
        c->out_ack_packet_id = packet_id;
        c->acked_sent_ns = UE_NO_TIME;
    } else {
        c->counters.out_packets_lost++;
        c->traffic.out_lost++;
    }
    while (ue_sent_packets_pop(&c->sent_packets, packet_id, &written)) {
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
        handle_report(c, now_ns, ++c->last_notified_id, true);
    }
    ue_conn_free_closed_channels(c);
}

/* Acks come before the packet's own bunches: repetitions are written first. */
bool ue_receive_acks(struct ue_conn *c, uint64_t now_ns, const struct ue_packet *packet) {
    struct ue_notify_acks acks;
    uint16_t seq;
    bool delivered;
    ue_notify_begin_acks(&c->notify, packet, &acks);
    while (ue_notify_next_ack(&acks, &seq, &delivered)) {
        c->last_notified_id++;
        if (ue_seq_of(c->last_notified_id) != seq) {
            ue_event_emit_fault(c, UE_CLOSE_ACK_SEQUENCE_MISMATCH, NULL, 0);
            ue_conn_want_close(c, UE_CLOSE_ACK_SEQUENCE_MISMATCH, UE_CLOSE_NONE);
            ue_conn_carry_out_close(c, now_ns);
            return false;
        }
        handle_report(c, now_ns, c->last_notified_id, delivered);
        ue_conn_carry_out_close(c, now_ns);
    }
    ue_notify_end_acks(&c->notify, packet);
    return c->state != UE_CONN_CLOSED;
}

/* Acknowledgements of the legacy layout stand among the bunches (endpoint.md 36). */
void ue_receive_legacy_ack(struct ue_conn *c, uint64_t now_ns, const struct ue_ack *ack) {
    struct ue_legacy_acks acks;
    int64_t packet_id;
    bool delivered;
    int64_t acked = ue_seq_expand(ack->ack_id, c->out_ack_packet_id, UE_PACKET_SEQ_MAX);
    if (acked >= c->out_packet_id) {
        c->counters.malformed++; /* of a packet that was never sent */
        return;
    }
    ue_legacy_begin(&c->legacy, acked, &acks);
    while (ue_legacy_next(&acks, &packet_id, &delivered)) {
        if (packet_id > c->last_notified_id) {
            c->last_notified_id = packet_id;
            handle_report(c, now_ns, packet_id, delivered);
        }
    }
    if (ue_conn_is_server(c)) {
        c->peer_wants_frame_time = ack->has_frame_time;
    }
    if (c->acked_sent_ns != UE_NO_TIME) {
        uint32_t frame_time_ms = c->config.want_frame_time ? ack->frame_time_ms : 0;
        ue_ping_feed(&c->ping, c->out_ack_packet_id, c->out_packet_id - 1, c->acked_sent_ns, now_ns, frame_time_ms);
        c->acked_sent_ns = UE_NO_TIME;
    }
}

/* From 4.20 on every build exchanges frame times. */
void ue_send_legacy_ack(struct ue_conn *c, uint64_t now_ns, int64_t packet_id) {
    bool is_server = ue_conn_is_server(c);
    bool is_timed = c->out_context.profile.channel == UE_CHANNEL_PACKED &&
                    (is_server ? c->peer_wants_frame_time : c->config.want_frame_time);
    const struct ue_item item = {
        .is_ack = true,
        .ack = {.ack_id = ue_seq_of(packet_id),
                .has_frame_time = is_timed,
                .frame_time_ms = is_timed && is_server ? c->frame_time_ms : 0,
                .remote_kbps = c->traffic.last.in_bytes / 1024},
    };
    ue_send_buffer_append(c, now_ns, &item);
}

void ue_send_legacy_acks_again(struct ue_conn *c, uint64_t now_ns) {
    int64_t packet_id;
    while (ue_legacy_next_resend(&c->legacy, &packet_id)) {
        ue_send_legacy_ack(c, now_ns, packet_id);
    }
}

/* SPDX-License-Identifier: MIT */
/* What the reports of the peer on own packets do (ReceivedAck, ReceivedNak), and own acks up to 4.21 (endpoint.md 11,
   15, 36). */
#include "tools/endpoint/core/sender.h"

#include <uerudp/seq.h>

static bool waits_for_open(const struct ue_channel *channel) {
    for (const struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
        if (out->open) {
            return true;
        }
    }
    return false;
}

/* endpoint.md 15.3, 15.4. */
static void released(struct ue_channel_table *channels, struct ue_channel *channel, bool is_closed) {
    if (channel->temporary && channel->open_acked) {
        ue_channel_clean_up(channels, channel);
    } else if (is_closed) {
        channel->close_acked = true;
        channels->has_close_acked = true;
    }
}

/* endpoint.md 15.2, 15.3, 15.4. */
static void ack_channel(struct ue_channel_table *channels, struct ue_channel *channel,
                        const struct ue_written *written) {
    struct ue_out_rec *next;
    for (struct ue_out_rec *out = written->first; out != NULL; out = next) {
        next = out->next_in_packet;
        out->acked = true;
    }
    if (channel->opened_locally && !channel->open_acked && channel->open_packets.last == written->packet_id &&
        !waits_for_open(channel)) {
        channel->open_acked = true;
    }
    released(channels, channel, ue_channel_release(channels, channel));
}

/* endpoint.md 15.4, 15.5, 15.6. */
static void nak_channel(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel,
                        const struct ue_written *written) {
    struct ue_out_rec *next;
    for (struct ue_out_rec *out = written->first; out != NULL; out = next) {
        next = out->next_in_packet;
        ue_retransmit(s, now_ns, channel, out);
    }
    if (channel->temporary && channel->closing && channel->open_packets.last == written->packet_id) {
        ue_channel_clean_up(s->channels, channel); /* a one-shot channel that was lost is not tried again */
    }
}

/* The channel that wrote, unless its index has changed hands. */
static struct ue_channel *writer(const struct ue_channel_table *channels, const struct ue_written *written) {
    struct ue_channel *channel =
        written->channel != UE_WRITTEN_NONE ? ue_channel_find(channels, written->channel) : NULL;
    return channel != NULL && channel->id == written->channel_id ? channel : NULL;
}

static void report(struct ue_common *common, int64_t packet_id, bool delivered) {
    if (common->config.report_packets) {
        const struct ue_event event = {.type = UE_EVENT_PACKET, .packet_id = packet_id, .delivered = delivered};
        ue_event_emit(common, &event);
    }
}

/* endpoint.md 15.2, 15.5, 31.3. */
static void handle_report(struct ue_sender *s, uint64_t now_ns, int64_t packet_id, bool delivered) {
    struct ue_written written;
    report(s->common, packet_id, delivered);
    if (delivered) {
        s->common->statistics.counters.out_packets_acked++;
        s->out_ack_packet_id = packet_id;
        s->acked_sent_ns = UE_NO_TIME;
    } else {
        s->common->statistics.counters.out_packets_lost++;
    }
    while (ue_sent_packets_pop(&s->sent_packets, packet_id, &written)) {
        struct ue_channel *channel = writer(s->channels, &written);
        s->acked_sent_ns = delivered ? written.sent_ns : s->acked_sent_ns;
        if (channel != NULL && delivered) {
            ack_channel(s->channels, channel, &written);
        } else if (channel != NULL) {
            nak_channel(s, now_ns, channel, &written);
        }
    }
}

/* endpoint.md 1.7. */
void ue_ack_everything(struct ue_sender *s, uint64_t now_ns) {
    while (s->last_notified_id + 1 < s->out_packet_id) {
        handle_report(s, now_ns, ++s->last_notified_id, true);
    }
    ue_free_closed_channels(s->channels);
}

/* Acks come before the packet's own bunches: repetitions are written first (endpoint.md 8.7, 11.2, 15.1). */
bool ue_receive_acks(struct ue_sender *s, uint64_t now_ns, const struct ue_packet *packet) {
    struct ue_notify_acks acks;
    uint16_t seq;
    bool delivered;
    ue_notify_begin_acks(&s->packet_notify, packet, &acks);
    while (ue_notify_next_ack(&acks, &seq, &delivered)) {
        s->last_notified_id++;
        if (ue_seq_of(s->last_notified_id) != seq) {
            ue_want_close_for_fault(s->common, UE_CLOSE_ACK_SEQUENCE_MISMATCH, NULL, 0);
            ue_carry_out_close(s, now_ns);
            return false;
        }
        handle_report(s, now_ns, s->last_notified_id, delivered);
        ue_carry_out_close(s, now_ns);
    }
    ue_notify_end_acks(&s->packet_notify, packet);
    return s->common->life.state != UE_CONN_CLOSED;
}

void ue_read_frame_time(struct ue_sender *s, uint64_t now_ns, bool has_frame_time, uint32_t frame_time_ms) {
    if (ue_is_server(s->common)) {
        s->peer_wants_frame_time = has_frame_time;
    }
    if (s->acked_sent_ns != UE_NO_TIME) {
        ue_ping_feed(&s->common->statistics.ping, s->out_ack_packet_id, s->out_packet_id - 1, s->acked_sent_ns, now_ns,
                     s->common->config.want_frame_time ? frame_time_ms : 0);
        s->acked_sent_ns = UE_NO_TIME; /* each packet gives one sample */
    }
}

/* Acknowledgements of the legacy layout stand among the bunches (endpoint.md 36.3, 36.5). */
void ue_receive_legacy_ack(struct ue_sender *s, uint64_t now_ns, const struct ue_ack *ack) {
    struct ue_legacy_acks acks;
    int64_t packet_id;
    bool delivered;
    int64_t acked = ue_seq_expand(ack->ack_id, s->out_ack_packet_id, UE_PACKET_SEQ_MAX);
    if (acked >= s->out_packet_id) {
        s->common->statistics.counters.malformed++; /* of a packet that was never sent */
        return;
    }
    ue_legacy_begin(&s->legacy, acked, &acks);
    while (ue_legacy_next(&acks, &packet_id, &delivered)) {
        if (packet_id > s->last_notified_id) {
            s->last_notified_id = packet_id;
            handle_report(s, now_ns, packet_id, delivered);
        }
    }
    ue_read_frame_time(s, now_ns, ack->has_frame_time, ack->frame_time_ms);
}

/* From 4.20 on every build exchanges frame times (endpoint.md 36.1). */
void ue_send_legacy_ack(struct ue_sender *s, uint64_t now_ns, int64_t packet_id) {
    bool is_server = ue_is_server(s->common);
    bool is_timed = s->common->context.profile.channel == UE_CHANNEL_PACKED &&
                    (is_server ? s->peer_wants_frame_time : s->common->config.want_frame_time);
    const struct ue_item item = {
        .is_ack = true,
        .ack = {.ack_id = ue_seq_of(packet_id),
                .has_frame_time = is_timed,
                .frame_time_ms = is_timed && is_server ? s->frame_time_ms : 0,
                .remote_kbps = s->common->statistics.traffic.in_bytes_per_second / 1024},
    };
    ue_send_buffer_append(s, now_ns, &item);
}

/* endpoint.md 36.2. */
void ue_send_legacy_acks_again(struct ue_sender *s, uint64_t now_ns) {
    int64_t packet_id;
    while (ue_legacy_next_resend(&s->legacy, &packet_id)) {
        ue_send_legacy_ack(s, now_ns, packet_id);
    }
}

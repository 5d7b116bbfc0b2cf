/* SPDX-License-Identifier: MIT */
/* The packet being filled (SendBuffer; endpoint.md 25 to 27). */
#include "tools/endpoint/core/connection.h"

#define HEAD_BYTES_MAX 1200 /* wrapper 512, magic 4, header and history 40, a game's own bits 512 */
#define SLACK_BYTES 16      /* terminators, and the codec's whole words */

/* Own packets in flight beyond which the peer could not distinguish new ones from old (endpoint.md 28). */
#define WINDOW_MAX (UE_PACKET_SEQ_MAX / 2 - 8)

static const uint8_t zeros[HEAD_BYTES_MAX];

void ue_send_buffer_discard(struct ue_conn *c) {
    ue_share_free_block(&c->share, c->packer.parcel);
    c->packer.parcel = NULL;
    c->packer.last.end_bit = 0;
}

size_t ue_send_buffer_used_bits(const struct ue_conn *c) {
    return ue_send_buffer_is_empty(c) ? 0 : c->packer.bit - c->limits.prefix_bits;
}

size_t ue_send_buffer_free_bits(const struct ue_conn *c) {
    size_t used = ue_send_buffer_used_bits(c);
    size_t taken = used + (used > 0 ? 1 : c->limits.header_bits + 1);
    return taken < c->limits.buffer_bits ? c->limits.buffer_bits - taken : 0;
}

/* The first packet of a tick carries the clock; before 4.25 each one carries the incoming rate. */
static void begin_info(const struct ue_conn *c, struct ue_packet *packet) {
    enum ue_packet_layout layout = c->out_context.profile.packet;
    packet->has_info = layout >= UE_PACKET_JITTER && !c->flushed_this_tick;
    bool can_time = packet->has_info || layout == UE_PACKET_KBPS;
    packet->has_frame_time = can_time && (ue_conn_is_server(c) ? c->peer_wants_frame_time : c->config.want_frame_time);
    packet->extra = (struct ue_view){zeros, 0, c->out_context.settings.extra_bits};
}

static void begin_head(struct ue_conn *c, struct ue_datagram *head) {
    const struct ue_settings *settings = &c->out_context.settings;
    head->prefix = (struct ue_prefix){0};
    head->packet = (struct ue_packet){0};
    if (ue_conn_has_internal_ack(c)) {
        return;
    }
    head->prefix = (struct ue_prefix){
        .wrapper = {zeros, 0, (size_t)settings->skip_bytes * 8},
        .magic = settings->magic & (uint32_t)ue_bits_mask(settings->magic_bits),
        .session_id = c->out_context.ids ? c->session_id : 0,
        .client_id = c->out_context.ids ? c->client_id : 0,
    };
    if (ue_conn_is_legacy(c)) {
        head->packet.seq = ue_seq_of(c->out_packet_id);
        head->packet.extra = (struct ue_view){zeros, 0, settings->extra_bits};
    } else {
        ue_notify_write(&c->notify, false, &head->packet);
        begin_info(c, &head->packet);
    }
}

static uint8_t kbps(const struct ue_conn *c) {
    uint32_t rate = c->traffic.last.in_bytes / 1024;
    return rate < 255 ? (uint8_t)rate : 255;
}

static void fill_info(struct ue_conn *c, uint64_t now_ns, struct ue_packet *packet) {
    if (packet->has_info) {
        packet->jitter_ms = ue_jitter_clock_read(&c->jitter_clock, now_ns);
    }
    if (packet->has_frame_time && ue_conn_is_server(c)) {
        packet->frame_time_ms = c->frame_time_ms;
    }
    if (c->out_context.profile.packet == UE_PACKET_KBPS) {
        packet->remote_kbps = kbps(c);
    }
}

static int64_t in_flight(const struct ue_conn *c) {
    return c->out_packet_id - c->last_notified_id - 1;
}

static size_t room_bytes(const struct ue_conn *c) {
    return ue_bits_bytes(c->limits.prefix_bits + c->limits.buffer_bits) + SLACK_BYTES;
}

/* Writes the current header; *bit becomes its length. */
static bool write_head(struct ue_conn *c, uint64_t now_ns, uint8_t *bytes, size_t size_bytes, size_t *bit) {
    struct ue_send_buffer *p = &c->packer;
    struct ue_fault fault;
    *bit = 0;
    p->head_ns = now_ns;
    fill_info(c, now_ns, &p->head.packet);
    return ue_datagram_encode_head(&c->out_context, &p->head, bytes, size_bytes, bit, &fault) == UE_OK;
}

bool ue_conn_is_ready(const struct ue_conn *c) {
    struct ue_send_budget budget = c->budget;
    return ue_conn_has_internal_ack(c) ||
           ue_send_budget_is_ready(&budget, (uint32_t)ue_send_buffer_used_bits(c), false);
}

bool ue_send_buffer_begin(struct ue_conn *c, uint64_t now_ns) {
    struct ue_send_buffer *p = &c->packer;
    if (p->parcel != NULL) {
        return true;
    }
    if (in_flight(c) >= WINDOW_MAX || c->config.is_mute) {
        return false;
    }
    p->parcel = ue_outbox_new(&c->datagrams, room_bytes(c));
    if (p->parcel == NULL) {
        c->counters.outbox_full++;
        return false;
    }
    begin_head(c, &p->head);
    p->clock_before = c->jitter_clock;
    if (!write_head(c, now_ns, p->parcel->bytes, p->parcel->size_bytes, &p->bit)) {
        ue_send_buffer_discard(c);
        return false;
    }
    p->head_bits = p->bit;
    p->may_merge = false;
    p->bunches = 0;
    p->last.end_bit = 0;
    return true;
}

bool ue_send_buffer_put(struct ue_conn *c, const struct ue_item *item) {
    struct ue_send_buffer *p = &c->packer;
    struct ue_fault fault;
    size_t bit = p->bit;
    if (ue_item_encode(&c->out_context, item, p->parcel->bytes, p->parcel->size_bytes, &bit, &fault) != UE_OK ||
        bit + 1 > c->limits.prefix_bits + c->limits.buffer_bits) {
        return false;
    }
    p->bit = bit;
    return true;
}

bool ue_send_buffer_refresh_head(struct ue_conn *c, uint64_t now_ns) {
    struct ue_send_buffer *p = &c->packer;
    uint8_t head[HEAD_BYTES_MAX];
    size_t bit;
    if (ue_conn_has_internal_ack(c) || ue_conn_is_legacy(c)) {
        return true;
    }
    if (p->head_ns == now_ns && ue_notify_is_written(&c->notify)) {
        return true;
    }
    bool is_fresh = ue_notify_write(&c->notify, true, &p->head.packet);
    c->jitter_clock = p->clock_before;
    if (write_head(c, now_ns, head, sizeof head, &bit) && bit == p->head_bits) {
        ue_bits_copy(p->parcel->bytes, 0, head, 0, bit);
    }
    return is_fresh;
}

/* SPDX-License-Identifier: MIT */
/* The packet being filled (SendBuffer; endpoint.md 25 to 27). */
#include "tools/endpoint/core/datagram_compression.h"
#include "tools/endpoint/core/sender.h"

#define HEAD_BYTES_MAX 1200 /* wrapper 512, magic 4, header and history 40, a game's own bits 512 */
#define SLACK_BYTES 16      /* terminators, and the codec's whole words */

/* Own packets in flight beyond which the peer could not distinguish new ones from old (endpoint.md 28). */
#define WINDOW_MAX (UE_PACKET_SEQ_MAX / 2 - 8)

static const uint8_t zeros[HEAD_BYTES_MAX];

void ue_send_buffer_discard(struct ue_sender *s) {
    ue_share_free_block(&s->common->share, s->send_buffer.block);
    s->send_buffer.block = NULL;
    s->send_buffer.last.end_bit = 0;
}

size_t ue_send_buffer_used_bits(const struct ue_sender *s) {
    return ue_send_buffer_is_empty(s) ? 0 : s->send_buffer.bit - s->common->limits.prefix_bits;
}

size_t ue_send_buffer_free_bits(const struct ue_sender *s) {
    size_t used = ue_send_buffer_used_bits(s);
    size_t reserved = used + (used > 0 ? 1 : s->common->limits.header_bits + 1);
    return reserved < s->common->limits.buffer_bits ? s->common->limits.buffer_bits - reserved : 0;
}

/* The first packet of a tick carries the clock; before 4.25 each one carries the incoming rate (endpoint.md 31.1). */
static void begin_info(const struct ue_sender *s, struct ue_packet *packet) {
    enum ue_packet_layout layout = s->common->context.profile.packet;
    packet->has_info = layout >= UE_PACKET_JITTER && !s->flushed_this_tick;
    bool can_time = packet->has_info || layout == UE_PACKET_KBPS;
    packet->has_frame_time =
        can_time && (ue_is_server(s->common) ? s->peer_wants_frame_time : s->common->config.want_frame_time);
    packet->extra = (struct ue_view){zeros, 0, s->common->context.settings.extra_bits};
}

/* What stands before the packet header. The id that this packet gets from the reliability handler is counted when it
   leaves. */
static void fill_front(const struct ue_sender *s, struct ue_datagram *head) {
    const struct ue_context *context = &s->common->context;
    head->prefix = (struct ue_prefix){0};
    if (!ue_has_internal_ack(s->common)) {
        head->prefix = (struct ue_prefix){
            .wrapper = {zeros, 0, (size_t)context->settings.skip_bytes * 8},
            .magic = context->settings.magic & (uint32_t)ue_bits_mask(context->settings.magic_bits),
            .session_id = context->ids ? s->common->session_id : 0,
            .client_id = context->ids ? s->common->client_id : 0,
        };
    }
    head->handlers.is_opaque = false;
    if (context->settings.handlers[0] == UE_HANDLER_NONE) {
        return;
    }
    head->handlers = (struct ue_handlers){0};
    size_t i = ue_handler_index(&context->settings, UE_HANDLER_RELIABILITY);
    if (i < UE_HANDLERS_MAX) {
        head->handlers.components[i].reliability_id = s->reliability.out_id + 1;
        head->handlers.components[i].reliability_ack = s->send_buffer.reliability_ack;
    }
}

static void begin_packet(struct ue_sender *s, struct ue_packet *packet) {
    *packet = (struct ue_packet){0};
    if (ue_has_internal_ack(s->common)) {
        return;
    }
    if (ue_is_legacy(s->common)) {
        packet->seq = ue_seq_of(s->out_packet_id);
        packet->extra = (struct ue_view){zeros, 0, s->common->context.settings.extra_bits};
    } else {
        ue_notify_write(&s->packet_notify, false, packet);
        begin_info(s, packet);
    }
}

static uint8_t kbps(const struct ue_common *common) {
    uint32_t rate = common->statistics.traffic.in_bytes_per_second / 1024;
    return rate < 255 ? (uint8_t)rate : 255;
}

static void fill_info(struct ue_sender *s, uint64_t now_ns, struct ue_packet *packet) {
    if (packet->has_info) {
        packet->jitter_ms = ue_jitter_clock_read(&s->jitter_clock, now_ns);
    }
    if (packet->has_frame_time && ue_is_server(s->common)) {
        packet->frame_time_ms = s->frame_time_ms;
    }
    if (s->common->context.profile.packet == UE_PACKET_KBPS) {
        packet->remote_kbps = kbps(s->common);
    }
}

static int64_t in_flight(const struct ue_sender *s) {
    return s->out_packet_id - s->last_notified_id - 1;
}

static size_t room_bytes(const struct ue_common *common) {
    return ue_bits_bytes(common->limits.prefix_bits + common->limits.buffer_bits) + SLACK_BYTES;
}

/* Writes the current header; *bit becomes its length. */
static bool write_head(struct ue_sender *s, uint64_t now_ns, uint8_t *bytes, size_t size_bytes, size_t *bit) {
    struct ue_send_buffer *p = &s->send_buffer;
    struct ue_datagram head;
    struct ue_fault fault;
    *bit = 0;
    p->head_ns = now_ns;
    fill_info(s, now_ns, &p->packet);
    fill_front(s, &head);
    head.packet = p->packet;
    return ue_datagram_encode_head(&s->common->context, &head, bytes, size_bytes, bit, &fault) == UE_OK;
}

/* endpoint.md 30.3. */
bool ue_sender_is_ready(const struct ue_sender *s) {
    struct ue_send_budget budget = s->budget;
    return ue_has_internal_ack(s->common) ||
           ue_send_budget_is_ready(&budget, (uint32_t)ue_send_buffer_used_bits(s), false);
}

/* endpoint.md 26.2, 28.2. */
bool ue_send_buffer_begin(struct ue_sender *s, uint64_t now_ns) {
    struct ue_send_buffer *p = &s->send_buffer;
    if (p->block != NULL) {
        return true;
    }
    if (in_flight(s) >= WINDOW_MAX) {
        return false;
    }
    p->block = ue_output_queue_alloc(&s->datagrams, room_bytes(s->common));
    if (p->block == NULL) {
        s->common->statistics.counters.outbox_full++;
        return false;
    }
    begin_packet(s, &p->packet);
    p->reliability_ack = s->reliability.in_id;
    p->clock_before = s->jitter_clock;
    if (!write_head(s, now_ns, p->block->bytes, p->block->size_bytes, &p->bit)) {
        ue_send_buffer_discard(s);
        return false;
    }
    p->head_bits = p->bit;
    p->bunches = 0;
    p->last.end_bit = 0;
    return true;
}

bool ue_send_buffer_put(struct ue_sender *s, const struct ue_item *item) {
    struct ue_send_buffer *p = &s->send_buffer;
    struct ue_fault fault;
    size_t bit = p->bit;
    if (ue_item_encode(&s->common->context, item, p->block->bytes, p->block->size_bytes, &bit, &fault) != UE_OK ||
        bit + 1 > s->common->limits.prefix_bits + s->common->limits.buffer_bits) {
        return false;
    }
    p->bit = bit;
    return true;
}

/* endpoint.md 26.2, 27.3. */
static bool refresh_head(struct ue_sender *s, uint64_t now_ns) {
    struct ue_send_buffer *p = &s->send_buffer;
    uint8_t head[HEAD_BYTES_MAX];
    size_t bit;
    if (ue_has_internal_ack(s->common) || ue_is_legacy(s->common)) {
        return true;
    }
    if (p->head_ns == now_ns && ue_notify_is_written(&s->packet_notify)) {
        return true;
    }
    bool is_fresh = ue_notify_write(&s->packet_notify, true, &p->packet);
    s->jitter_clock = p->clock_before;
    if (write_head(s, now_ns, head, sizeof head, &bit) && bit == p->head_bits) {
        ue_bits_copy(p->block->bytes, 0, head, 0, bit);
    }
    return is_fresh;
}

/* ---- FlushNet ---- */

static size_t finish(struct ue_sender *s) {
    struct ue_fault fault;
    struct ue_send_buffer *p = &s->send_buffer;
    ue_datagram_encode_end(&s->common->context, p->block->bytes, p->block->size_bytes, &p->bit, &fault);
    return ue_bits_bytes(p->bit);
}

/* Replaces a block by what a handler makes of it, of which 0 bytes mean that nothing changes. False: no memory, or
   encryption failed. */
static bool apply(struct ue_sender *s, enum ue_handler handler, struct ue_output_block **block) {
    struct ue_common *common = s->common;
    bool is_encryption = ue_handler_encrypts(handler);
    size_t room_bytes = (*block)->size_bytes + UE_ENCRYPTION_OVERHEAD_BYTES;
    struct ue_output_block *changed = ue_output_queue_alloc(&s->datagrams, room_bytes);
    if (changed == NULL) {
        return false;
    }
    changed->size_bytes = is_encryption ? ue_encryption_encrypt(common->encryption, &common->context, &common->random,
                                                                (*block)->bytes, (*block)->size_bytes, changed->bytes)
                                        : ue_compression_compress(&common->context, (*block)->bytes,
                                                                  (*block)->size_bytes, changed->bytes);
    bool is_changed = changed->size_bytes != 0;
    ue_share_free_block(&common->share, is_changed ? *block : changed);
    *block = is_changed ? changed : *block;
    return is_changed || !is_encryption;
}

/* The packet as its handlers change it, the innermost first. NULL: no memory. */
static struct ue_output_block *apply_handlers(struct ue_sender *s, size_t size_bytes) {
    struct ue_output_block *block = s->send_buffer.block;
    bool has_key = s->is_encrypting && s->common->encryption != NULL;
    block->size_bytes = size_bytes;
    for (size_t i = UE_HANDLERS_MAX; i-- > 0;) {
        enum ue_handler handler = s->common->context.settings.handlers[i];
        if (ue_handler_changes(handler, s->common->config.compress, has_key) && !apply(s, handler, &block)) {
            ue_share_free_block(&s->common->share, block);
            return NULL;
        }
    }
    return block;
}

/* The packet as it is: the only one in the queue keeps its full size, because the next one uses the block again; others
   are cut to their size, where the allocator does it. */
static struct ue_output_block *keep(struct ue_sender *s, size_t size_bytes) {
    struct ue_output_block *block = s->send_buffer.block;
    block->size_bytes = size_bytes;
    struct ue_output_block *cut =
        s->datagrams.count == 0 ? NULL : ue_share_resize(&s->common->share, block, sizeof *block + size_bytes);
    return cut != NULL ? cut : block;
}

/* To the queue of datagrams, encrypted if that is agreed. Returns the size on the wire. */
static size_t hand_out(struct ue_sender *s, size_t size_bytes) {
    bool is_changed = s->common->config.compress || (s->is_encrypting && s->common->encryption != NULL);
    struct ue_output_block *block = is_changed ? apply_handlers(s, size_bytes) : keep(s, size_bytes);
    s->send_buffer.block = NULL;
    if (block == NULL) {
        s->common->statistics.counters.outbox_lost++;
        return size_bytes;
    }
    ue_output_queue_push(&s->datagrams, block);
    return block->size_bytes;
}

/* endpoint.md 27.4, 30.1. */
static void count_out(struct ue_sender *s, size_t size_bytes) {
    s->common->statistics.counters.out_packets++;
    s->common->statistics.counters.out_bytes += size_bytes + UE_IPV4_UDP_BYTES;
    s->common->statistics.counters.ack_packets += s->send_buffer.bunches == 0;
    ue_send_budget_sent(&s->budget, (uint32_t)size_bytes);
}

/* endpoint.md 10.5, 27.3, 39.10. */
static void send_packet(struct ue_sender *s, uint64_t now_ns) {
    size_t size_bytes = finish(s);
    if (refresh_head(s, now_ns)) {
        s->dirty_acks = 0;
    } else if (s->common->config.options.prompt_acks) {
        s->time_sensitive = true;
    }
    count_out(s, hand_out(s, size_bytes));
    ue_sent_packets_push(&s->sent_packets, s->out_packet_id, now_ns);
    if (ue_is_legacy(s->common)) {
        ue_legacy_flushed(&s->legacy);
    } else if (!ue_has_internal_ack(s->common)) {
        ue_notify_commit(&s->packet_notify);
    }
    s->out_packet_id++;
    s->reliability.out_id++;
    s->last_send_ns = now_ns;
    s->flushed_this_tick = true;
}

/* endpoint.md 27.1. */
static bool is_keep_alive_due(const struct ue_sender *s, uint64_t now_ns) {
    return now_ns - s->last_send_ns > s->common->config.keep_alive_ns && !ue_is_ending(s->common) &&
           !ue_has_internal_ack(s->common);
}

/* endpoint.md 27.1, 27.2. */
void ue_send_buffer_flush(struct ue_sender *s, uint64_t now_ns) {
    s->send_buffer.last.end_bit = 0;
    s->time_sensitive = false;
    if (ue_send_buffer_is_empty(s) && s->dirty_acks == 0) {
        if (!is_keep_alive_due(s, now_ns)) {
            return;
        }
        s->common->statistics.counters.keep_alives++;
    }
    if (!ue_may_send(s->channels)) {
        ue_send_buffer_discard(s);
        ue_want_close(s->common, UE_CLOSE_PREMATURE_SEND, UE_CLOSE_NONE);
        return;
    }
    if (!ue_send_buffer_begin(s, now_ns)) {
        return;
    }
    ue_send_unacknowledged_copies(s);
    send_packet(s, now_ns);
}

/* endpoint.md 25.2. */
bool ue_send_buffer_append(struct ue_sender *s, uint64_t now_ns, const struct ue_item *item) {
    if (!ue_send_buffer_begin(s, now_ns)) {
        return false;
    }
    if (ue_send_buffer_put(s, item)) {
        return true;
    }
    if (s->send_buffer.bit == s->send_buffer.head_bits) {
        return false;
    }
    ue_send_buffer_flush(s, now_ns);
    return ue_send_buffer_begin(s, now_ns) && ue_send_buffer_put(s, item);
}

/* SPDX-License-Identifier: MIT */
/* How a packet leaves (FlushNet; endpoint.md 27). */
#include "tools/endpoint/core/connection.h"

static size_t finish(struct ue_conn *c) {
    struct ue_fault fault;
    struct ue_send_buffer *p = &c->packer;
    ue_datagram_encode_end(&c->out_context, p->parcel->bytes, p->parcel->size_bytes, &p->bit, &fault);
    return ue_bits_bytes(p->bit);
}

/* The encrypted form of the packet; NULL: no memory. */
static struct ue_outbox_block *seal(struct ue_conn *c, size_t size_bytes) {
    struct ue_outbox_block *sealed = ue_outbox_new(&c->datagrams, size_bytes + UE_ENCRYPTION_OVERHEAD_BYTES);
    if (sealed != NULL) {
        sealed->size_bytes = ue_encryption_encrypt(c->seal, &c->out_context, &c->random, c->packer.parcel->bytes,
                                                   size_bytes, sealed->bytes);
    }
    ue_share_free_block(&c->share, c->packer.parcel);
    return sealed;
}

/* Moves the packet to the output queue: the only packet keeps its full size, which the next one uses again; others are
   cut to their size, where the allocator does it. */
static struct ue_outbox_block *keep(struct ue_conn *c, size_t size_bytes) {
    struct ue_outbox_block *parcel = c->packer.parcel;
    parcel->size_bytes = size_bytes;
    struct ue_outbox_block *cut =
        c->datagrams.count == 0 ? NULL : ue_share_resize(&c->share, parcel, sizeof *parcel + size_bytes);
    return cut != NULL ? cut : parcel;
}

/* To the outbox, encrypted where that is agreed. Returns the size on the wire. */
static size_t hand_out(struct ue_conn *c, size_t size_bytes) {
    bool is_sealed = c->is_encrypting && c->seal != NULL;
    struct ue_outbox_block *parcel = is_sealed ? seal(c, size_bytes) : keep(c, size_bytes);
    c->packer.parcel = NULL;
    if (parcel == NULL) {
        c->counters.outbox_lost++;
        return size_bytes;
    }
    ue_outbox_add(&c->datagrams, parcel);
    return parcel->size_bytes;
}

static void count_out(struct ue_conn *c, size_t size_bytes) {
    c->counters.out_packets++;
    c->counters.out_bytes += size_bytes + UE_PACKET_OVERHEAD_BYTES;
    c->traffic.out_packets++;
    c->traffic.out_bytes += (uint32_t)size_bytes + UE_PACKET_OVERHEAD_BYTES;
    c->counters.ack_packets += c->packer.bunches == 0;
    ue_send_budget_sent(&c->budget, (uint32_t)size_bytes);
}

static void send_packet(struct ue_conn *c, uint64_t now_ns) {
    size_t size_bytes = finish(c);
    if (ue_send_buffer_refresh_head(c, now_ns)) {
        c->dirty_acks = 0;
    } else if (c->config.options.prompt_acks) {
        c->time_sensitive = true;
    }
    count_out(c, hand_out(c, size_bytes));
    ue_sent_packets_push(&c->flight, c->out_packet_id, now_ns);
    if (ue_conn_is_legacy(c)) {
        ue_legacy_flushed(&c->legacy);
    } else if (!ue_conn_has_internal_ack(c)) {
        ue_notify_commit(&c->notify);
    }
    c->out_packet_id++;
    c->last_send_ns = now_ns;
    c->flushed_this_tick = true;
}

static bool is_keep_alive_due(const struct ue_conn *c, uint64_t now_ns) {
    return now_ns - c->last_send_ns > c->config.keep_alive_ns && !ue_conn_is_ending(c) && !ue_conn_has_internal_ack(c);
}

void ue_send_buffer_flush(struct ue_conn *c, uint64_t now_ns) {
    c->packer.last.end_bit = 0;
    c->time_sensitive = false;
    if (c->config.is_mute) {
        return;
    }
    if (ue_send_buffer_is_empty(c) && c->dirty_acks == 0) {
        if (!is_keep_alive_due(c, now_ns)) {
            return;
        }
        c->counters.keep_alives++;
    }
    if (!ue_conn_may_send(c)) {
        ue_send_buffer_discard(c);
        ue_conn_want_close(c, UE_CLOSE_PREMATURE_SEND, UE_CLOSE_NONE);
        return;
    }
    if (!ue_send_buffer_begin(c, now_ns)) {
        return;
    }
    ue_repeat_reliable(c);
    send_packet(c, now_ns);
}

bool ue_send_buffer_append(struct ue_conn *c, uint64_t now_ns, const struct ue_item *item) {
    if (!ue_send_buffer_begin(c, now_ns)) {
        return false;
    }
    if (ue_send_buffer_put(c, item)) {
        return true;
    }
    if (c->packer.bit == c->packer.head_bits) {
        return false;
    }
    ue_send_buffer_flush(c, now_ns);
    return ue_send_buffer_begin(c, now_ns) && ue_send_buffer_put(c, item);
}

/* SPDX-License-Identifier: MIT */
/* Datagrams of the peer: handlers, header, order, reports, bunches, history (ReceivedRawPacket, ReceivedPacket;
   endpoint.md 8, 9). */
#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/core/datagram_compression.h"

#include <uerudp/seq.h>

#define FORCED_FLUSH_ACKS 256
#define RESEND_CLOSE_NS UINT64_C(1000000000)
#define ANSWERS_UNTIL_NS UINT64_C(10000000000) /* how long a server answers handshake packets, from 5.0 on */
#define QUIET_REPORTS_MAX 200

/* A datagram, and how it came. */
struct arrival {
    const uint8_t *bytes;
    size_t size_bytes;
    bool is_from_cache;
    bool is_encrypted;
};

/* One packet as decoded up to its bunches. */
struct received_packet {
    struct arrival from;
    struct ue_datagram head;
    struct ue_item_range rest;
    struct ue_fault fault;
};

/* endpoint.md 34.1. */
static void fail(struct ue_sender *s, uint64_t now_ns, enum ue_close_reason reason, const struct ue_fault *fault) {
    ue_want_close_for_fault(s->common, reason, fault, 0);
    ue_carry_out_close(s, now_ns);
}

static bool is_handler_field(enum ue_field field) {
    return field >= UE_F_HANDLER_ENCRYPTED && field <= UE_F_HANDLER_PLAIN;
}

/* The outer terminator is the handlers', the inner one the connection's (endpoint.md 8.1, 8.4, 8.8, 34.1). */
static enum ue_close_reason close_for_header_fault(const struct received_packet *p) {
    switch (p->fault.field) {
    case UE_F_TERMINATOR:
        return p->fault.bit == 8 * p->from.size_bytes ? UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR
                                                      : UE_CLOSE_ZERO_LAST_BYTE;
    case UE_F_WRAPPER:
    case UE_F_MAGIC:
    case UE_F_SESSION_ID:
    case UE_F_CLIENT_ID:
    case UE_F_IS_HANDSHAKE: return UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR;
    case UE_F_PACKET_HAS_INFO:
    case UE_F_PACKET_JITTER_MS:
    case UE_F_PACKET_HAS_FRAME_TIME:
    case UE_F_PACKET_FRAME_TIME_MS:
    case UE_F_PACKET_REMOTE_KBPS: return UE_CLOSE_READ_HEADER_EXTRA_FAIL;
    default:
        return is_handler_field(p->fault.field) ? UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR : UE_CLOSE_READ_HEADER_FAIL;
    }
}

/* Until when handshake packets are answered depends on the generation (endpoint.md 2.7). */
static void stop_answering(struct ue_conn *c, uint64_t now_ns) {
    const struct ue_profile *profile = &c->common.context.profile;
    bool is_old = profile->handshake <= UE_HANDSHAKE_B && profile->packet == UE_PACKET_LEGACY;
    bool at_once = profile->handshake == UE_HANDSHAKE_B || profile->handshake == UE_HANDSHAKE_C;
    if (!is_old && (at_once || now_ns - c->common.life.connected_ns >= ANSWERS_UNTIL_NS)) {
        c->handshake.answers = false;
    }
}

/* endpoint.md 8.4, 31.2. */
static void read_jitter(struct ue_common *common, uint64_t now_ns, const struct received_packet *p) {
    if (p->head.packet.has_info && !p->from.is_from_cache) {
        ue_jitter_feed(&common->statistics.jitter, p->head.packet.jitter_ms, now_ns);
    }
}

/* The rest of the packet info: frame times and ping (endpoint.md 8.8, 31.3). */
static void read_info(struct ue_sender *s, uint64_t now_ns, const struct ue_packet *packet) {
    if (packet->has_info || s->common->context.profile.packet == UE_PACKET_KBPS) {
        ue_read_frame_time(s, now_ns, packet->has_frame_time, packet->frame_time_ms);
    }
}

/* ReceivedPacket steps 5 and 6: true when the packet is not for now (endpoint.md 8.5, 8.6, 9.1). */
static bool is_kept_or_dropped(struct ue_receiver *r, uint64_t now_ns, const struct received_packet *p,
                               uint32_t delta) {
    bool corrects = r->common->context.profile.order_cache && !r->common->config.no_order_cache;
    if (delta == 0) {
        r->common->statistics.counters.out_of_order_lost++;
        if (corrects && !ue_order_cache_exists(&r->order_cache)) {
            ue_order_cache_create(&r->order_cache);
        }
        return true;
    }
    if (!ue_order_cache_exists(&r->order_cache) || p->from.is_from_cache) {
        return false;
    }
    bool was_empty = r->order_cache.count == 0;
    switch (ue_order_cache_push(&r->order_cache, delta, p->from.bytes, p->from.size_bytes)) {
    case UE_ORDER_CACHE_KEPT:
        r->common->statistics.counters.out_of_order_recovered++;
        r->order_cache_since_ns = was_empty ? now_ns : r->order_cache_since_ns;
        return true;
    case UE_ORDER_CACHE_DUPLICATE: r->common->statistics.counters.out_of_order_duplicate++; return true;
    case UE_ORDER_CACHE_FULL: return true;
    default: return false;
    }
}

/* The peer waits for acks on packets with bunches; without any, only a quiet endpoint lets it wait
   (endpoint.md 8.10, 39.2). */
static void set_answer_due(struct ue_sender *s, uint32_t bunches) {
    bool is_quiet =
        s->common->config.options.quiet && bunches == 0 && ue_notify_unreported(&s->packet_notify) < QUIET_REPORTS_MAX;
    s->time_sensitive |= !is_quiet;
    s->dirty_acks++;
}

/* endpoint.md 13.1. */
static void flush_if_many_reports(struct ue_sender *s, uint64_t now_ns) {
    if (s->common->context.profile.acks == UE_ACKS_PLAIN && s->dirty_acks >= FORCED_FLUSH_ACKS) {
        ue_send_buffer_flush(s, now_ns);
        if (s->dirty_acks != 0) { /* a packet begun earlier left with its old header */
            ue_send_buffer_flush(s, now_ns);
        }
    }
}

/* Returns whether a bunch was refused: the packet then counts as not delivered (endpoint.md 8.9, 12.3). */
static bool dispatch(struct ue_receiver *r, uint64_t now_ns, const struct received_packet *p, uint32_t *bunches) {
    bool is_refused = ue_dispatch(r, now_ns, p->from.bytes, p->rest, bunches);
    ue_carry_out_close(r->sender, now_ns);
    ue_free_closed_channels(r->channels);
    ue_carry_out_close(r->sender, now_ns);
    return is_refused;
}

/* endpoint.md 8.5, 8.6, 8.7, 8.8, 8.9, 8.10, 10.3, 12.3, 13.3. */
static bool receive_modern(struct ue_receiver *r, uint64_t now_ns, const struct received_packet *p) {
    const struct ue_packet *packet = &p->head.packet;
    uint32_t bunches, delta = ue_notify_delta(&r->sender->packet_notify, packet);
    if (is_kept_or_dropped(r, now_ns, p, delta) || !ue_receive_acks(r->sender, now_ns, packet)) {
        return false;
    }
    uint32_t moved = ue_notify_accept(&r->sender->packet_notify, packet);
    r->in_packet_id += moved;
    if (ue_notify_is_waiting(&r->sender->packet_notify)) {
        r->common->statistics.counters.waited_packets++;
        r->sender->dirty_acks++;
        ue_free_closed_channels(r->channels);
        return false;
    }
    r->common->statistics.counters.in_packets_lost += delta - 1;
    r->common->statistics.counters.in_packets++;
    if (p->fault.status != UE_OK) {
        fail(r->sender, now_ns, UE_CLOSE_READ_HEADER_EXTRA_FAIL, &p->fault);
        return false;
    }
    read_info(r->sender, now_ns, packet);
    bool is_refused = dispatch(r, now_ns, p, &bunches);
    ue_notify_report(&r->sender->packet_notify, packet->seq, !is_refused);
    set_answer_due(r->sender, bunches);
    flush_if_many_reports(r->sender, now_ns);
    return !is_refused;
}

/* endpoint.md 36.1, 36.4. */
static bool receive_legacy(struct ue_receiver *r, uint64_t now_ns, const struct received_packet *p) {
    uint32_t bunches;
    int64_t packet_id = ue_seq_expand(p->head.packet.seq, r->in_packet_id, UE_PACKET_SEQ_MAX);
    if (packet_id <= r->in_packet_id) {
        r->common->statistics.counters.out_of_order_lost++;
        return false;
    }
    r->common->statistics.counters.in_packets_lost += (uint64_t)(packet_id - r->in_packet_id - 1);
    r->in_packet_id = packet_id;
    r->common->statistics.counters.in_packets++;
    bool is_refused = dispatch(r, now_ns, p, &bunches);
    if (!is_refused && r->common->life.state != UE_CONN_CLOSED && ue_may_send(r->channels)) {
        ue_send_legacy_acks_again(r->sender, now_ns);
        ue_send_legacy_ack(r->sender, now_ns, packet_id);
        ue_legacy_add(&r->sender->legacy, packet_id);
        r->sender->time_sensitive = true;
    }
    return !is_refused;
}

/* endpoint.md 1.7. */
static bool receive_without_acks(struct ue_receiver *r, uint64_t now_ns, const struct received_packet *p) {
    uint32_t bunches;
    r->in_packet_id++;
    r->common->statistics.counters.in_packets++;
    return !dispatch(r, now_ns, p, &bunches);
}

/* The reliability handler's part of a packet; NULL: it is not among the handlers. */
static const struct ue_handler_bits *reliability_of(const struct ue_common *common, const struct received_packet *p) {
    size_t i = ue_handler_index(&common->context.settings, UE_HANDLER_RELIABILITY);
    return i < UE_HANDLERS_MAX ? &p->head.handlers.components[i] : NULL;
}

/* prefix_bits counts one byte for each packed id of the reliability handler. */
static size_t bits_beyond_a_byte(uint32_t value) {
    size_t bits = 0;
    while ((value >>= 7) != 0) {
        bits += 8;
    }
    return bits;
}

static size_t header_bit(const struct ue_common *common, const struct received_packet *p) {
    const struct ue_handler_bits *ids = reliability_of(common, p);
    size_t bits = ids != NULL ? bits_beyond_a_byte(ids->reliability_ack) + bits_beyond_a_byte(ids->reliability_id) : 0;
    return common->limits.prefix_bits + bits;
}

static void read_reliability(struct ue_sender *s, const struct received_packet *p) {
    const struct ue_handler_bits *ids = reliability_of(s->common, p);
    if (ids != NULL && ids->reliability_id > s->reliability.in_id) {
        s->reliability.in_id = ids->reliability_id;
    }
}

/* Counts of 8 to 15 are never sent by an engine before 5.8 (endpoint.md 39.9). */
static bool has_odd_history(const struct ue_common *common, const struct received_packet *p) {
    uint64_t nibble = ue_bits_load(p->from.bytes, p->from.size_bytes, header_bit(common, p), 4);
    return nibble >= UE_HISTORY_WORDS_MAX && !p->head.packet.history_flush;
}

/* endpoint.md 8.4. */
static bool receive_packet(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p) {
    c->receiver.last_receive_ns = now_ns;
    c->receiver.last_packet_ns = now_ns;
    c->handshake.client.unanswered = false;
    read_reliability(&c->sender, p);
    bool is_delivered = false;
    if (ue_has_internal_ack(&c->common)) {
        is_delivered = receive_without_acks(&c->receiver, now_ns, p);
    } else if (ue_is_legacy(&c->common)) {
        is_delivered = receive_legacy(&c->receiver, now_ns, p);
    } else if (c->common.config.options.strict_header && has_odd_history(&c->common, p)) {
        fail(&c->sender, now_ns, UE_CLOSE_READ_HEADER_FAIL, NULL);
    } else {
        read_jitter(&c->common, now_ns, p);
        is_delivered = receive_modern(&c->receiver, now_ns, p);
    }
    ue_carry_out_close(&c->sender, now_ns);
    return is_delivered;
}

/* False: the prefix was read, and is of another connection (endpoint.md 8.3). */
static bool has_our_ids(const struct ue_common *common, const struct received_packet *p) {
    const struct ue_prefix *prefix = &p->head.prefix;
    bool is_read = 8 * p->from.size_bytes > common->limits.prefix_bits;
    return !common->context.ids || !is_read ||
           (prefix->session_id == common->session_id && prefix->client_id == common->client_id);
}

static bool is_header_usable(const struct received_packet *p) {
    return p->fault.status == UE_OK || close_for_header_fault(p) == UE_CLOSE_READ_HEADER_EXTRA_FAIL;
}

/* Whether the datagram has only prefix and handlers, with or without a terminator after them: then nothing is wrong
   (endpoint.md 8.1). */
static bool holds_nothing(const struct ue_common *common, const struct received_packet *p) {
    size_t begin = header_bit(common, p);
    size_t bits = 8 * p->from.size_bytes;
    size_t outer, inner;
    if (!ue_bits_last_set(p->from.bytes, bits - 8, bits, &outer) || outer < begin) {
        return false;
    }
    return outer == begin || (ue_bits_last_set(p->from.bytes, begin, outer, &inner) && inner == begin);
}

/* endpoint.md 8.1, 8.4. */
static void close_for_header(struct ue_sender *s, uint64_t now_ns, const struct received_packet *p) {
    if (!holds_nothing(s->common, p)) {
        fail(s, now_ns, close_for_header_fault(p), &p->fault);
    }
}

/* After the peer's first encrypted packet, a clear one is forged or damaged (endpoint.md 8.3). */
static bool is_forged(struct ue_receiver *r, const struct received_packet *p) {
    r->peer_encrypts |= p->from.is_encrypted;
    return r->peer_encrypts && !p->from.is_encrypted && !p->from.is_from_cache;
}

/* Returns whether it was a packet that counts as delivered (endpoint.md 8.1, 8.2, 8.3). */
static bool receive_arrival(struct ue_conn *c, uint64_t now_ns, struct arrival from) {
    struct received_packet p;
    p.from = from;
    ue_turn_context(&c->common);
    ue_datagram_begin(&c->common.context, from.bytes, from.size_bytes, &p.head, &p.rest, &p.fault);
    ue_turn_context(&c->common);
    if (p.head.prefix.is_handshake) {
        ue_conn_receive_handshake(c, now_ns, from.bytes, from.size_bytes);
        return false;
    }
    if (!ue_is_up(&c->common)) {
        return false;
    }
    if (is_forged(&c->receiver, &p)) {
        c->common.statistics.counters.malformed++;
    } else if (!has_our_ids(&c->common, &p)) {
        c->common.statistics.counters.wrong_ids++;
    } else if (!is_header_usable(&p)) {
        close_for_header(&c->sender, now_ns, &p);
    } else if (p.head.handlers.is_opaque) {
        fail(&c->sender, now_ns, UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR, NULL);
    } else {
        stop_answering(c, now_ns);
        return receive_packet(c, now_ns, &p);
    }
    return false;
}

bool ue_receive_datagram(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    const struct arrival from = {.bytes = bytes, .size_bytes = size_bytes};
    return receive_arrival(c, now_ns, from);
}

/* endpoint.md 9.4, 9.5. */
static void flush_cache(struct ue_conn *c, uint64_t now_ns, bool whole) {
    struct ue_early_packet *early;
    while (c->common.life.state != UE_CONN_CLOSED &&
           (early = ue_order_cache_pop(&c->receiver.order_cache, whole)) != NULL) {
        const struct arrival from = {.bytes = early->bytes, .size_bytes = early->size_bytes, .is_from_cache = true};
        receive_arrival(c, now_ns, from);
        ue_share_free_block(&c->common.share, early);
    }
}

/* Undoes what a handler did to the datagram; what it allocates is the caller's. False: forged, or for another key. */
static bool undo(struct ue_common *common, enum ue_handler handler, struct arrival *from, uint8_t **memory) {
    bool is_encryption = ue_handler_encrypts(handler);
    const struct ue_context *context = &common->context;
    size_t room_bytes = is_encryption ? from->size_bytes : ue_compression_room_bytes(context, from->size_bytes);
    uint8_t *clear = ue_share_alloc(&common->share, room_bytes);
    bool was_clear = false;
    if (clear == NULL) {
        return false;
    }
    ue_turn_context(common);
    size_t clear_bytes = is_encryption ? ue_encryption_decrypt(common->encryption, context, from->bytes,
                                                               from->size_bytes, clear, &was_clear)
                                       : ue_compression_decompress(context, from->bytes, from->size_bytes, clear);
    ue_turn_context(common);
    if (was_clear || clear_bytes == 0) {
        ue_share_free_block(&common->share, clear);
        common->statistics.counters.malformed += is_encryption && !was_clear;
        return was_clear || !is_encryption;
    }
    ue_share_free_block(&common->share, *memory);
    *memory = clear;
    *from = (struct arrival){
        .bytes = clear, .size_bytes = clear_bytes, .is_encrypted = from->is_encrypted || is_encryption};
    return true;
}

/* Datagrams that handlers changed are read as the clear ones that they hold (endpoint.md 8.1, 8.3). Anybody can send
   one that no key opens, so it may not end the connection. */
static void receive_changed(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct arrival from = {.bytes = bytes, .size_bytes = size_bytes};
    uint8_t *memory = NULL;
    bool is_readable = true;
    for (size_t i = 0; i < UE_HANDLERS_MAX && is_readable; i++) {
        enum ue_handler handler = c->common.context.settings.handlers[i];
        is_readable = !ue_handler_changes(handler, c->common.config.compress, c->common.encryption != NULL) ||
                      undo(&c->common, handler, &from, &memory);
    }
    if (is_readable) {
        receive_arrival(c, now_ns, from);
    }
    ue_share_free_block(&c->common.share, memory);
}

/* endpoint.md 7.1, 39.7. */
void ue_conn_receive(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    ue_conn_begin_input(c);
    if (c->common.life.state == UE_CONN_CLOSED) {
        if (c->common.config.options.resend_close && now_ns - c->common.life.closed_ns < RESEND_CLOSE_NS) {
            ue_options_repeat_close(&c->sender, now_ns);
        }
        return;
    }
    if (size_bytes == 0) {
        c->common.statistics.counters.malformed++;
        return;
    }
    c->common.statistics.counters.in_bytes += size_bytes + UE_IPV4_UDP_BYTES;
    if (c->common.encryption != NULL || c->common.config.compress) {
        receive_changed(c, now_ns, bytes, size_bytes);
    } else {
        ue_receive_datagram(c, now_ns, bytes, size_bytes);
    }
    if (c->receiver.order_cache.count != 0) {
        flush_cache(c, now_ns, false);
    }
}

/* endpoint.md 9.5, 39.6. */
void ue_conn_end_receive(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_begin_input(c);
    uint64_t wait_ns = c->common.config.options.reorder_wait_ns;
    if (c->receiver.order_cache.count != 0 && now_ns - c->receiver.order_cache_since_ns >= wait_ns) {
        flush_cache(c, now_ns, true);
    }
    ue_deliver_waiting(&c->receiver, now_ns);
    ue_carry_out_close(&c->sender, now_ns);
}

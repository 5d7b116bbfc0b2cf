/* SPDX-License-Identifier: MIT */
/* Datagrams of the peer: which are packets, in what order they count, what their headers say (endpoint.md 7 to 9). */
#include "tools/endpoint/core/connection.h"

#include <uerudp/seq.h>

#define FORCED_FLUSH_ACKS 256
#define RESEND_CLOSE_NS UINT64_C(1000000000)
#define ANSWERS_UNTIL_NS UINT64_C(10000000000) /* how long a server answers handshake packets, from 5.0 on */
#define QUIET_VERDICTS_MAX 200

/* A datagram, and how it came. */
struct arrival {
    const uint8_t *bytes;
    size_t size_bytes;
    bool is_from_cache;
    bool is_sealed;
};

/* One packet as decoded up to its bunches. */
struct received_packet {
    struct arrival from;
    struct ue_datagram head;
    struct ue_item_range rest;
    struct ue_fault fault;
};

static void fail(struct ue_conn *c, uint64_t now_ns, enum ue_close_reason reason, const struct ue_fault *fault) {
    ue_event_fault(c, reason, fault, 0);
    ue_conn_want_close(c, reason, UE_CLOSE_NONE);
    ue_conn_carry_out_close(c, now_ns);
}

static bool is_handler_field(enum ue_field field) {
    return field >= UE_F_HANDLER_ENCRYPTED && field <= UE_F_HANDLER_PLAIN;
}

/* The outer terminator is the handlers', the inner one the connection's. */
static enum ue_close_reason reason_of(const struct received_packet *p) {
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

/* The client may have missed the Ack (endpoint.md 2). */
static void answer_handshake(struct ue_conn *c) {
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    if (!c->answers_handshakes) {
        return;
    }
    size_t size_bytes = ue_listener_ack(&c->out_context, &c->accepted, reply);
    if (size_bytes != 0) {
        ue_outbox_copy(&c->datagrams, reply, size_bytes);
    }
}

static void take_handshake(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    c->counters.handshakes += ue_conn_is_up(c);
    if (ue_conn_is_server(c)) {
        answer_handshake(c);
        return;
    }
    if (c->state == UE_CONN_INVALID) {
        return;
    }
    ue_conn_finish_handshake(c, now_ns,
                             ue_client_handshake_receive(&c->shake, now_ns, bytes, size_bytes, c->last_packet_ns));
}

/* Until when handshake packets are answered depends on the generation. */
static void stop_answering(struct ue_conn *c, uint64_t now_ns) {
    const struct ue_profile *profile = &c->in_context.profile;
    bool is_old = profile->handshake <= UE_HANDSHAKE_B && profile->packet == UE_PACKET_LEGACY;
    bool at_once = profile->handshake == UE_HANDSHAKE_B || profile->handshake == UE_HANDSHAKE_C;
    if (!is_old && (at_once || now_ns - c->connected_ns >= ANSWERS_UNTIL_NS)) {
        c->answers_handshakes = false;
    }
}

static void take_jitter(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p) {
    if (p->head.packet.has_info && !p->from.is_from_cache) {
        ue_jitter_feed(&c->jitter, p->head.packet.jitter_ms, now_ns);
    }
}

/* The rest of the packet info: frame times and ping. */
static void take_info(struct ue_conn *c, uint64_t now_ns, const struct ue_packet *packet) {
    bool has_info = packet->has_info || c->in_context.profile.packet == UE_PACKET_KBPS;
    if (!has_info) {
        return;
    }
    if (ue_conn_is_server(c)) {
        c->peer_wants_frame_time = packet->has_frame_time;
    }
    if (c->acked_sent_ns != UE_NO_TIME) {
        uint32_t frame_time_ms = c->config.want_frame_time ? packet->frame_time_ms : 0;
        ue_ping_feed(&c->ping, c->out_ack_packet_id, c->out_packet_id - 1, c->acked_sent_ns, now_ns, frame_time_ms);
        c->acked_sent_ns = UE_NO_TIME; /* each packet gives one sample */
    }
}

/* ReceivedPacket steps 5 and 6: true when the packet is not for now. */
static bool is_held_back(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p, uint32_t delta) {
    bool corrects = c->in_context.profile.order_cache && !c->config.no_order_cache;
    if (delta == 0) {
        c->counters.out_of_order_lost++;
        if (corrects && !ue_reorder_exists(&c->reorder)) {
            ue_reorder_create(&c->reorder);
        }
        return true;
    }
    if (!ue_reorder_exists(&c->reorder) || p->from.is_from_cache) {
        return false;
    }
    bool was_empty = c->reorder.count == 0;
    switch (ue_reorder_push(&c->reorder, delta, p->from.bytes, p->from.size_bytes)) {
    case UE_REORDER_KEPT:
        c->counters.out_of_order_recovered++;
        c->reorder_since_ns = was_empty ? now_ns : c->reorder_since_ns;
        return true;
    case UE_REORDER_DUPLICATE: c->counters.out_of_order_duplicate++; return true;
    case UE_REORDER_FULL: return true;
    default: return false;
    }
}

/* Acks come before the packet's own bunches: repetitions are written first. */
static bool take_acks(struct ue_conn *c, uint64_t now_ns, const struct ue_packet *packet) {
    struct ue_notify_acks verdicts;
    uint16_t seq;
    bool delivered;
    ue_notify_begin_acks(&c->notify, packet, &verdicts);
    while (ue_notify_next_ack(&verdicts, &seq, &delivered)) {
        c->last_notified_id++;
        if (ue_seq_of(c->last_notified_id) != seq) {
            fail(c, now_ns, UE_CLOSE_ACK_SEQUENCE_MISMATCH, NULL);
            return false;
        }
        ue_conn_handle_ack(c, now_ns, c->last_notified_id, delivered);
        ue_conn_carry_out_close(c, now_ns);
    }
    ue_notify_end_acks(&c->notify, packet);
    return c->state != UE_CONN_CLOSED;
}

/* The peer waits for verdicts on packets with bunches; without any, only a quiet endpoint lets it wait. */
static void note_verdict_due(struct ue_conn *c, uint32_t bunches) {
    bool is_quiet = c->config.options.quiet && bunches == 0 && ue_notify_unreported(&c->notify) < QUIET_VERDICTS_MAX;
    c->time_sensitive |= !is_quiet;
    c->dirty_acks++;
}

static void flush_if_many_verdicts(struct ue_conn *c, uint64_t now_ns) {
    if (c->in_context.profile.acks == UE_ACKS_PLAIN && c->dirty_acks >= FORCED_FLUSH_ACKS) {
        ue_send_buffer_flush(c, now_ns);
        if (c->dirty_acks != 0) { /* a packet begun earlier left with its old header */
            ue_send_buffer_flush(c, now_ns);
        }
    }
}

static void count_lost(struct ue_conn *c, int64_t missing) {
    c->counters.in_packets_lost += (uint64_t)missing;
    c->traffic.in_lost += (uint32_t)missing;
}

/* Returns whether the packet must count as not delivered. */
static bool dispatch(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p, uint32_t *bunches) {
    bool skip = ue_dispatch(c, now_ns, p->from.bytes, p->rest, bunches);
    ue_conn_carry_out_close(c, now_ns);
    ue_conn_bury(c);
    ue_conn_carry_out_close(c, now_ns);
    return skip;
}

static void take_modern(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p) {
    const struct ue_packet *packet = &p->head.packet;
    uint32_t bunches, delta = ue_notify_delta(&c->notify, packet);
    if (is_held_back(c, now_ns, p, delta) || !take_acks(c, now_ns, packet)) {
        return;
    }
    uint32_t moved = ue_notify_accept(&c->notify, packet);
    c->in_packet_id += moved;
    if (ue_notify_is_waiting(&c->notify)) {
        c->counters.waited_packets++;
        c->dirty_acks++;
        ue_conn_bury(c);
        return;
    }
    count_lost(c, (int64_t)delta - 1);
    c->counters.in_packets++;
    if (p->fault.status != UE_OK) {
        fail(c, now_ns, UE_CLOSE_READ_HEADER_EXTRA_FAIL, &p->fault);
        return;
    }
    take_info(c, now_ns, packet);
    bool skip = dispatch(c, now_ns, p, &bunches);
    c->is_in_delivered = !skip;
    ue_notify_report(&c->notify, packet->seq, !skip);
    note_verdict_due(c, bunches);
    flush_if_many_verdicts(c, now_ns);
}

/* From 4.20 on every build exchanges frame times. */
static void write_ack(struct ue_conn *c, uint64_t now_ns, int64_t packet_id) {
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

void ue_conn_repeat_acks(struct ue_conn *c, uint64_t now_ns) {
    int64_t packet_id;
    while (ue_legacy_next_resend(&c->legacy, &packet_id)) {
        write_ack(c, now_ns, packet_id);
    }
}

static void take_legacy(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p) {
    uint32_t bunches;
    int64_t packet_id = ue_seq_expand(p->head.packet.seq, c->in_packet_id, UE_PACKET_SEQ_MAX);
    if (packet_id <= c->in_packet_id) {
        c->counters.out_of_order_lost++;
        return;
    }
    count_lost(c, packet_id - c->in_packet_id - 1);
    c->in_packet_id = packet_id;
    c->counters.in_packets++;
    bool skip = dispatch(c, now_ns, p, &bunches);
    c->is_in_delivered = !skip;
    if (!skip && c->state != UE_CONN_CLOSED && ue_conn_may_send(c)) {
        ue_conn_repeat_acks(c, now_ns);
        write_ack(c, now_ns, packet_id);
        ue_legacy_add(&c->legacy, packet_id);
        c->time_sensitive = true;
    }
}

static void take_without_acks(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p) {
    uint32_t bunches;
    c->in_packet_id++;
    c->counters.in_packets++;
    dispatch(c, now_ns, p, &bunches);
}

/* Counts of 8 to 15 are never sent by an engine before 5.8. */
static bool has_odd_history(const struct ue_conn *c, const struct received_packet *p) {
    uint64_t nibble = ue_bits_load(p->from.bytes, p->from.size_bytes, c->limits.prefix_bits, 4);
    return nibble >= UE_HISTORY_WORDS_MAX && !p->head.packet.history_flush;
}

static void take_packet(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p) {
    c->last_receive_ns = now_ns;
    c->last_packet_ns = now_ns;
    c->shake.unanswered = false;
    if (ue_conn_has_internal_ack(c)) {
        take_without_acks(c, now_ns, p);
    } else if (ue_conn_is_legacy(c)) {
        take_legacy(c, now_ns, p);
    } else if (c->config.options.strict_header && has_odd_history(c, p)) {
        fail(c, now_ns, UE_CLOSE_READ_HEADER_FAIL, NULL);
    } else {
        take_jitter(c, now_ns, p);
        take_modern(c, now_ns, p);
    }
    ue_conn_carry_out_close(c, now_ns);
}

static bool has_our_ids(const struct ue_conn *c, const struct ue_prefix *prefix) {
    return !c->in_context.ids || (prefix->session_id == c->session_id && prefix->client_id == c->client_id);
}

static bool is_header_usable(const struct received_packet *p) {
    return p->fault.status == UE_OK || reason_of(p) == UE_CLOSE_READ_HEADER_EXTRA_FAIL;
}

/* Whether prefix and handlers are all there is, with or without a terminator behind: then nothing is wrong. */
static bool holds_nothing(const struct ue_conn *c, const struct received_packet *p) {
    size_t begin = c->limits.prefix_bits;
    size_t bits = 8 * p->from.size_bytes;
    size_t end;
    return ue_bits_last_set(p->from.bytes, bits - 8, bits, &end) && end >= begin &&
           (end == begin || (ue_bits_last_set(p->from.bytes, begin, end, &end) && end == begin));
}

static void refuse(struct ue_conn *c, uint64_t now_ns, const struct received_packet *p) {
    if (!holds_nothing(c, p)) {
        fail(c, now_ns, reason_of(p), &p->fault);
    }
}

/* Who once encrypted does not send in the clear again: somebody else did, or a flag was damaged on the way. */
static bool is_forged(struct ue_conn *c, const struct received_packet *p) {
    c->peer_seals |= p->from.is_sealed;
    return c->peer_seals && !p->from.is_sealed && !p->from.is_from_cache;
}

static void take_datagram(struct ue_conn *c, uint64_t now_ns, struct arrival from) {
    struct received_packet p;
    p.from = from;
    ue_datagram_begin(&c->in_context, from.bytes, from.size_bytes, &p.head, &p.rest, &p.fault);
    if (p.head.prefix.is_handshake) {
        take_handshake(c, now_ns, from.bytes, from.size_bytes);
        return;
    }
    if (!ue_conn_is_up(c)) {
        return;
    }
    if (is_forged(c, &p)) {
        c->counters.malformed++;
    } else if (!is_header_usable(&p)) {
        refuse(c, now_ns, &p);
    } else if (!has_our_ids(c, &p.head.prefix)) {
        c->counters.wrong_ids++;
    } else if (p.head.handlers.is_opaque) {
        fail(c, now_ns, UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR, NULL);
    } else {
        stop_answering(c, now_ns);
        take_packet(c, now_ns, &p);
    }
}

static void flush_cache(struct ue_conn *c, uint64_t now_ns, bool whole) {
    struct ue_early *early;
    while (c->state != UE_CONN_CLOSED && (early = ue_reorder_pop(&c->reorder, whole)) != NULL) {
        const struct arrival from = {.bytes = early->bytes, .size_bytes = early->size_bytes, .is_from_cache = true};
        take_datagram(c, now_ns, from);
        ue_share_free_block(&c->share, early);
    }
}

/* Encrypted datagrams are read as the clear ones that they hold. */
static void take_sealed(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    bool was_clear = false;
    uint8_t *clear = ue_share_alloc(&c->share, size_bytes);
    size_t clear_bytes =
        clear != NULL ? ue_encryption_decrypt(c->seal, &c->in_context, bytes, size_bytes, clear, &was_clear) : 0;
    const struct arrival plain = {.bytes = bytes, .size_bytes = size_bytes};
    const struct arrival opened = {.bytes = clear, .size_bytes = clear_bytes, .is_sealed = true};
    if (was_clear || clear_bytes != 0) {
        take_datagram(c, now_ns, was_clear ? plain : opened);
    } else if (clear != NULL) {
        c->counters.malformed++; /* forged, or for another key: anybody can send it, so it may not end the connection */
    }
    ue_share_free_block(&c->share, clear);
}

static void count_in(struct ue_conn *c, size_t size_bytes) {
    c->counters.in_bytes += size_bytes + UE_PACKET_OVERHEAD_BYTES;
    c->traffic.in_packets++;
    c->traffic.in_bytes += (uint32_t)size_bytes + UE_PACKET_OVERHEAD_BYTES;
}

void ue_conn_receive(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    ue_conn_settle(c);
    if (c->state == UE_CONN_CLOSED) {
        if (c->config.options.resend_close && now_ns - c->closed_ns < RESEND_CLOSE_NS) {
            ue_options_repeat_close(c, now_ns);
        }
        return;
    }
    if (size_bytes == 0) {
        c->counters.malformed++;
        return;
    }
    count_in(c, size_bytes);
    if (c->seal != NULL) {
        take_sealed(c, now_ns, bytes, size_bytes);
    } else {
        const struct arrival from = {.bytes = bytes, .size_bytes = size_bytes};
        take_datagram(c, now_ns, from);
    }
    flush_cache(c, now_ns, false);
}

void ue_conn_end_receive(struct ue_conn *c, uint64_t now_ns) {
    ue_conn_settle(c);
    uint64_t wait_ns = c->config.options.reorder_wait_ns;
    if (c->reorder.count != 0 && now_ns - c->reorder_since_ns >= wait_ns) {
        flush_cache(c, now_ns, true);
    }
    ue_dispatch_waiting(c, now_ns);
    ue_conn_carry_out_close(c, now_ns);
}

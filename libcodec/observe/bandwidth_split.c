/* SPDX-License-Identifier: MIT */
/* What the bits of one datagram are for. */
#include <uerudp/bandwidth.h>

/* The latest bunch waits until it is certain that no fault follows inside it. */
struct splitting {
    const struct ue_bandwidth_datagram *datagram;
    const struct ue_bandwidth_parts *parts;
    struct ue_bunch bunch;
    uint32_t bunch_item;
    bool is_waiting;
    bool is_any; /* a bunch was emitted */
    bool is_plaintext;
    uint32_t item; /* the next one */
    size_t first_bit, bit, end_bit;
    uint64_t bits_left; /* of the datagram, which no emitted bunch has */
};

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void emit(struct splitting *s) {
    bool is_captured = s->is_plaintext || s->end_bit <= 8 * s->datagram->captured_bytes;
    if (s->is_waiting && is_captured) {
        uint64_t bits = least(s->end_bit - s->bit, s->bits_left);
        s->bits_left -= bits;
        s->is_any = true;
        s->parts->bunch(s->parts->user, s->bunch_item, &s->bunch, bits, bits - least(s->bunch.data.bits, bits));
    }
    s->is_waiting = false;
}

static void begin_group(void *user, enum ue_group group, size_t bit) {
    struct splitting *s = user;
    if (group == UE_GROUP_BUNCH) {
        emit(s);
        s->bit = bit;
        s->first_bit = s->is_any ? s->first_bit : bit;
    }
    s->is_plaintext |= group == UE_GROUP_OPENED;
}

static void end_group(void *user, enum ue_group group, size_t bit, const void *structure) {
    struct splitting *s = user;
    if (group == UE_GROUP_BUNCH) {
        s->bunch = *(const struct ue_bunch *)structure;
        s->bunch_item = s->item;
        s->end_bit = bit;
        s->is_waiting = true;
    }
    s->item += group == UE_GROUP_BUNCH || group == UE_GROUP_ACK;
}

static void emit_rest(struct splitting *s, const struct ue_decode_result *result) {
    bool is_whole = result->fault.status == UE_OK && result->closed_by == UE_HANDLER_NONE &&
                    s->datagram->captured_bytes >= s->datagram->length_bytes;
    enum ue_bandwidth_kind kind = result->is_handshake ? UE_BANDWIDTH_HANDSHAKE
                                  : s->is_any          ? UE_BANDWIDTH_HEADERS
                                                       : UE_BANDWIDTH_ACKS;
    uint64_t bits = is_whole ? s->bits_left : s->is_any && !s->is_plaintext ? least(s->first_bit, s->bits_left) : 0;
    if (bits != 0) {
        s->parts->rest(s->parts->user, kind, bits);
    }
    if (s->bits_left != bits) {
        s->parts->rest(s->parts->user, UE_BANDWIDTH_UNREAD, s->bits_left - bits);
    }
}

void ue_bandwidth_split(const struct ue_bandwidth_datagram *datagram, const struct ue_bandwidth_parts *parts) {
    struct splitting s = {.datagram = datagram, .parts = parts, .bits_left = 8 * (uint64_t)datagram->length_bytes};
    const struct ue_trace trace = {begin_group, NULL, end_group, &s};
    struct ue_decode_result result;
    ue_datagram_trace(datagram->context, datagram->bytes, datagram->size_bytes, NULL, &trace, &result);
    s.is_waiting &= result.fault.status == UE_OK || result.fault.bit < s.bit;
    emit(&s);
    emit_rest(&s, &result);
}

enum ue_bandwidth_kind ue_bandwidth_kind_of(const struct ue_bunch *bunch, const struct ue_bandwidth_bunch *known) {
    if (known->is_duplicate || known->is_retransmission) {
        return known->is_duplicate ? UE_BANDWIDTH_DUPLICATE : UE_BANDWIDTH_RETRANSMISSION;
    }
    if (known->channel == UE_CONTENT_VOICE || bunch->channel == 0) {
        return bunch->channel == 0 ? UE_BANDWIDTH_CONTROL : UE_BANDWIDTH_VOICE;
    }
    if (bunch->has_exports) {
        return UE_BANDWIDTH_EXPORTS;
    }
    return bunch->open || known->is_opening ? UE_BANDWIDTH_OPEN : UE_BANDWIDTH_CONTENT;
}

const char *ue_bandwidth_kind_name(enum ue_bandwidth_kind kind) {
    static const char *const names[] = {"content",   "open",    "exports", "control",   "voice", "retransmission",
                                        "duplicate", "headers", "acks",    "handshake", "unread"};
    return names[kind];
}

const char *ue_bandwidth_unnamed(bool is_actor) {
    return is_actor ? "class not known" : "name not known";
}

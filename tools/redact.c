/* SPDX-License-Identifier: MIT */
#include "tools/redact.h"

/* A wide text stays one that only a wide text can be. */
#define MASK_NARROW 0x58u /* X */
#define MASK_WIDE 0x00d7u /* multiplication sign */
#define TYPE_BITS 8

struct redaction {
    uint8_t *bytes;
    bool on_control_channel;
    bool in_pieces; /* the bunch's payload is not a run of whole control messages */
};

static bool is_personal(enum ue_field field) {
    switch (field) {
    case UE_F_CONTROL_HELLO_ENCRYPTION_TOKEN:
    case UE_F_CONTROL_CHALLENGE_TEXT:
    case UE_F_CONTROL_LOGIN_RESPONSE:
    case UE_F_CONTROL_LOGIN_URL:
    case UE_F_CONTROL_LOGIN_PLATFORM:
    case UE_F_CONTROL_WELCOME_REDIRECT_URL:
    case UE_F_CONTROL_FAILURE_TEXT:
    case UE_F_CONTROL_JOIN_SPLIT_URL:
    case UE_F_CONTROL_JOIN_NO_PAWN_SPLIT_URL:
    case UE_F_CONTROL_DEBUG_TEXT_TEXT:
    case UE_F_CONTROL_SECURITY_VIOLATION_TEXT:
    case UE_F_CONTROL_GAME_SPECIFIC_TEXT:
    case UE_F_CONTROL_NET_PING_TEXT:
    case UE_F_CONTROL_UNIQUE_ID_TYPE:
    case UE_F_CONTROL_UNIQUE_ID_TEXT:
    case UE_F_CONTROL_UNIQUE_ID_BYTES: return true;
    default: return false;
    }
}

static void fill(uint8_t *bytes, size_t bit, size_t bits, uint16_t pattern, unsigned width) {
    const uint8_t unit[2] = {(uint8_t)pattern, (uint8_t)(pattern >> 8)};
    for (size_t done = 0; done < bits; done += width) {
        size_t count = bits - done < width ? bits - done : width;
        ue_bits_copy(bytes, bit + done, unit, 0, count);
    }
}

static void mask_view(struct redaction *r, struct ue_view view, uint16_t pattern, unsigned width) {
    fill(r->bytes, view.bit, view.bits, pattern, width);
}

static void on_field(void *user, const struct ue_record *record) {
    struct redaction *r = user;
    struct ue_view units = record->text.units;
    switch (record->field) {
    case UE_F_BUNCH_CHANNEL:
        r->on_control_channel = record->number == 0;
        r->in_pieces = false;
        return;
    case UE_F_BUNCH_PARTIAL:
    case UE_F_BUNCH_HAS_EXPORTS:
    case UE_F_BUNCH_HAS_MAPPED: r->in_pieces |= record->number != 0; return;
    case UE_F_BUNCH_DATA:
        if (r->on_control_channel && r->in_pieces) {
            mask_view(r, units, 0, 8);
        }
        return;
    case UE_F_CONTROL_OPAQUE: /* the type stays, and a length that no message can have keeps the rest unreadable */
        units.bit += units.bits < TYPE_BITS ? units.bits : TYPE_BITS;
        units.bits -= units.bits < TYPE_BITS ? units.bits : TYPE_BITS;
        mask_view(r, units, 0xff, 8);
        return;
    default: break;
    }
    if (is_personal(record->field)) {
        bool is_text = ue_field_row(record->field)->kind == UE_KIND_TEXT;
        mask_view(r, units, record->text.wide ? MASK_WIDE : is_text ? MASK_NARROW : 0, record->text.wide ? 16 : 8);
    }
}

void ue_redact(const struct ue_context *context, uint8_t *bytes, size_t size_bytes) {
    struct redaction redaction = {.bytes = bytes};
    struct ue_sink sink = {NULL, on_field, NULL, &redaction};
    struct ue_verdict verdict;
    ue_datagram_trace(context, bytes, size_bytes, NULL, &sink, &verdict);
    if (verdict.fault.status != UE_OK) {
        fill(bytes, verdict.payload_end_bit, size_bytes * 8 - verdict.payload_end_bit, 0xff, 8);
    }
}

void ue_redact_all(uint8_t *bytes, size_t size_bytes) {
    memset(bytes, 0, size_bytes);
}

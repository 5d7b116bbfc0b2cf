/* SPDX-License-Identifier: MIT */
#include "libcodec/wire/handlers.h"

#include "libcodec/wire/layout_run.h"

UE_INLINE void oodle(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handlers *m,
                     struct ue_handler_bits *h) {
    uint32_t less_one;
    FLAG(h->compressed, HANDLER_COMPRESSED);
    if (h->compressed) {
        BELOW_MAPPED(less_one, h->decompressed_bytes, HANDLER_DECOMPRESSED_BYTES, ue_bound_of(x->data_bound / 8),
                     h->decompressed_bytes - 1, less_one + 1);
        REST(m->opaque, HANDLER_COMPRESSED_DATA);
    } else {
        ABSENT(h->decompressed_bytes, HANDLER_DECOMPRESSED_BYTES, 0);
    }
}

UE_INLINE void aes_gcm_content(enum ue_op op, struct ue_cursor *c, struct ue_handlers *m, struct ue_handler_bits *h) {
    BYTES(h->iv, HANDLER_IV);
    BYTES(h->tag, HANDLER_TAG);
    REST(m->opaque, HANDLER_CIPHERTEXT);
}

/* The byte-wise form has no flag bit: a zero byte marks plain content, any other byte is the first of the IV. */
UE_INLINE void aes_gcm_bytes(enum ue_op op, struct ue_cursor *c, struct ue_handlers *m, struct ue_handler_bits *h) {
    MORE(h->encrypted, HANDLER_IV,
         ue_cursor_left(c) >= 8 && ue_bits_load(c->in, c->size_bytes, ue_cursor_pos(c), 8) != 0);
    if (h->encrypted) {
        aes_gcm_content(op, c, m, h);
        REQUIRE(h->iv[0] != 0, UE_E_CONFLICT, HANDLER_IV);
    } else {
        uint8_t zero = 0;
        UINT(zero, HANDLER_PLAIN, 8);
        REQUIRE(zero == 0, UE_E_CONFLICT, HANDLER_PLAIN);
    }
}

UE_INLINE void component(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handlers *m,
                         struct ue_handler_bits *h, enum ue_handler kind) {
    switch (kind) {
    case UE_HANDLER_NONE: break;
    case UE_HANDLER_OODLE: oodle(op, c, x, m, h); break;
    case UE_HANDLER_AESGCM:
        FLAG(h->encrypted, HANDLER_ENCRYPTED);
        if (h->encrypted) {
            aes_gcm_content(op, c, m, h);
        }
        break;
    case UE_HANDLER_AESGCM_BYTES: aes_gcm_bytes(op, c, m, h); break;
    case UE_HANDLER_AES_ECB:
        FLAG(h->encrypted, HANDLER_ENCRYPTED);
        if (h->encrypted) {
            REST(m->opaque, HANDLER_CIPHERTEXT);
        }
        break;
    case UE_HANDLER_DTLS:
        FLAG(h->encrypted, HANDLER_ENCRYPTED);
        if (h->encrypted) {
            FLAG(h->dtls_handshake, HANDLER_DTLS_HANDSHAKE);
            REST(m->opaque, HANDLER_CIPHERTEXT);
        }
        break;
    case UE_HANDLER_RELIABILITY:
        PACKED(h->reliability_ack, HANDLER_RELIABILITY_ACK);
        PACKED(h->reliability_id, HANDLER_RELIABILITY_ID);
        break;
    case UE_HANDLER_UNKNOWN:
        ABSENT(h->encrypted, HANDLER_ENCRYPTED, true);
        REST(m->opaque, HANDLER_UNDECODED);
        break;
    }
}

/* Whether the members that this component lacks are zero. */
static bool absent_members_are_zero(const struct ue_handler_bits *h, enum ue_handler kind) {
    bool gcm = kind == UE_HANDLER_AESGCM || kind == UE_HANDLER_AESGCM_BYTES;
    bool dtls = kind == UE_HANDLER_DTLS;
    bool encrypts = gcm || dtls || kind == UE_HANDLER_AES_ECB || kind == UE_HANDLER_UNKNOWN;
    return (!h->encrypted || encrypts) && (!h->compressed || kind == UE_HANDLER_OODLE) &&
           (!h->dtls_handshake || (dtls && h->encrypted)) && (h->decompressed_bytes == 0 || h->compressed) &&
           ((ue_bytes_zero(h->iv, sizeof h->iv) && ue_bytes_zero(h->tag, sizeof h->tag)) || (gcm && h->encrypted)) &&
           ((h->reliability_ack | h->reliability_id) == 0 || kind == UE_HANDLER_RELIABILITY);
}

UE_INLINE void layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handlers *m) {
    CLEAR(*m);
    bool is_opaque_content = false;
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        struct ue_handler_bits *h = &m->components[i];
        enum ue_handler kind = is_opaque_content ? UE_HANDLER_NONE : x->settings.handlers[i];
        component(op, c, x, m, h, kind);
        REQUIRE(absent_members_are_zero(h, kind), UE_E_ABSENT, HANDLER_ENCRYPTED);
        is_opaque_content |= h->compressed || h->encrypted;
    }
    ABSENT(m->is_opaque, HANDLER_CIPHERTEXT, is_opaque_content);
    if (!is_opaque_content) {
        ABSENT_VIEW(m->opaque, HANDLER_CIPHERTEXT);
    }
}

UE_DEFINE_RUN(ue_handlers, layout, struct ue_handlers)

size_t ue_handlers_padding(const struct ue_context *x, size_t begin, size_t end) {
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        switch (x->settings.handlers[i]) {
        case UE_HANDLER_NONE:
        case UE_HANDLER_UNKNOWN: return 0;
        case UE_HANDLER_AESGCM_BYTES: return (begin - end) % 8;
        case UE_HANDLER_RELIABILITY: break; /* its fields are whole bytes */
        case UE_HANDLER_OODLE:
        case UE_HANDLER_AESGCM:
        case UE_HANDLER_AES_ECB:
        case UE_HANDLER_DTLS: begin++; break; /* its flag is one bit */
        }
    }
    return 0;
}

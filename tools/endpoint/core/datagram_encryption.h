/* SPDX-License-Identifier: MIT */
/* Encryption of whole datagrams by the component among the context's handlers that encrypts (protocol.md 13): AES-GCM
   in the bit form and the byte form, AES-ECB, and DTLS, whose records are those of a connection that already has a key.
   What the components inside it write is encrypted with the packet; those outside it must be clear. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_DATAGRAM_ENCRYPTION_H
#define UERUDP_TOOLS_ENDPOINT_CORE_DATAGRAM_ENCRYPTION_H

#include <uerudp/datagram.h>
#include "tools/endpoint/base/seeded_random.h"

struct ue_encryption;

/* Whether a component encrypts. */
static inline bool ue_handler_encrypts(enum ue_handler handler) {
    return handler == UE_HANDLER_AESGCM || handler == UE_HANDLER_AESGCM_BYTES || handler == UE_HANDLER_AES_ECB ||
           handler == UE_HANDLER_DTLS;
}

/* The position of a component; UE_HANDLERS_MAX: it is not among the handlers. */
static inline size_t ue_handler_index(const struct ue_settings *settings, enum ue_handler handler) {
    size_t i = 0;
    while (i < UE_HANDLERS_MAX && settings->handlers[i] != handler) {
        i++;
    }
    return i;
}

/* The first component that encrypts; UE_HANDLER_NONE: there is none. */
static inline enum ue_handler ue_handlers_cipher(const struct ue_settings *settings) {
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        if (ue_handler_encrypts(settings->handlers[i])) {
            return settings->handlers[i];
        }
    }
    return UE_HANDLER_NONE;
}

/* What a component writes at least in front of a clear packet; each id of the reliability handler may become longer. */
static inline uint32_t ue_handler_clear_bits(enum ue_handler handler) {
    switch (handler) {
    case UE_HANDLER_NONE: return 0;
    case UE_HANDLER_AESGCM_BYTES: return 8;
    case UE_HANDLER_RELIABILITY: return 16;
    default: return 1;
    }
}

/* Whether a component changes packets of a connection that compresses and has a key, as these say. */
static inline bool ue_handler_changes(enum ue_handler handler, bool compresses, bool has_key) {
    return ue_handler_encrypts(handler) ? has_key : handler == UE_HANDLER_OODLE && compresses;
}

/* The bits from a component on, up to the outer terminator. */
struct ue_handler_span {
    bool is_handshake; /* no component has a part of it */
    size_t begin;
    size_t end;
};

/* Finds the span of a component, before which all are clear. False: the context lacks the component, or the datagram
   has no terminator, or nothing from there on. */
bool ue_handler_span_find(const struct ue_context *context, enum ue_handler handler, const uint8_t *bytes,
                          size_t size_bytes, struct ue_handler_span *span);

/* key: UE_KEY_BYTES. handler: one that encrypts. NULL: libgcrypt failed. Free it with ue_encryption_free. */
struct ue_encryption *ue_encryption_new(enum ue_handler handler, const uint8_t *key);
void ue_encryption_free(struct ue_encryption *encryption);

#define UE_ENCRYPTION_OVERHEAD_BYTES 40

/* Encrypts what follows the handler's flag. out: space for size_bytes + UE_ENCRYPTION_OVERHEAD_BYTES. Returns the size
   in bytes; 0: not a clear datagram with a packet. */
size_t ue_encryption_encrypt(struct ue_encryption *encryption, const struct ue_context *context,
                             struct ue_random *random, const uint8_t *clear, size_t size_bytes, uint8_t *out);

/* Decrypts to the exact bits that ue_encryption_encrypt encrypted. out: space for size_bytes, undefined on failure.
   Returns the size in bytes; 0: not encrypted with this key, or damaged. *was_clear: not encrypted, or a handshake:
   copied unchanged. */
size_t ue_encryption_decrypt(struct ue_encryption *encryption, const struct ue_context *context, const uint8_t *bytes,
                             size_t size_bytes, uint8_t *out, bool *was_clear);

#endif

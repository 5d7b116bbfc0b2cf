/* SPDX-License-Identifier: MIT */
/* What packet handler components put between prefix and packet header (protocol.md 13). */
#ifndef UERUDP_HANDLERS_H
#define UERUDP_HANDLERS_H

#include <uerudp/bits.h>
#include <uerudp/profile.h>

#define UE_AES_IV_BYTES 12
#define UE_AES_TAG_BYTES 16

/* The bits of one component; members that the component does not have are zero. */
struct ue_handler_bits {
    bool encrypted;
    bool compressed;
    bool dtls_handshake;
    uint8_t iv[UE_AES_IV_BYTES];
    uint8_t tag[UE_AES_TAG_BYTES];
    uint32_t decompressed_bytes;
    uint32_t reliability_ack;
    uint32_t reliability_id;
};

/* One entry per configured component, outermost first; the entries behind an opaque one are zero. */
struct ue_handlers {
    struct ue_handler_bits components[UE_HANDLERS_MAX];
    bool is_opaque;        /* encrypted or compressed content follows instead of a packet */
    struct ue_view opaque; /* that content */
};

/* Encrypted content of one component; iv and tag are NULL where the component has none. */
struct ue_ciphertext {
    enum ue_handler handler;
    const uint8_t *iv;  /* UE_AES_IV_BYTES */
    const uint8_t *tag; /* UE_AES_TAG_BYTES */
    struct ue_view ciphertext;
};

/* What became of it; valid until the trace or check ends. */
struct ue_plaintext {
    const uint8_t *plain;
    size_t plain_bytes;
    const char *key; /* names the key for users, without its value */
};

/* Decrypts for a trace or check; the library itself knows no cipher. open returns false when it cannot or the tag does
   not match. */
struct ue_decryptor {
    bool (*open)(void *user, const struct ue_ciphertext *sealed, struct ue_plaintext *opened);
    void *user;
};

#endif

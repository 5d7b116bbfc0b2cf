/* SPDX-License-Identifier: MIT */
/* Packet handler components: what encryption, compression and other components write between the prefix and the packet
   header (protocol.md 13), and the interface to decryption. */
#ifndef UERUDP_HANDLERS_H
#define UERUDP_HANDLERS_H

#include <uerudp/bits.h>
#include <uerudp/profile.h>

#define UE_AES_IV_BYTES 12
#define UE_AES_TAG_BYTES 16

/* The fields of one component. Members that the component lacks are zero. */
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

/* One entry for each configured component, outermost first. Entries after an opaque component are zero. */
struct ue_handlers {
    struct ue_handler_bits components[UE_HANDLERS_MAX];
    bool is_opaque;        /* encrypted or compressed content follows instead of a packet header */
    struct ue_view opaque; /* that content, a view into the datagram */
};

/* Encrypted content of one component. iv and tag are NULL when the component has none. */
struct ue_ciphertext {
    enum ue_handler handler;
    const uint8_t *iv;  /* UE_AES_IV_BYTES */
    const uint8_t *tag; /* UE_AES_TAG_BYTES */
    struct ue_view ciphertext;
};

/* Decrypted content. The decryptor owns it; it must stay valid until the call that requested it returns. */
struct ue_plaintext {
    const uint8_t *plain;
    size_t plain_bytes;
    const char *key; /* where the key comes from, for display; not its value */
};

/* Decrypts for ue_datagram_trace, and ue_datagram_decode without a datagram; the codec itself contains no cipher. open
   fills `opened` and returns true, or returns false when no key fits. */
struct ue_decryptor {
    bool (*open)(void *user, const struct ue_ciphertext *sealed, struct ue_plaintext *opened);
    void *user;
};

#endif

/* SPDX-License-Identifier: MIT */
/* One connection as its keys see it: who speaks, and the token of its Hello. Of the keys it tries those that are for
   it (protocol.md 12, 13). */
#ifndef UERUDP_LIBCODEC_CIPHER_CIPHER_SESSION_H
#define UERUDP_LIBCODEC_CIPHER_CIPHER_SESSION_H

#include "libcodec/cipher/cipher.h"

struct ue_cipher_session {
    struct ue_decryptor decryptor; /* for the settings of this connection */
    struct ue_cipher *cipher;
    struct ue_key_endpoint ends[2];
    bool is_learning;           /* looks into files of keys that may have grown */
    bool has_token;             /* Hello was seen */
    char token[UE_TOKEN_BYTES]; /* empty: Hello had none */
    size_t tried;               /* keys that did not open the last sealed packet */
    size_t last;                /* index of the one that opened the last */
};

/* The cipher must outlive the session, which must not move. ends: the addresses of both sides. */
void ue_cipher_session_init(struct ue_cipher_session *session, struct ue_cipher *cipher, const struct ue_key_endpoint ends[2]);

/* Whether there is encryption that such a session can open. */
bool ue_cipher_session_is_needed(const struct ue_settings *settings);

/* Looks for Hello in a datagram; to be called once for each, in capture order, with the context so far. Only while
   is_learning. */
void ue_cipher_session_learn(struct ue_cipher_session *session, const struct ue_context *context, const uint8_t *bytes,
                      size_t size_bytes);

/* Continues an earlier connection that moved to a new address, where it says no Hello again. Either may be NULL. */
void ue_cipher_session_adopt(struct ue_cipher_session *session, const struct ue_cipher_session *earlier);

#endif

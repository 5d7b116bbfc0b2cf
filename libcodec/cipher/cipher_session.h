/* SPDX-License-Identifier: MIT */
/* The cipher session of one connection: its endpoints and the token of its Hello, which select the keys to try
   (protocol.md 12, 13). */
#ifndef UERUDP_LIBCODEC_CIPHER_CIPHER_SESSION_H
#define UERUDP_LIBCODEC_CIPHER_CIPHER_SESSION_H

#include "libcodec/cipher/cipher.h"

/* Initialises a session, which must not move in memory. The cipher must outlive it. ends: the addresses of both
   sides. */
void ue_cipher_session_init(struct ue_cipher_session *session, struct ue_cipher *cipher,
                            const struct ue_key_endpoint ends[2]);

/* Whether the settings contain a handler component that a session can decrypt. */
bool ue_cipher_session_is_needed(const struct ue_settings *settings);

/* Searches a datagram for Hello and its token, while is_learning. Call it once for each datagram, in capture order. */
void ue_cipher_session_learn(struct ue_cipher_session *session, const struct ue_context *context, const uint8_t *bytes,
                             size_t size_bytes);

/* Adopts the token of an earlier connection that moved to a new address, where it sends no Hello. Either session may be
   NULL. */
void ue_cipher_session_adopt(struct ue_cipher_session *session, const struct ue_cipher_session *earlier);

#endif

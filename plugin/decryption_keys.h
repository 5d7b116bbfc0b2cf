/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's decryption keys: the preference `key` (a key, or the path of a key log) and the table of keys. */
#ifndef UERUDP_PLUGIN_DECRYPTION_KEYS_H
#define UERUDP_PLUGIN_DECRYPTION_KEYS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/prefs.h>

#include <uerudp/datagram.h>
#include <uerudp/detection.h>

/* Decryption state of one connection. */
struct ue_cipher_session;

void uerudp_decryption_register(module_t *module);

/* Reads the keys after a change of preferences, and reports an invalid key to the user. */
void uerudp_decryption_apply_prefs(void);

/* Allocates the session of a new connection in file scope and attaches it to the flow. NULL: the traffic can never be
   decrypted, whatever the keys are. */
struct ue_cipher_session *uerudp_decryption_session_new(const packet_info *pinfo, struct ue_detection *detection);

/* Copies the state of a session to the session that continues it on another address. Both may be NULL. */
void uerudp_decryption_session_adopt(struct ue_cipher_session *session, const struct ue_cipher_session *earlier);

/* Reads the encryption token of a Hello. Call it for each datagram after ue_detection_feed. session may be NULL. */
void uerudp_decryption_session_read_token(struct ue_cipher_session *session, const struct ue_detection *detection,
                                          const struct ue_decode_state *frame, const uint8_t *bytes, size_t size_bytes);

/* Only the first pass reads key files again, so that all passes use the same keys. session may be NULL. */
void uerudp_decryption_session_set_pass(struct ue_cipher_session *session, bool is_first);

/* The plaintext of the last successful decryption. */
const uint8_t *uerudp_decryption_plaintext(size_t *bytes);

/* Why the last traced content stays encrypted; the text is allocated in pool. *has_keys: keys for this connection
   exist. */
const char *uerudp_decryption_problem(const struct ue_cipher_session *session, wmem_allocator_t *pool, bool *has_keys);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's keys for encrypted packets, from the preference `key` (a key, or a key log) and the table of keys. */
#ifndef UERUDP_PLUGIN_DECRYPTION_H
#define UERUDP_PLUGIN_DECRYPTION_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/prefs.h>

#include <uerudp/datagram.h>
#include <uerudp/detection.h>

/* What tries the keys on one connection. */
struct ue_cipher_session;

void uerudp_decryption_register(module_t *module);

/* The preferences changed; tells the user what is wrong with them. */
void uerudp_decryption_apply_prefs(void);

/* The session of a new connection, which its flow uses from now on; of the file's scope. NULL: nothing of its traffic
   can be decrypted, whatever the keys are. */
struct ue_cipher_session *uerudp_decryption_session_new(const packet_info *pinfo, struct ue_detection *flow);

/* Takes over what was learned before a connection moved to a new address. Sessions may be NULL. */
void uerudp_decryption_session_adopt(struct ue_cipher_session *session, const struct ue_cipher_session *earlier);

/* To be called for each datagram behind ue_detection_feed. session may be NULL. */
void uerudp_decryption_session_read_token(struct ue_cipher_session *session, const struct ue_detection *flow, const struct ue_decode_state *frame,
                  const uint8_t *bytes, size_t size_bytes);

/* From the second pass on files of keys are left alone, so that all passes agree. session may be NULL. */
void uerudp_decryption_session_set_pass(struct ue_cipher_session *session, bool is_first);

/* The plain bytes of the last success. */
const uint8_t *uerudp_decryption_plaintext(size_t *bytes);

/* Why content that the last trace met stays encrypted, in words that live as long as the packet. *has_keys: there were
   some for it. */
const char *uerudp_decryption_problem(const struct ue_cipher_session *session, wmem_allocator_t *pool, bool *has_keys);

#endif

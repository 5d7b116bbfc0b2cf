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
struct ue_session;

void ue_key_register(module_t *module);

/* The preferences changed; tells the user what is wrong with them. */
void ue_key_apply(void);

/* The session of a new connection, which its flow uses from now on; of the file's scope. NULL: nothing of its traffic
   can be decrypted, whatever the keys are. */
struct ue_session *ue_key_session(const packet_info *pinfo, struct ue_flow *flow);

/* Takes over what was learned before a connection moved to a new address. Sessions may be NULL. */
void ue_key_adopt(struct ue_session *session, const struct ue_session *earlier);

/* To be called for each datagram behind ue_flow_feed. session may be NULL. */
void ue_key_learn(struct ue_session *session, const struct ue_flow *flow, const struct ue_frame *frame,
                  const uint8_t *bytes, size_t size_bytes);

/* From the second pass on files of keys are left alone, so that all passes agree. session may be NULL. */
void ue_key_set_pass(struct ue_session *session, bool is_first);

/* The plain bytes of the last success. */
const uint8_t *ue_key_plain(size_t *bytes);

/* Why content that the last trace met stays encrypted, in words that live as long as the packet. *has_keys: there were
   some for it. */
const char *ue_key_problem(const struct ue_session *session, wmem_allocator_t *pool, bool *has_keys);

#endif

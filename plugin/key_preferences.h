/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's decryption keys: the preference `key` (a key, or the path of a key log) and the table of keys. */
#ifndef UERUDP_PLUGIN_KEY_PREFERENCES_H
#define UERUDP_PLUGIN_KEY_PREFERENCES_H

#include "plugin/compat.h"

#include <epan/packet_info.h>
#include <epan/prefs.h>

#include <uerudp/observer.h>

/* A title that messages name. */
#define UERUDP_PREFS_HANDLERS "Packet handlers"

void uerudp_decryption_register(module_t *module);

/* Reads the keys after a change of preferences, and reports an invalid key to the user. */
void uerudp_decryption_apply_prefs(void);

/* The decryption of the observer; NULL: the traffic can never be decrypted, whatever the keys are. */
const struct ue_decryption *uerudp_decryption(void);

/* Only the first pass reads key files again, so that all passes use the same keys. session: of a connection, or NULL.
 */
void uerudp_decryption_set_pass(const struct ue_decryptor *session, bool is_first);

/* The plaintext of the last successful decryption. */
const uint8_t *uerudp_decryption_plaintext(size_t *bytes);

/* Why the last traced content stays encrypted; the text is allocated in pool. has_decrypted: keys decrypted other
   packets of the connection for certain. *has_keys: keys for this connection exist. */
const char *uerudp_decryption_problem(const struct ue_decryptor *decryptor, bool has_decrypted, wmem_allocator_t *pool,
                                      bool *has_keys);

#endif

/* SPDX-License-Identifier: MIT */
/* Settings as texts, the same keys for program options, profile files and Wireshark preferences (protocol.md 18). */
#ifndef UERUDP_SETTINGS_H
#define UERUDP_SETTINGS_H

#include <uerudp/profile.h>

/* One key: its name with underscores, its highest value, and one sentence for users. */
struct ue_setting_row {
    const char *key;
    uint64_t max;
    const char *description;
};

/* The keys in documentation order; NULL behind the last. */
const struct ue_setting_row *ue_setting_row(size_t index);

enum ue_setting_result { UE_SETTING_OK, UE_SETTING_UNKNOWN, UE_SETTING_BAD_VALUE };

/* Sets one key from its text. Dashes in the key count as underscores; numbers are decimal, or hexadecimal with 0x;
   internal_ack takes true, false, on, off, 1 and 0; handlers takes names separated by commas, or an empty text. */
enum ue_setting_result ue_settings_set(struct ue_settings *settings, const char *key, const char *value);

#endif

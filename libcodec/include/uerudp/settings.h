/* SPDX-License-Identifier: MIT */
/* Settings as text (protocol.md 18). Options of the program, profile files and Wireshark preferences use the same
   keys. */
#ifndef UERUDP_SETTINGS_H
#define UERUDP_SETTINGS_H

#include <uerudp/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One key: its name with underscores, its highest value, and a description for users. All texts are static. */
struct ue_setting_row {
    const char *key;
    uint64_t max;
    const char *description;
    bool has_automatic; /* "automatic", which is 0, is the generation's own value, or what detection finds */
};

/* The keys in the order of the documentation; NULL after the last. */
const struct ue_setting_row *ue_setting_row(size_t index);

enum ue_setting_result { UE_SETTING_OK, UE_SETTING_UNKNOWN, UE_SETTING_BAD_VALUE };

/* Sets one key. Dashes in the key are equal to underscores. Numbers are decimal, or hexadecimal with 0x; internal_ack
   accepts 1, true, on, yes and 0, false, off, no; handlers accepts names separated by commas, or an empty text. On an
   error the settings do not change. */
enum ue_setting_result ue_settings_set(struct ue_settings *settings, const char *key, const char *value);

#ifdef __cplusplus
}
#endif

#endif

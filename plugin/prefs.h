/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preferences, and the table of servers with their own settings. */
#ifndef UERUDP_PLUGIN_PREFS_H
#define UERUDP_PLUGIN_PREFS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/profile.h>

/* What a user says about the wire. */
struct ue_preset {
    struct ue_settings settings;
    const struct ue_profile *generation; /* NULL: automatic */
};

void ue_prefs_register(int proto);

/* What holds for servers that are not in the table. */
const struct ue_preset *ue_prefs_common(void);

/* Whether Follow shows this channel where nobody chose another. */
bool ue_prefs_follows(uint32_t channel);

/* Whether connections are followed: sequence analysis and reassembly. */
bool ue_prefs_analyse(void);

/* Whether messages that are put together are kept and shown. */
bool ue_prefs_reassemble(void);

/* Tree items that one datagram may have; never 0. */
uint32_t ue_prefs_max_items(void);

enum ue_end { UE_END_NONE, UE_END_SOURCE, UE_END_DESTINATION };

/* Which end of the datagram is a server of the table; the preset is set only then. */
enum ue_end ue_prefs_server(const packet_info *pinfo, const struct ue_preset **preset);

#endif

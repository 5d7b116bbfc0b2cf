/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preferences, and the table of servers with their own settings. */
#ifndef UERUDP_PLUGIN_PREFS_H
#define UERUDP_PLUGIN_PREFS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/profile.h>

/* What a user says about the wire. */
struct uerudp_prefs_wire {
    struct ue_settings settings;
    const struct ue_profile *generation; /* NULL: automatic */
};

void uerudp_prefs_register(int proto);

/* What holds for servers that are not in the table. */
const struct uerudp_prefs_wire *uerudp_prefs_default_wire(void);

/* Whether Follow shows this channel where nobody chose another. */
bool uerudp_prefs_follows_channel(uint32_t channel);

/* Whether connections are followed: sequence analysis and reassembly. */
bool uerudp_prefs_analyse(void);

/* Whether messages that are put together are kept and shown. */
bool uerudp_prefs_reassemble(void);

/* Tree items that one datagram may have; never 0. */
uint32_t uerudp_prefs_max_items(void);

enum uerudp_prefs_server_end { UERUDP_PREFS_SERVER_NONE, UERUDP_PREFS_SERVER_SOURCE, UERUDP_PREFS_SERVER_DESTINATION };

/* Which end of the datagram is a server of the table; the preset is set only then. */
enum uerudp_prefs_server_end uerudp_prefs_find_server(const packet_info *pinfo, const struct uerudp_prefs_wire **preset);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preferences of the protocol, and the table of servers with their own settings. */
#ifndef UERUDP_PLUGIN_PREFS_H
#define UERUDP_PLUGIN_PREFS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/profile.h>

/* A title that messages name. */
#define UERUDP_PREFS_MAGIC_BITS "Bits of the magic header"

/* The wire settings of a server: what a capture does not show. */
struct uerudp_prefs_wire {
    struct ue_settings settings;
    const struct ue_profile *generation; /* NULL: detected */
};

void uerudp_prefs_register(int proto);

/* The settings of servers that are not in the table. */
const struct uerudp_prefs_wire *uerudp_prefs_default_wire(void);

/* Whether Follow shows this channel when no sub-stream is selected. */
bool uerudp_prefs_follows_channel(uint32_t channel);

/* Whether sequence analysis and reassembly are enabled. */
bool uerudp_prefs_analyse(void);

/* Whether reassembled messages are stored and shown. */
bool uerudp_prefs_reassemble(void);

/* Limit of tree items for one datagram; never 0. */
uint32_t uerudp_prefs_max_items(void);

enum uerudp_prefs_server_end { UERUDP_PREFS_SERVER_NONE, UERUDP_PREFS_SERVER_SOURCE, UERUDP_PREFS_SERVER_DESTINATION };

/* Which end has a port that the port preference or Decode As assigns to this protocol, if only one has. */
enum uerudp_prefs_server_end uerudp_prefs_server_by_port(const packet_info *pinfo);

/* Which end of the datagram is a server of the table. The settings are written only if one is. */
enum uerudp_prefs_server_end uerudp_prefs_find_server(const packet_info *pinfo, const struct uerudp_prefs_wire **wire);

#endif

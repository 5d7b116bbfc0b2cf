/* SPDX-License-Identifier: MIT */
/* What protects a server and those whom it serves from others: the flood detection, and limits that the engine has not.
 */
#ifndef UERUDP_TOOLS_SERVE_PROTECTION_H
#define UERUDP_TOOLS_SERVE_PROTECTION_H

#include <glib.h>

#include <uerudp/server.h>

struct serve_protection {
    gboolean no_flood_detection;
    gint64 restart_requests; /* per second, to all addresses; 0: no limit */
    gint64 max_per_address;  /* clients; 0: no limit */
};

void serve_protection_init(struct serve_protection *protection);
/* Adds the options to a command line. */
void serve_protection_add(struct serve_protection *protection, GOptionContext *context);
/* After parsing: false, with a message, when a value is unusable. */
bool serve_protection_resolve(const struct serve_protection *protection);
/* Fills what the configuration has from these options, and from its max_connections. */
void serve_protection_configure(const struct serve_protection *protection, double ticks_per_second,
                                   struct ue_server_config *config);

#endif

/* SPDX-License-Identifier: MIT */
/* Protection options of a server: flood detection, and limits that the engine does not have. */
#ifndef UERUDP_TOOLS_SERVE_FLOOD_PROTECTION_H
#define UERUDP_TOOLS_SERVE_FLOOD_PROTECTION_H

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
/* Call it after parsing. False, with a message: a value is unusable. */
bool serve_protection_resolve(const struct serve_protection *protection);
/* Fills the configuration from the options and from config->max_connections. */
void serve_protection_configure(const struct serve_protection *protection, double ticks_per_second,
                                struct ue_server_config *config);

#endif

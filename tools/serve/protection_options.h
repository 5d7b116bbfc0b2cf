/* SPDX-License-Identifier: MIT */
/* Limits of a server that the engine does not have: flood detection, restart requests, and clients from one address. */
#ifndef UERUDP_TOOLS_SERVE_PROTECTION_OPTIONS_H
#define UERUDP_TOOLS_SERVE_PROTECTION_OPTIONS_H

#include <glib.h>

#include <uerudp/server.h>
#include "tools/net/net_address.h"

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

/* The address of a peer holds the bytes of a struct net_address: the endpoint only compares them. */
struct ue_host serve_host_from_address(const struct net_address *address);
struct net_address serve_address_from_host(const struct ue_host *address);

#endif

/* SPDX-License-Identifier: MIT */
/* A link between clients and a server: listens for clients, and talks to the server for each of them from a socket of
   its own. Everything is done in the thread of its loop. */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_H
#define UERUDP_TOOLS_IMPAIR_PROXY_H

#include "tools/impair/options.h"
#include "tools/net/event_loop.h"

struct impair_proxy;

/* Listens on port (0: a free one) and finds the server; target is HOST:PORT. NULL, with a message, when that is not
   possible. The options must outlive the result. */
struct impair_proxy *impair_proxy_new(struct impair_options *options, uint16_t port, const char *target);

/* Carries datagrams until the duration is over, the first client has left (--once), or a signal comes. */
void impair_proxy_run(struct impair_proxy *relay);

/* False, with a message, when the files are incomplete. NULL is ignored. */
bool impair_proxy_free(struct impair_proxy *relay);

#endif

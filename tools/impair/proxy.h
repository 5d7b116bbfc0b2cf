/* SPDX-License-Identifier: MIT */
/* The impairment proxy (`uerudp link`) between clients and a server: it listens for clients and uses one socket per
   client towards the server. Everything runs in the thread of its loop. */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_H
#define UERUDP_TOOLS_IMPAIR_PROXY_H

#include "tools/impair/proxy_options.h"
#include "tools/net/event_loop.h"

struct impair_proxy;

/* Listens on port (0: a free one) and resolves the server; target is HOST:PORT. NULL, with a message: not possible. The
   options must outlive the proxy. */
struct impair_proxy *impair_proxy_new(struct impair_options *options, uint16_t port, const char *target);

/* Forwards datagrams until the duration is over, the first client has left (--once), or a signal arrives. */
void impair_proxy_run(struct impair_proxy *proxy);

/* False, with a message: the files are incomplete. NULL is ignored. */
bool impair_proxy_free(struct impair_proxy *proxy);

#endif

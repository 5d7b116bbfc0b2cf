/* SPDX-License-Identifier: MIT */
/* A server's event log: one stream for each connection, from the Response that created it. Datagrams without a
   connection are not logged. Functions accept a NULL log and then do nothing. */
#ifndef UERUDP_TOOLS_EVENTS_SERVER_LOG_H
#define UERUDP_TOOLS_EVENTS_SERVER_LOG_H

#include <uerudp/server.h>
#include "tools/events/endpoint_log.h"

struct server_log;

/* NULL, with a message: options->events cannot be written. options must outlive the result. */
struct server_log *server_log_open(const struct live_options *options);
/* False: an error, which was reported. is_good false: removes the file. */
bool server_log_close(struct server_log *log, bool is_good);

/* A datagram from or to a peer; NULL: no connection, not logged. */
void server_log_write_datagram(struct server_log *log, struct ue_peer *peer, bool is_sent, const uint8_t *bytes,
                               size_t size_bytes);
void server_log_write_event(struct server_log *log, struct ue_peer *peer, const struct ue_event *event);

/* Call it once a tick: frees connections that the server has removed. */
void server_log_tick(struct server_log *log, const struct ue_server *server);

#endif

/* SPDX-License-Identifier: MIT */
/* A server's event log: a stream for each connection, from the Response that made it. What strangers send is not in it.
   A log of NULL is none, and every function below then does nothing. */
#ifndef UERUDP_TOOLS_SERVE_EVENT_LOG_H
#define UERUDP_TOOLS_SERVE_EVENT_LOG_H

#include <uerudp/server.h>
#include "tools/live/endpoint_log.h"

struct serve_event_log;

/* NULL, with a message, when options->events cannot be written. options must outlive the result. */
struct serve_event_log *serve_event_log_open(const struct live_options *options);
/* Whether all is well, else there was a message; is_good false: leaves nothing behind. */
bool serve_event_log_close(struct serve_event_log *log, bool is_good);

/* A datagram that was received from, or is sent to, a peer; NULL: somebody else, left out. */
void serve_event_log_write_datagram(struct serve_event_log *log, struct ue_peer *peer, bool is_sent, const uint8_t *bytes,
                           size_t size_bytes);
void serve_event_log_write_event(struct serve_event_log *log, struct ue_peer *peer, const struct ue_event *event);

/* Once a tick: forgets connections that the server no longer has. */
void serve_event_log_tick(struct serve_event_log *log, const struct ue_server *server);

#endif

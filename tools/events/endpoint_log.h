/* SPDX-License-Identifier: MIT */
/* One connection's part of an event log, seen from inside the endpoint: its datagrams as sent and received, its events
   and its state. Times are those of the system's clock. */
#ifndef UERUDP_TOOLS_EVENTS_ENDPOINT_LOG_H
#define UERUDP_TOOLS_EVENTS_ENDPOINT_LOG_H

#include "tools/events/event_log.h"
#include "tools/live/endpoint_options.h"

struct endpoint_log;

/* The log's vantage is the role. options and log must outlive the result. stream: its number in the log. */
struct endpoint_log *endpoint_log_new(struct event_log *log, const struct live_options *options, uint32_t stream);
/* NULL is ignored. */
void endpoint_log_free(struct endpoint_log *endpoint_log);

/* A datagram that the connection sends or is about to receive. */
void endpoint_log_write_datagram(struct endpoint_log *endpoint_log, bool is_sent, const uint8_t *bytes,
                                 size_t size_bytes);

/* An event of the connection; call it in the order of the events. */
void endpoint_log_write_event(struct endpoint_log *endpoint_log, const struct ue_conn *conn,
                              const struct ue_event *event);

#endif

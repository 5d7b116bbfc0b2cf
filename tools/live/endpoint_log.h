/* SPDX-License-Identifier: MIT */
/* One connection's part of an event log from inside: its datagrams as they are sent and received, what the connection
   tells of them, and its state. Times are those of the system's clock. */
#ifndef UERUDP_TOOLS_LIVE_ENDPOINT_LOG_H
#define UERUDP_TOOLS_LIVE_ENDPOINT_LOG_H

#include "tools/events/log.h"
#include "tools/live/options.h"

struct ue_inside;

/* The log's vantage is the role. options and log must outlive the result; stream: its number in the log. */
struct ue_inside *ue_inside_new(struct ue_log *log, const struct ue_live_options *options, uint32_t stream);
/* NULL is ignored. */
void ue_inside_free(struct ue_inside *inside);

/* A datagram that the connection sends or is about to receive. */
void ue_inside_datagram(struct ue_inside *inside, bool is_sent, const uint8_t *bytes, size_t size_bytes);

/* An event of the connection, in the order in which it gives them. */
void ue_inside_event(struct ue_inside *inside, const struct ue_conn *conn, const struct ue_event *event);

#endif

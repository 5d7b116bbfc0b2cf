/* SPDX-License-Identifier: MIT */
/* The event log of a capture: what the tracker observes of each connection, and the findings. */
#ifndef UERUDP_TOOLS_EVENTS_CAPTURE_LOG_H
#define UERUDP_TOOLS_EVENTS_CAPTURE_LOG_H

#include "tools/events/event_log.h"
#include "tools/input/capture_reader.h"

struct capture_log;

/* is_redacted: findings without their sentences, which may quote messages. Returns NULL after a message if the log
   cannot be written. */
struct capture_log *capture_log_open(const char *path, const char *title, bool is_redacted);

/* Logs the events of the next datagram; foreign and cut datagrams are left out. */
void capture_log_on_datagram(struct capture_log *events, const struct input_datagram *captured);

/* Writes all buffered events, for a reader who is watching. */
void capture_log_flush(struct capture_log *events);

/* Logs the findings that are known only at the end, and closes the log; end_ns: see ue_findings_finish; is_good false
   discards the log. Returns whether everything was written, else after a message. NULL is ignored and returns true. */
bool capture_log_close(struct capture_log *events, int64_t end_ns, bool is_good);

#endif

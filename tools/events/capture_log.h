/* SPDX-License-Identifier: MIT */
/* The event log of a capture: what the passive tracker sees of each connection. */
#ifndef UERUDP_TOOLS_EVENTS_CAPTURE_LOG_H
#define UERUDP_TOOLS_EVENTS_CAPTURE_LOG_H

#include "tools/events/log.h"
#include "tools/observe/tracker_table.h"

struct capture_log;

/* NULL, with a message, when the log cannot be written. */
struct capture_log *capture_log_open(const char *path, const char *title);

/* Takes the next datagram of a reading; foreign and cut ones are left out. */
void capture_log_on_datagram(struct capture_log *captured, const struct input_datagram *seen);

/* Writes out what waits: for somebody who watches. */
void capture_log_flush(struct capture_log *captured);

/* Whether all is well, else there was a message; is_good false: leaves nothing behind. NULL is ignored, and good. */
bool capture_log_close(struct capture_log *captured, bool is_good);

#endif

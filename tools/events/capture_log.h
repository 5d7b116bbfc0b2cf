/* SPDX-License-Identifier: MIT */
/* The event log of a capture: what the passive tracker sees of each connection. */
#ifndef UERUDP_TOOLS_EVENTS_CAPTURE_LOG_H
#define UERUDP_TOOLS_EVENTS_CAPTURE_LOG_H

#include "tools/events/log.h"
#include "tools/observe/tracker_table.h"

struct ue_captured;

/* NULL, with a message, when the log cannot be written. */
struct ue_captured *ue_captured_open(const char *path, const char *title);

/* Takes the next datagram of a reading; foreign and cut ones are left out. */
void ue_captured_feed(struct ue_captured *captured, const struct ue_seen *seen);

/* Writes out what waits: for somebody who watches. */
void ue_captured_flush(struct ue_captured *captured);

/* Whether all is well, else there was a message; is_good false: leaves nothing behind. NULL is ignored, and good. */
bool ue_captured_close(struct ue_captured *captured, bool is_good);

#endif

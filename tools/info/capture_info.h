/* SPDX-License-Identifier: MIT */
/* The connections of a capture, in bounded memory. */
#ifndef UERUDP_TOOLS_INFO_CAPTURE_INFO_H
#define UERUDP_TOOLS_INFO_CAPTURE_INFO_H

#include "tools/info/connection_info.h"

/* Limit of connections at a time. Above it connections that have only handshakes are removed, the oldest first; if
   there are none, new connections are left out. */
#define INFO_CONNECTIONS_MAX 1024

struct info_capture;

/* The options must outlive the result. */
struct info_capture *info_capture_new(const struct info_options *options);
void info_capture_free(struct info_capture *infos);

void info_capture_on_datagram(struct info_capture *infos, const struct input_datagram *captured);

/* Runs the diagnoses (end_ns: see ue_findings_finish) and returns the connections in the order of their first
   datagrams: an array of struct info_connection that the capture owns. No datagram may follow. */
const GPtrArray *info_capture_finish(struct info_capture *infos, int64_t end_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* What is known of the connections of a capture, a bounded number of them. */
#ifndef UERUDP_TOOLS_INFO_CAPTURE_INFO_H
#define UERUDP_TOOLS_INFO_CAPTURE_INFO_H

#include "tools/info/connection_info.h"

/* Connections at a time. When there are more, those give way of which nothing but handshakes was seen, the oldest
   first; further ones are left out. */
#define INFO_CONNECTIONS_MAX 1024

struct info_capture;

/* findings_max: of each kind and connection. */
struct info_capture *info_capture_new(unsigned findings_max, bool with_cost);
void info_capture_free(struct info_capture *infos);

void info_capture_on_datagram(struct info_capture *infos, const struct input_datagram *seen);

/* Makes the diagnoses and gives the connections, in the order of their first datagrams: an array of struct info_connection,
   owned by infos. Nothing may be fed afterwards. */
const GPtrArray *info_capture_finish(struct info_capture *infos);

#endif

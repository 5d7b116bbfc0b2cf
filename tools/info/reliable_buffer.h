/* SPDX-License-Identifier: MIT */
/* Findings on the reliable buffer: how full it was, and reliable sequence numbers beyond it. */
#ifndef UERUDP_TOOLS_INFO_RELIABLE_BUFFER_H
#define UERUDP_TOOLS_INFO_RELIABLE_BUFFER_H

#include "tools/info/connection_info.h"

/* Adds the findings on the reliable buffer of a side at the end of the capture. */
void info_reliable_buffer_report(struct info_connection *info, unsigned side);

#endif

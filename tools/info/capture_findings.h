/* SPDX-License-Identifier: MIT */
/* Findings on what was captured: malformed datagrams as they occur; implausible times, and datagrams that are missing,
   cut or not readable. */
#ifndef UERUDP_TOOLS_INFO_CAPTURE_FINDINGS_H
#define UERUDP_TOOLS_INFO_CAPTURE_FINDINGS_H

#include "tools/info/connection_info.h"

/* Reports a malformed datagram when it occurs. */
void info_capture_findings_add_malformed(struct info_connection *info, const struct input_datagram *captured);

/* Adds the findings at the end of the capture. */
void info_capture_findings_report(struct info_connection *info);

#endif

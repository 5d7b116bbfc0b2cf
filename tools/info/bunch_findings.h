/* SPDX-License-Identifier: MIT */
/* Findings on bunches: partial bunches that do not continue each other, and needless retransmissions. */
#ifndef UERUDP_TOOLS_INFO_BUNCH_FINDINGS_H
#define UERUDP_TOOLS_INFO_BUNCH_FINDINGS_H

#include "tools/info/connection_info.h"

/* Adds the findings on the bunches of a side at the end of the capture. */
void info_bunch_findings_report(struct info_connection *info, unsigned side);

#endif

/* SPDX-License-Identifier: MIT */
/* Findings that follow from the statistics of a connection. An error ended or prevented the connection or violates
   the protocol; a warning is something that players notice; a note is worth knowing. findings.def has the order
   within a severity. */
#ifndef UERUDP_TOOLS_INFO_DIAGNOSIS_H
#define UERUDP_TOOLS_INFO_DIAGNOSIS_H

#include "tools/info/connection_info.h"

/* Reports a malformed datagram when it occurs. */
void info_diagnosis_add_malformed(struct info_connection *info, const struct input_datagram *captured);

/* Reports all other findings at the end. */
void info_diagnosis_finish(struct info_connection *info);

#endif

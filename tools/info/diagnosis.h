/* SPDX-License-Identifier: MIT */
/* Findings that follow from the figures of a connection. Severities: an error ended or prevented the connection, or
   breaks the protocol; a warning is what players feel; a note is worth knowing. findings.def has the order within. */
#ifndef UERUDP_TOOLS_INFO_DIAGNOSIS_H
#define UERUDP_TOOLS_INFO_DIAGNOSIS_H

#include "tools/info/connection_info.h"

/* A datagram that does not decode, as it is met. */
void info_diagnosis_add_malformed(struct info_connection *info, const struct input_datagram *seen);

/* All the rest, at the end. */
void info_diagnosis_finish(struct info_connection *info);

#endif

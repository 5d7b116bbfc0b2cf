/* SPDX-License-Identifier: MIT */
/* Findings that follow from the figures of a connection. Severities: an error ended or prevented the connection, or
   breaks the protocol; a warning is what players feel; a note is worth knowing. findings.def has the order within. */
#ifndef UERUDP_TOOLS_INFO_DIAGNOSIS_H
#define UERUDP_TOOLS_INFO_DIAGNOSIS_H

#include "tools/info/connection_info.h"

/* A datagram that does not decode, as it is met. */
void ue_diagnosis_malformed(struct ue_info *info, const struct ue_seen *seen);

/* All the rest, at the end. */
void ue_diagnosis_finish(struct ue_info *info);

#endif

/* SPDX-License-Identifier: MIT */
/* Tracks a connection of a capture, and has its findings detected. */
#ifndef UERUDP_TOOLS_INPUT_INPUT_FINDINGS_H
#define UERUDP_TOOLS_INPUT_INPUT_FINDINGS_H

#include <uerudp/findings.h>
#include "tools/input/capture_reader.h"

/* Tracks the datagram, hands each event to the findings of its connection and then to handle, and reports the findings
   that are now known. Returns whether the datagram was tracked; foreign and malformed ones are in part, cut ones are
   not. */
bool input_findings_on_datagram(struct ue_findings *findings, const struct input_datagram *captured,
                                void (*handle)(void *user, const struct ue_observed_event *event), void *user,
                                const struct ue_findings_callbacks *callbacks);

#endif

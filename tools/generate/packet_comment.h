/* SPDX-License-Identifier: MIT */
/* The comment on a captured frame: what the simulated network did to its datagram. */
#ifndef UERUDP_TOOLS_GENERATE_PACKET_COMMENT_H
#define UERUDP_TOOLS_GENERATE_PACKET_COMMENT_H

#include "tools/generate/datagram_outcome.h"

#define PACKET_COMMENT_BYTES 160

/* The comment on the frame of one copy, captured where it left (at_sender) or where it arrived at now_ns; empty:
   nothing happened to it. */
void packet_comment_write(const struct datagram_outcome *outcome, bool at_sender, uint32_t copy, bool is_corrupted,
                          uint64_t now_ns, char text[PACKET_COMMENT_BYTES]);

#endif

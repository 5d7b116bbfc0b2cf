/* SPDX-License-Identifier: MIT */
/* The comment of a captured datagram: its delay, whether it is a duplicate or reordered, and its corrupted bits. */
#ifndef UERUDP_TOOLS_IMPAIR_DATAGRAM_COMMENT_H
#define UERUDP_TOOLS_IMPAIR_DATAGRAM_COMMENT_H

#include "tools/sim/link.h"

/* A datagram as it arrived at the proxy. */
struct impair_arrival {
    uint64_t time_ns;
    const uint8_t *bytes;
    size_t size_bytes;
};

/* Everything that happened to a datagram that leaves. The caller frees the text. */
char *impair_comment_of_changes(const struct impair_arrival *arrived, const struct sim_link_report *report,
                                bool is_overtaken);

#endif

/* SPDX-License-Identifier: MIT */
/* The summary on stderr after reading: the connections, and what was read and left out. */
#ifndef UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H
#define UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H

#include <uerudp/network_version.h>
#include "tools/input/progress_line.h"
#include "tools/observe/connection_table.h"

struct capture_summary {
    uint64_t decoded;
    uint64_t malformed;
    uint64_t cut;              /* by a snap length */
    uint64_t unknown;          /* on a server port, not recognised */
    struct ue_project project; /* name NULL: do not derive the engine release */
    struct progress_line progress;
};

/* Prints the connections, then the totals. */
void capture_summary_print(struct capture_summary *summary, const struct datagram_source *input,
                           const struct connection_table *connections);

/* Prints how much was read and what was left out. */
void capture_summary_print_totals(struct capture_summary *summary, const struct datagram_source *input,
                                  const struct connection_table *connections);

#endif

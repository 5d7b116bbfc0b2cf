/* SPDX-License-Identifier: MIT */
/* The reader's output on stderr: faults when they occur, progress in a long file, and the summary at the end. */
#ifndef UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H
#define UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H

#include <uerudp/network_version.h>
#include "tools/observe/connection_table.h"

struct capture_summary {
    uint64_t decoded;
    uint64_t malformed;
    uint64_t cut;              /* by a snap length */
    uint64_t unknown;          /* on a server port, not recognised */
    struct ue_project project; /* name NULL: do not derive the engine release */
    bool is_silent;            /* count only */
    gint64 begun_us;
    gint64 progress_us; /* time of the last progress output; 0: none */
};

/* Reports a malformed datagram; after a limit, only counts it. */
void capture_summary_report_malformed(struct capture_summary *summary, uint64_t frame, const struct ue_fault *fault);

/* Shows from time to time how much of the file is read, if stderr is a terminal. */
void capture_summary_show_progress(struct capture_summary *summary, const struct datagram_source *input,
                                   uint64_t size_bytes);

/* Prints the connections, then the totals. */
void capture_summary_print(struct capture_summary *summary, const struct datagram_source *input,
                           const struct connection_table *flows);

/* Prints how much was read and what was left out. */
void capture_summary_print_totals(struct capture_summary *summary, const struct datagram_source *input,
                                  const struct connection_table *flows);

#endif

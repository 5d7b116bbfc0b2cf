/* SPDX-License-Identifier: MIT */
/* What is said on stderr: faults as they are met, progress while a long file is read, and the summary at the end. */
#ifndef UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H
#define UERUDP_TOOLS_INPUT_CAPTURE_SUMMARY_H

#include <uerudp/network_version.h>
#include "tools/observe/connection_table.h"

struct capture_summary {
    uint64_t decoded;
    uint64_t malformed;
    uint64_t cut;              /* by a snap length */
    uint64_t unknown;          /* on a server port, of no known form */
    struct ue_project project; /* name NULL: do not learn the engine */
    bool is_silent;            /* only counts */
    gint64 begun_us;
    gint64 progress_us; /* when progress was last written; 0: never */
};

/* Reports one malformed datagram; after some, only the count goes on. */
void capture_summary_report_malformed(struct capture_summary *summary, uint64_t frame, const struct ue_fault *fault);

/* Now and then, when stderr is a terminal, says how far the reading has come. */
void capture_summary_show_progress(struct capture_summary *summary, const struct datagram_source *input, uint64_t size_bytes);

/* The connections, then the totals. */
void capture_summary_print(struct capture_summary *summary, const struct datagram_source *input, const struct connection_table *flows);

/* What was left out, and how much was read in all. */
void capture_summary_print_totals(struct capture_summary *summary, const struct datagram_source *input, const struct connection_table *flows);

#endif

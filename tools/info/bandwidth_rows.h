/* SPDX-License-Identifier: MIT */
/* Selection and order of the rows of the accounting of bandwidth. */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_ROWS_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_ROWS_H

#include <uerudp/bandwidth.h>
#include "tools/info/bandwidth_options.h"

/* The first rows of a dimension in this order, as an array of struct ue_bandwidth_row that the caller unrefs. All other
   rows are one more, which is_rest and has no peak; *more is their number. rows_max 0: all. */
GArray *info_bandwidth_rows(const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by,
                            const struct info_bandwidth_options *options, int rows_max, size_t *more);

/* "classes", "actors", "channels" */
const char *info_bandwidth_by_name(enum ue_bandwidth_by by);

/* The class path or channel name of a row; NULL: not known. */
const char *info_bandwidth_class_of(const struct ue_bandwidth_row *row);

/* Updates of both sides per second in which a channel of the row was open; negative: it was open for less than 0.1 s.
 */
double info_bandwidth_updates_per_s(const struct ue_bandwidth_row *row);

/* Number of bins of the series, up to the last datagram. */
size_t info_bandwidth_bins(const struct ue_bandwidth_totals *totals);

uint64_t info_bandwidth_row_bits(const struct ue_bandwidth_row *row);

/* What a side sent in its busiest second. A partial byte counts as a byte. */
static inline uint64_t info_bandwidth_peak_bytes(const struct ue_bandwidth_counts *counts, unsigned side) {
    return (counts->peak_bits[side] + 7) / 8;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Who used the bandwidth of a connection, as text, JSON and columns. */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_REPORT_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_REPORT_H

#include <glib.h>
#include <jansson.h>

#include <uerudp/bandwidth.h>
#include "tools/info/budget.h"
#include "tools/print/text_buffer.h"

#define INFO_BANDWIDTH_ROWS_TEXT 10

/* What rows are sorted by, the most first. */
enum info_bandwidth_order {
    INFO_BANDWIDTH_BY_TOTAL,  /* bits */
    INFO_BANDWIDTH_BY_PEAK,   /* bits of the busiest second */
    INFO_BANDWIDTH_BY_UPDATES /* updates per second and channel */
};

struct info_bandwidth_options {
    gboolean is_wanted;
    gboolean is_csv;
    int rows_max; /* rows of each dimension; 0: INFO_BANDWIDTH_ROWS_TEXT as text, else all */
    enum info_bandwidth_order order;
    struct info_budgets budgets;
    int64_t bin_ns; /* of the series; 0: a second */
    bool is_apart;  /* not part of the JSON of the connection */
};

/* The options must stay where they are until the command line is parsed. resolve then checks them, and returns false
   after a message. */
void info_bandwidth_add_options(struct info_bandwidth_options *options, GOptionContext *context);
bool info_bandwidth_resolve(struct info_bandwidth_options *options, bool is_json);

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

/* has_times: the times of the capture are plausible, so that rates can be printed. */
void info_bandwidth_print_text(struct text_buffer *out, const struct ue_bandwidth *bandwidth,
                               const struct info_bandwidth_options *options, bool has_times);

json_t *info_bandwidth_to_json(const struct ue_bandwidth *bandwidth, const struct info_bandwidth_options *options,
                               bool has_times);

/* Columns that are separated by commas: a line for each kind, row and bin. */
void info_bandwidth_print_csv_head(struct text_buffer *out);
void info_bandwidth_print_csv(struct text_buffer *out, uint32_t stream, const struct ue_bandwidth *bandwidth,
                              const struct info_bandwidth_options *options, bool has_times);

#endif

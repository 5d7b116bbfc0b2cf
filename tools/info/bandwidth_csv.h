/* SPDX-License-Identifier: MIT */
/* Who used the bandwidth of a connection, as columns for spreadsheets (RFC 4180). */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_CSV_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_CSV_H

#include <uerudp/bandwidth.h>
#include "tools/info/bandwidth_options.h"
#include "tools/print/text_buffer.h"

/* Columns that are separated by commas: a line for each kind, row and bin. */
void info_bandwidth_print_csv_head(struct text_buffer *out);
void info_bandwidth_print_csv(struct text_buffer *out, uint32_t stream, const struct ue_bandwidth *bandwidth,
                              const struct info_bandwidth_options *options, bool has_times);

#endif

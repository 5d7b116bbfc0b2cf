/* SPDX-License-Identifier: MIT */
/* Who used the bandwidth of a connection, as text. */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_TEXT_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_TEXT_H

#include <uerudp/bandwidth.h>
#include "tools/info/bandwidth_options.h"
#include "tools/print/text_buffer.h"

/* has_times: the times of the capture are plausible, so that rates can be printed. */
void info_bandwidth_print_text(struct text_buffer *out, const struct ue_bandwidth *bandwidth,
                               const struct info_bandwidth_options *options, bool has_times);

#endif

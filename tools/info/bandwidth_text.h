/* SPDX-License-Identifier: MIT */
/* Who used the bandwidth of a connection, as text. */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_TEXT_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_TEXT_H

#include <uerudp/bandwidth.h>
#include <uerudp/findings.h>
#include "tools/info/bandwidth_options.h"
#include "tools/print/text_buffer.h"

/* findings: of the connection, finished. */
void info_bandwidth_print_text(struct text_buffer *out, const struct ue_bandwidth *bandwidth,
                               const struct info_bandwidth_options *options, const struct ue_findings *findings);

#endif

/* SPDX-License-Identifier: MIT */
/* A plot as one self-contained HTML page: data, style, scripts, and the library d3 with its licence, all built into the
   program. page/frame.js describes how a panel is added. */
#ifndef UERUDP_TOOLS_TRACE_PAGE_H
#define UERUDP_TOOLS_TRACE_PAGE_H

#include "tools/trace/plot.h"

void trace_write_page(const struct trace_plot *plot, struct text_buffer *out);

#endif

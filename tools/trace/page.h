/* SPDX-License-Identifier: MIT */
/* A picture as one HTML page that needs nothing else: data, style, script, and the drawing library d3 with its licence,
   which are built into the program. */
#ifndef UERUDP_TOOLS_TRACE_PAGE_H
#define UERUDP_TOOLS_TRACE_PAGE_H

#include "tools/trace/plot.h"

/* Appends the page. */
void trace_write_page(const struct trace_plot *plot, struct text_buffer *out);

#endif

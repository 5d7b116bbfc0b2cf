/* SPDX-License-Identifier: MIT */
/* The page that lists the connections of a capture, with a row each that links to its page. */
#ifndef UERUDP_TOOLS_TRACE_INDEX_ROWS_H
#define UERUDP_TOOLS_TRACE_INDEX_ROWS_H

#include "tools/trace/plot_rows.h"

/* plots: struct trace_plot; pages: the file names of their pages, relative to the index. */
void trace_write_index(GPtrArray *plots, const GPtrArray *pages, struct text_buffer *out);

#endif

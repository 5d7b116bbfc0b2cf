/* SPDX-License-Identifier: MIT */
/* Many connections as text: a line for each. */
#ifndef UERUDP_TOOLS_INFO_OVERVIEW_TEXT_H
#define UERUDP_TOOLS_INFO_OVERVIEW_TEXT_H

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

/* Prints a table with one line for each connection (struct info_connection), the worst first. */
void info_print_overview(struct text_buffer *out, const GPtrArray *infos);

#endif

/* SPDX-License-Identifier: MIT */
/* What is known of connections, for people: the answer first, then the figures. */
#ifndef UERUDP_TOOLS_INFO_TEXT_H
#define UERUDP_TOOLS_INFO_TEXT_H

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

/* All connections (struct info_connection): when there are several, first a table with a line for each, the worst first. */
void info_print_text(struct text_buffer *out, const GPtrArray *infos);

#endif

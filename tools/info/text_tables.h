/* SPDX-License-Identifier: MIT */
/* The tables of a connection: traffic, times, channels, use of the bits. */
#ifndef UERUDP_TOOLS_INFO_TEXT_TABLES_H
#define UERUDP_TOOLS_INFO_TEXT_TABLES_H

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

void info_print_tables(struct text_buffer *out, const struct info_connection *info);

#endif

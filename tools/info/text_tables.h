/* SPDX-License-Identifier: MIT */
/* The tables of a connection: traffic, times, channels, and what the bits went to. */
#ifndef UERUDP_TOOLS_INFO_TEXT_TABLES_H
#define UERUDP_TOOLS_INFO_TEXT_TABLES_H

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

void ue_info_print_figures(struct ue_out *out, const struct ue_info *info);

#endif

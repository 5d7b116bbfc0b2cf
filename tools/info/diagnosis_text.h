/* SPDX-License-Identifier: MIT */
/* Connections as text: the diagnosis first, then the statistics. */
#ifndef UERUDP_TOOLS_INFO_DIAGNOSIS_TEXT_H
#define UERUDP_TOOLS_INFO_DIAGNOSIS_TEXT_H

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

void info_print_connection(struct text_buffer *out, const struct info_connection *info);

#endif

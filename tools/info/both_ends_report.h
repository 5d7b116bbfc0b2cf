/* SPDX-License-Identifier: MIT */
/* The part of the report that compares the captures of both ends of a connection. */
#ifndef UERUDP_TOOLS_INFO_BOTH_ENDS_REPORT_H
#define UERUDP_TOOLS_INFO_BOTH_ENDS_REPORT_H

#include <jansson.h>

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

/* Prints nothing for a connection that is not in both captures. */
void info_print_both_ends(struct text_buffer *out, const struct info_connection *info);

/* The connection must be in both captures. */
json_t *info_both_ends_to_json(const struct info_connection *info);

#endif

/* SPDX-License-Identifier: MIT */
/* Self-contained HTML pages: data, style, scripts, and the library d3 with its licence, all built into the program.
   page/page.js describes how a panel is added. */
#ifndef UERUDP_TOOLS_TRACE_PAGE_TEMPLATE_H
#define UERUDP_TOOLS_TRACE_PAGE_TEMPLATE_H

#include <jansson.h>

#include "tools/print/text_buffer.h"

/* Writes a file of the folder page. In it, a name between two @ is replaced by that file, and DATA by the data. */
void trace_write_template(const char *file, const struct text_buffer *data, struct text_buffer *out);

/* Appends the JSON as the script element "data", which its texts cannot end. */
void trace_add_json(const json_t *json, struct text_buffer *out);

#endif

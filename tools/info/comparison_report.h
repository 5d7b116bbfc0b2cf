/* SPDX-License-Identifier: MIT */
/* What changed from one capture to another. */
#ifndef UERUDP_TOOLS_INFO_COMPARISON_REPORT_H
#define UERUDP_TOOLS_INFO_COMPARISON_REPORT_H

#include <jansson.h>

#include "tools/info/capture_figures.h"
#include "tools/print/text_buffer.h"

struct info_comparison {
    const char *names[2];           /* of the captures: before, after */
    struct info_figures figures[2]; /* likewise */
};

void info_print_comparison(struct text_buffer *out, const struct info_comparison *comparison);
json_t *info_comparison_to_json(const struct info_comparison *comparison);

#endif

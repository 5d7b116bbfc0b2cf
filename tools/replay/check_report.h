/* SPDX-License-Identifier: MIT */
/* Prints the result of `replay --check` for one connection: what was compared, and the first difference. */
#ifndef UERUDP_TOOLS_REPLAY_CHECK_REPORT_H
#define UERUDP_TOOLS_REPLAY_CHECK_REPORT_H

#include "tools/replay/connection_comparison.h"

void check_report_print_text(const struct replay_connection *v, struct text_buffer *out);
void check_report_print_json(const struct replay_connection *v, struct text_buffer *out);

#endif

/* SPDX-License-Identifier: MIT */
/* The findings as a JUnit report, which build servers show as tests: each connection is a test suite, each kind of
   finding a test case, which fails if a finding of this kind matches the rules of --fail-on. */
#ifndef UERUDP_TOOLS_INFO_JUNIT_REPORT_H
#define UERUDP_TOOLS_INFO_JUNIT_REPORT_H

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

/* Writes a whole XML document about struct info_connection. */
void info_write_junit(struct text_buffer *out, const GPtrArray *infos);

#endif

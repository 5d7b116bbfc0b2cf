/* SPDX-License-Identifier: MIT */
/* A finding as a line of the report. */
#ifndef UERUDP_TOOLS_INFO_FINDING_TEXT_H
#define UERUDP_TOOLS_INFO_FINDING_TEXT_H

#include "tools/info/connection_info.h"
#include "tools/print/text_buffer.h"

/* Prints a time in UTC. format: of g_date_time_format; decimals of the second, 1 or 3, and the zone follow. */
void info_print_time(struct text_buffer *out, int64_t time_ns, const char *format, int decimals);

/* Appends a time since the first datagram of the connection, and in UTC: " [1.500 s, 12:00:01.5 UTC]". */
void info_print_moment(struct text_buffer *out, const struct info_connection *info, int64_t time_ns);

/* "warning", in its colour. */
void info_print_severity(struct text_buffer *out, enum ue_finding_id id);

/* A line with severity, sentence and time of a finding of the connection. */
void info_print_finding(struct text_buffer *out, const struct info_connection *info,
                        const struct info_finding *finding);

#endif

/* SPDX-License-Identifier: MIT */
/* What the capture of the other end shows of the same connections. */
#ifndef UERUDP_TOOLS_INFO_OTHER_END_H
#define UERUDP_TOOLS_INFO_OTHER_END_H

#include "tools/both_ends/vantage_points.h"
#include "tools/info/capture_info.h"
#include "tools/print/text_buffer.h"

/* Findings of each kind that are kept until they are compared: more than are printed, so that one that the other
   capture has is not missed. */
#define INFO_OTHER_END_FINDINGS 1000

/* Starts a reader of capture 1 with the options of the reader of capture 0, and reads the datagrams that are at the
   times that are selected of capture 0. Clear the reader. */
void info_other_end_read(const struct vantage_points *points, const struct selection *selection,
                         struct capture_reader *reader, const struct capture_reader *options,
                         struct info_capture *infos);

/* Joins the connections of capture 0 with those of capture 1 (struct info_connection, finished): sets ends, both_ends
   and other_end of the first, marks the findings that both have, and keeps findings_max of each kind. */
void info_other_end_join(const struct both_ends *ends, const GPtrArray *first, const GPtrArray *second,
                         unsigned findings_max);

/* Prints the findings that only the other end's capture has, and the figures of both. Prints nothing for a connection
   that has no other end. */
void info_other_end_print(struct text_buffer *out, const struct info_connection *info);

#endif

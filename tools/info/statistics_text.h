/* SPDX-License-Identifier: MIT */
/* The tables of a connection: traffic, times, channels, use of the bits. */
#ifndef UERUDP_TOOLS_INFO_STATISTICS_TEXT_H
#define UERUDP_TOOLS_INFO_STATISTICS_TEXT_H

#include "tools/info/connection_info.h"
#include "tools/print/phrase.h"
#include "tools/print/text_buffer.h"

void info_print_tables(struct text_buffer *out, const struct info_connection *info);

/* Print a row with a cell for each direction. A row of numbers is left out if both are zero. */
void info_print_row(struct text_buffer *out, const char *label, struct phrase client, struct phrase server);
void info_print_number_row(struct text_buffer *out, const char *label, uint64_t client, uint64_t server);

struct phrase info_text_number(uint64_t value);

/* Cells about a side: "12" packets missing in the capture, "7 (at least 2 needless)", "4-6 of 512". */
struct phrase info_text_missing(const struct info_connection *info, unsigned side);
struct phrase info_text_resends(const struct info_connection *info, unsigned side);
struct phrase info_text_buffer_peak(const struct info_connection *info, unsigned side);

#endif

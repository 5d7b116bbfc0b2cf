/* SPDX-License-Identifier: MIT */
/* Writes lines in a thread of its own, so that a reader who does not read never holds up the program. */
#ifndef UERUDP_TOOLS_LIVE_LINE_WRITER_H
#define UERUDP_TOOLS_LIVE_LINE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/* What waits to be written, at most. */
#define LINE_WRITER_BYTES (16u << 20)
/* How long the end waits without a byte being read. */
#define LINE_WRITER_TIMEOUT_US 2000000

struct line_writer;

/* The descriptor stays the caller's. */
struct line_writer *line_writer_new(int descriptor);

/* Copies a line with its newline. False: too much waits, the line is dropped. */
bool line_writer_write(struct line_writer *writer, const char *line);

/* Whether the reader caught up: less than half of what may wait does. */
bool line_writer_is_ready(struct line_writer *writer);

/* Waits until everything is written, but not for a reader who does not read. *lost: lines that were not written. False:
   there was an error of writing, which errno names. NULL is ignored. */
bool line_writer_close(struct line_writer *writer, uint64_t *lost);

#endif

/* SPDX-License-Identifier: MIT */
/* A line writer writes lines from its own thread, so that a blocked reader never blocks the program. */
#ifndef UERUDP_TOOLS_LIVE_LINE_WRITER_H
#define UERUDP_TOOLS_LIVE_LINE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/* Most bytes that wait to be written. */
#define LINE_WRITER_BYTES (16u << 20)
/* How long line_writer_close waits while the reader reads nothing. */
#define LINE_WRITER_TIMEOUT_US 2000000

struct line_writer;

/* The caller owns the descriptor. */
struct line_writer *line_writer_new(int descriptor);

/* Copies a line that ends with a newline. False: the buffer is full, and the line is dropped. */
bool line_writer_write(struct line_writer *writer, const char *line);

/* Whether less than half of the buffer is in use. */
bool line_writer_is_ready(struct line_writer *writer);

/* Waits until everything is written or the reader stops reading. *lost: lines that were not written. False: a write
   failed, see errno. NULL is ignored. */
bool line_writer_close(struct line_writer *writer, uint64_t *lost);

#endif

/* SPDX-License-Identifier: MIT */
/* A line on stderr with the progress in a long file. */
#ifndef UERUDP_TOOLS_INPUT_PROGRESS_LINE_H
#define UERUDP_TOOLS_INPUT_PROGRESS_LINE_H

#include <glib.h>
#include <stdbool.h>
#include "tools/input/datagram_source.h"

struct progress_line {
    bool is_silent; /* nothing is shown */
    gint64 begun_us;
    gint64 shown_us; /* time of the last output; 0: none */
};

/* Shows from time to time how much of the file is read, if stderr is a terminal. */
void progress_line_show(struct progress_line *progress, const struct datagram_source *input, uint64_t size_bytes);

/* Call it before other output on stderr. */
void progress_line_erase(struct progress_line *progress);

#endif

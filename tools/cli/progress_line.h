/* SPDX-License-Identifier: MIT */
/* A line on stderr with the progress of work that takes longer than a second, and a closing line. Nothing is shown
   where stderr is no terminal. */
#ifndef UERUDP_TOOLS_CLI_PROGRESS_LINE_H
#define UERUDP_TOOLS_CLI_PROGRESS_LINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The time is read once for this many frames. */
#define PROGRESS_LINE_FRAMES 1024u

#define PROGRESS_LINE_ERASE "\r\033[K"

struct progress_line {
    const char *unit; /* what is counted; NULL: frames */
    bool is_silent;   /* nothing is shown */
    bool was_shown;
    gint64 begun_us;
    gint64 shown_us; /* time of the last output; 0: none */
};

void progress_line_begin(struct progress_line *progress);

/* Whether it is time to show the line again. */
bool progress_line_is_due(const struct progress_line *progress);

/* Shows the share that is done, from 0 to 1, or less than 0 if it is not known: "42 %, 1200000 frames, 310000/s". */
void progress_line_show(struct progress_line *progress, double share, uint64_t frames);

/* Shows a sentence in place of shares and counts. */
void progress_line_show_text(struct progress_line *progress, const char *text);

/* Call it before other output on stderr. */
void progress_line_erase(struct progress_line *progress);

/* Replaces the line, if it was ever shown: "1200000 frames in 3.9 s, 310000/s". */
void progress_line_finish(struct progress_line *progress, uint64_t frames);

#endif

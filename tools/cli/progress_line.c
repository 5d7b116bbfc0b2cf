/* SPDX-License-Identifier: MIT */
#include "tools/cli/progress_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define STEP_US 250000
#define DELAY_US 1000000

void progress_line_begin(struct progress_line *progress) {
    progress->begun_us = g_get_monotonic_time();
}

bool progress_line_is_due(const struct progress_line *progress) {
    gint64 now_us = g_get_monotonic_time();
    return !progress->is_silent && now_us - progress->begun_us >= DELAY_US && now_us - progress->shown_us >= STEP_US &&
           isatty(STDERR_FILENO);
}

static double frames_per_second(const struct progress_line *progress, uint64_t frames, gint64 now_us) {
    return (double)frames * G_USEC_PER_SEC / (double)MAX(now_us - progress->begun_us, 1);
}

static const char *unit_of(const struct progress_line *progress) {
    return progress->unit != NULL ? progress->unit : "frames";
}

void progress_line_show_text(struct progress_line *progress, const char *text) {
    progress->shown_us = g_get_monotonic_time();
    progress->was_shown = true;
    fprintf(stderr, PROGRESS_LINE_ERASE "%s", text);
}

void progress_line_show(struct progress_line *progress, double share, uint64_t frames) {
    char percent[16] = "";
    if (share >= 0) {
        snprintf(percent, sizeof percent, "%3.0f %%, ", 100 * MIN(share, 1));
    }
    char *text = g_strdup_printf("%s%" PRIu64 " %s, %.0f/s", percent, frames, unit_of(progress),
                                 frames_per_second(progress, frames, g_get_monotonic_time()));
    progress_line_show_text(progress, text);
    g_free(text);
}

void progress_line_erase(struct progress_line *progress) {
    if (progress->shown_us != 0) {
        fputs(PROGRESS_LINE_ERASE, stderr);
        progress->shown_us = 0;
    }
}

void progress_line_finish(struct progress_line *progress, uint64_t frames) {
    gint64 now_us = g_get_monotonic_time();
    progress_line_erase(progress);
    if (progress->was_shown) {
        fprintf(stderr, "%" PRIu64 " %s in %.1f s, %.0f/s\n", frames, unit_of(progress),
                (double)(now_us - progress->begun_us) / G_USEC_PER_SEC, frames_per_second(progress, frames, now_us));
        progress->was_shown = false;
    }
}

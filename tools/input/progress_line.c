/* SPDX-License-Identifier: MIT */
#include "tools/input/progress_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define PROGRESS_STEP_US 250000
#define PROGRESS_DELAY_US 1000000

void progress_line_erase(struct progress_line *progress) {
    if (progress->shown_us != 0) {
        fputs("\r\033[K", stderr);
        progress->shown_us = 0;
    }
}

void progress_line_show(struct progress_line *progress, const struct datagram_source *input, uint64_t size_bytes) {
    if (input->frame % 1024 != 0 || size_bytes == 0 || progress->is_silent || !isatty(STDERR_FILENO)) {
        return;
    }
    gint64 now = g_get_monotonic_time();
    if (now - progress->begun_us < PROGRESS_DELAY_US || now - progress->shown_us < PROGRESS_STEP_US) {
        return;
    }
    progress->shown_us = now;
    fprintf(stderr, "\r\033[K%3.0f %%, frame %" PRIu64,
            100.0 * (double)datagram_source_consumed_bytes(input) / (double)size_bytes, input->frame);
}

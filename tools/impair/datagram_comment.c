/* SPDX-License-Identifier: MIT */
#include "tools/impair/datagram_comment.h"

#include <glib.h>
#include <string.h>
#include <uerudp/time_ns.h>

static void add_text(GString *comment, const char *text) {
    g_string_append_printf(comment, "%s%s", comment->len != 0 ? ", " : "", text);
}

/* "corrupted bit 3, 77" */
static void add_flips(GString *comment, const struct impair_arrival *arrived, const struct sim_link_report *report) {
    if (arrived->size_bytes == 0 || memcmp(report->bytes, arrived->bytes, arrived->size_bytes) == 0) {
        return;
    }
    add_text(comment, "corrupted bit");
    const char *separator = " ";
    for (size_t bit = 0; bit < 8 * arrived->size_bytes; bit++) {
        if (((report->bytes[bit / 8] ^ arrived->bytes[bit / 8]) >> bit % 8 & 1) != 0) {
            g_string_append_printf(comment, "%s%zu", separator, bit);
            separator = ", ";
        }
    }
}

char *impair_comment_of_changes(const struct impair_arrival *arrived, const struct sim_link_report *report,
                                bool is_overtaken) {
    GString *comment = g_string_new(NULL);
    char delay[64];
    if (report->copy != 0) {
        add_text(comment, "duplicate");
    }
    if (report->now_ns > arrived->time_ns) {
        g_snprintf(delay, sizeof delay, "delayed by %.1f ms",
                   (double)(report->now_ns - arrived->time_ns) / UE_NS_PER_MS);
        add_text(comment, delay);
    }
    if (is_overtaken) {
        add_text(comment, "reordered");
    }
    add_flips(comment, arrived, report);
    return g_string_free(comment, FALSE);
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/overview_text.h"

#include <inttypes.h>

#include "tools/info/finding_text.h"
#include "tools/print/phrase.h"
#include "tools/print/text_style.h"

static gint by_worst(gconstpointer a, gconstpointer b) {
    const struct info_connection *const *one = a, *const *two = b;
    return info_findings_compare(&(*one)->findings, &(*two)->findings);
}

static void print_line(struct text_buffer *out, const struct info_connection *info) {
    const struct info_finding *worst = info_findings_worst(&info->findings);
    char duration[32] = "?";
    if (info->course->implausible == 0) {
        g_snprintf(duration, sizeof duration, "%.1f s", phrase_seconds(info->course->last_ns - info->course->first_ns));
    }
    text_buffer_add_format(out, "  %6" PRIu32 "  %-21s %11s  %-9s ", info->stream, info->sides[0].address, duration,
                           info_end_name(info_connection_end(info)));
    if (worst != NULL) {
        g_autofree char *sentence = info_finding_sentence(worst);
        info_print_severity(out, worst->id);
        text_buffer_add_format(out, ": %s\n", sentence);
    } else {
        text_buffer_add(out, "nothing found\n");
    }
}

void info_print_overview(struct text_buffer *out, const GPtrArray *infos) {
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < infos->len; i++) {
        g_ptr_array_add(sorted, g_ptr_array_index(infos, i));
    }
    g_ptr_array_sort(sorted, by_worst);
    text_style_add_title(out, "%s%s", phrase_count(infos->len, "connection").text,
                         infos->len > 1 ? ", worst first" : "");
    text_buffer_add_format(out, "  %6s  %-21s %11s  %-9s %s\n", "stream", "client", "duration", "closed by",
                           "worst finding");
    for (guint i = 0; i < sorted->len; i++) {
        print_line(out, g_ptr_array_index(sorted, i));
    }
}

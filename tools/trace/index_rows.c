/* SPDX-License-Identifier: MIT */
#include "tools/trace/index_rows.h"

#include "tools/info/json_report.h"
#include "tools/trace/page_template.h"

/* Points of a sparkline. */
#define POINTS_MAX 60

/* Sums of a count of all bins, in groups of equal size. */
static json_t *sums_of(const struct trace_plot *plot, unsigned side, uint64_t (*count)(const struct trace_plot_bin *)) {
    guint bins = trace_plot_bin_count(plot), group = (bins + POINTS_MAX - 1) / POINTS_MAX;
    json_t *array = json_array();
    for (guint first = 0; first < bins; first += group) {
        uint64_t sum = 0;
        for (guint i = first; i < MIN(first + group, bins); i++) {
            sum += count(&plot->bins[side][i]);
        }
        json_array_append_new(array, json_integer((json_int_t)sum));
    }
    return array;
}

static uint64_t bytes_of(const struct trace_plot_bin *bin) {
    return bin->bytes;
}

static uint64_t lost_of(const struct trace_plot_bin *bin) {
    return bin->lost;
}

static uint64_t reported_of(const struct trace_plot_bin *bin) {
    return bin->lost + bin->delivered;
}

static json_t *both_sums(const struct trace_plot *plot, uint64_t (*count)(const struct trace_plot_bin *)) {
    return json_pack("[o, o]", sums_of(plot, 0, count), sums_of(plot, 1, count));
}

static json_t *row_object(const struct trace_plot *plot, const char *page) {
    json_t *info = info_to_json(plot->info);
    json_object_del(info, "channels"); /* large, and not shown */
    json_object_del(info, "story");
    g_autofree char *path = g_filename_to_utf8(page, -1, NULL, NULL, NULL);
    g_autofree char *link = g_filename_display_name(page);
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "page", path != NULL ? path : link, "info", info, "generations",
                     plot->info->generations, "bytes", both_sums(plot, bytes_of), "lost", both_sums(plot, lost_of),
                     "reported", both_sums(plot, reported_of));
}

static gint by_worst(gconstpointer a, gconstpointer b) {
    const struct trace_plot *const *one = a, *const *two = b;
    return info_findings_compare(&(*one)->info->findings, &(*two)->info->findings);
}

void trace_write_index(GPtrArray *plots, const GPtrArray *pages, struct text_buffer *out) {
    json_auto_t *rows = json_array();
    struct text_buffer data = {0};
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (guint i = 0; i < plots->len; i++) {
        g_ptr_array_add(sorted, plots->pdata[i]);
    }
    g_ptr_array_sort(sorted, by_worst);
    for (guint i = 0; i < sorted->len; i++) {
        guint place = 0;
        g_ptr_array_find(plots, sorted->pdata[i], &place);
        json_array_append_new(rows, row_object(sorted->pdata[i], pages->pdata[place]));
    }
    trace_add_json(rows, &data);
    trace_write_template("index.html", &data, out);
    text_buffer_free(&data);
}

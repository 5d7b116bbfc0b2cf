/* SPDX-License-Identifier: MIT */
#include "tools/info/bandwidth_rows.h"

#include <string.h>

#define OPEN_MIN_S 0.1 /* a rate over a shorter time says nothing */

const char *info_bandwidth_by_name(enum ue_bandwidth_by by) {
    static const char *const names[] = {"classes", "actors", "channels"};
    return names[by];
}

const char *info_bandwidth_class_of(const struct ue_bandwidth_row *row) {
    return row->class_row != NULL ? row->class_row->name : row->name;
}

double info_bandwidth_updates_per_s(const struct ue_bandwidth_row *row) {
    double open_s = (double)row->open_ns / 1e9;
    return open_s >= OPEN_MIN_S ? (double)(row->counts.updates[0] + row->counts.updates[1]) / open_s : -1;
}

/* Datagrams whose time is before that of the first one are in the first bin, those after the last one in later bins. */
size_t info_bandwidth_bins(const struct ue_bandwidth_totals *totals) {
    size_t bins = 0;
    for (unsigned kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        const struct ue_bandwidth_series *series = &totals->series[kind];
        for (size_t bin = series->count; bin > bins; bin--) {
            bins = series->bits[bin - 1][0] + series->bits[bin - 1][1] != 0 ? bin : bins;
        }
    }
    return bins;
}

uint64_t info_bandwidth_row_bits(const struct ue_bandwidth_row *row) {
    return ue_bandwidth_bits(&row->counts, 0) + ue_bandwidth_bits(&row->counts, 1);
}

static double weight(const struct ue_bandwidth_row *row, enum info_bandwidth_order order) {
    switch (order) {
    case INFO_BANDWIDTH_BY_PEAK: return (double)MAX(row->counts.peak_bits[0], row->counts.peak_bits[1]);
    case INFO_BANDWIDTH_BY_UPDATES: return info_bandwidth_updates_per_s(row);
    default: return (double)info_bandwidth_row_bits(row);
    }
}

/* The rest is last, and equal rows stay in the order of their first bits. */
static gint compare(gconstpointer a, gconstpointer b, gpointer user) {
    const struct ue_bandwidth_row *left = a, *right = b;
    enum info_bandwidth_order order = *(const enum info_bandwidth_order *)user;
    double weights[] = {weight(left, order), weight(right, order)};
    if (left->is_rest != right->is_rest) {
        return left->is_rest ? 1 : -1;
    }
    return weights[0] > weights[1] ? -1 : weights[0] < weights[1];
}

static void add_counts(struct ue_bandwidth_counts *sum, const struct ue_bandwidth_counts *counts) {
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
            sum->bits[kind][side] += counts->bits[kind][side];
        }
        sum->header_bits[side] += counts->header_bits[side];
        sum->bunches[side] += counts->bunches[side];
        sum->updates[side] += counts->updates[side];
    }
}

/* Replaces the rows from a place on by their sum. */
static void merge_rest(GArray *rows, guint first) {
    struct ue_bandwidth_row rest = {.is_rest = true};
    for (guint i = first; i < rows->len; i++) {
        const struct ue_bandwidth_row *row = &g_array_index(rows, struct ue_bandwidth_row, i);
        add_counts(&rest.counts, &row->counts);
        rest.opens += row->opens;
        rest.dormant += row->dormant;
        rest.open_ns += row->open_ns;
        for (unsigned side = 0; side < 2; side++) {
            rest.waits[side] += row->waits[side];
            rest.longest_wait_ns[side] = MAX(rest.longest_wait_ns[side], row->longest_wait_ns[side]);
        }
    }
    g_array_set_size(rows, first);
    g_array_append_val(rows, rest);
}

/* What the bunches have, without the classes that have a row. */
static struct ue_bandwidth_series rest_series(const struct ue_bandwidth_totals *totals, const GArray *rows) {
    size_t bins = info_bandwidth_bins(totals);
    struct ue_bandwidth_series rest = {g_malloc0_n(bins, sizeof *rest.bits), bins};
    for (unsigned kind = 0; kind < UE_BANDWIDTH_HEADERS; kind++) {
        const struct ue_bandwidth_series *series = &totals->series[kind];
        for (size_t i = 0; i < 2 * MIN(series->count, bins); i++) {
            rest.bits[i / 2][i % 2] += series->bits[i / 2][i % 2];
        }
    }
    for (guint row = 0; row + 1 < rows->len; row++) {
        const struct ue_bandwidth_series *series = &g_array_index(rows, struct ue_bandwidth_row, row).series;
        for (size_t i = 0; i < 2 * MIN(series->count, bins); i++) {
            rest.bits[i / 2][i % 2] -= series->bits[i / 2][i % 2];
        }
    }
    return rest;
}

static void clear_row(gpointer user) {
    struct ue_bandwidth_row *row = user;
    if (row->is_rest) {
        g_free(row->series.bits);
    }
}

GArray *info_bandwidth_rows(const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by,
                            const struct info_bandwidth_options *options, int rows_max, size_t *more) {
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct ue_bandwidth_row));
    enum info_bandwidth_order order = options->order;
    size_t count = ue_bandwidth_row_count(bandwidth, by);
    for (size_t i = 0; i < count; i++) {
        g_array_append_vals(rows, ue_bandwidth_row_at(bandwidth, by, i), 1);
    }
    g_array_sort_with_data(rows, compare, &order);
    size_t limit = (size_t)rows_max;
    *more = limit != 0 && count > limit ? count - limit : 0;
    if (*more != 0) {
        merge_rest(rows, (guint)rows_max);
    }
    struct ue_bandwidth_row *last =
        rows->len != 0 ? &g_array_index(rows, struct ue_bandwidth_row, rows->len - 1) : NULL;
    if (last != NULL && last->is_rest) {
        bool has_series = by == UE_BANDWIDTH_BY_CLASS;
        last->series = has_series ? rest_series(ue_bandwidth_totals(bandwidth), rows) : (struct ue_bandwidth_series){0};
    }
    g_array_set_clear_func(rows, clear_row);
    return rows;
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/bandwidth_json.h"

#include <inttypes.h>

#include "tools/info/bandwidth_rows.h"
#include "tools/info/json_values.h"

/* Kinds without bits are left out. */
static json_t *kinds_object(const struct ue_bandwidth_counts *of) {
    json_t *object = json_object();
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        if (of->bits[kind][0] + of->bits[kind][1] != 0) {
            json_object_set_new(object, ue_bandwidth_kind_name(kind), info_counts(of->bits[kind]));
        }
    }
    return object;
}

static json_t *total(const struct ue_bandwidth_counts *of) {
    return info_counts((const uint64_t[]){ue_bandwidth_bits(of, 0), ue_bandwidth_bits(of, 1)});
}

static json_t *seconds(const struct ue_bandwidth_counts *of) {
    return info_both(of->peak_bits[0] != 0 ? json_integer(of->peak_second[0]) : json_null(),
                     of->peak_bits[1] != 0 ? json_integer(of->peak_second[1]) : json_null());
}

/* Members of the whole connection, and of each row. */
static void add_counts(json_t *object, const struct ue_bandwidth_counts *of, bool has_peak) {
    json_object_set_new(object, "bits", kinds_object(of));
    json_object_set_new(object, "total", total(of));
    json_object_set_new(object, "bunch_headers", info_counts(of->header_bits));
    json_object_set_new(object, "bunches", info_counts(of->bunches));
    json_object_set_new(object, "updates", info_counts(of->updates));
    json_object_set_new(object, "peak_bits", has_peak ? info_counts(of->peak_bits) : json_null());
    json_object_set_new(object, "peak_second", has_peak ? seconds(of) : json_null());
}

/* ---- rows ---- */

static json_t *guid(const struct ue_bandwidth_row *row) {
    char text[24];
    g_snprintf(text, sizeof text, "%" PRIu64, row->guid);
    return row->guid == 0 ? json_null() : row->guid <= INT64_MAX ? info_count(row->guid) : json_string(text);
}

/* ---- saturation ---- */

static json_t *ms(int64_t span_ns) {
    return json_real((double)span_ns / 1e6);
}

static double since_s(const struct ue_bandwidth_totals *totals, int64_t time_ns) {
    return (double)(time_ns - totals->first_ns) / 1e9;
}

static json_t *longest(const struct ue_bandwidth_totals *totals, const struct ue_saturation_span *span) {
    return span->frame == 0 ? json_null()
                            : json_pack("{s:o, s:f, s:o, s:o}", "frame", info_count(span->frame), "time_s",
                                        since_s(totals, span->begin_ns), "duration_ms", ms(span->length_ns),
                                        "rate_bytes_per_s", info_count((uint64_t)span->rate));
}

/* null: the rate is not known, or no packet followed it. */
static json_t *saturation(const struct ue_bandwidth_totals *totals, const struct ue_saturation *of) {
    bool has_peak = of->peak_frame != 0;
    if (of->packets == 0) {
        return json_null();
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rate_bytes_per_s", info_count((uint64_t)of->rate), "tick_ms",
        of->tick_ns != 0 ? ms(of->tick_ns) : json_null(), "packets", info_count(of->packets), "times",
        info_count(of->spans), "total_ms", ms(of->total_ns), "longest", longest(totals, &of->longest),
        "queued_peak_bits", has_peak ? json_integer(of->peak_bits) : json_null(), "queued_peak_frame",
        has_peak ? info_count(of->peak_frame) : json_null(), "queued_peak_ms", ms(ue_saturation_peak_ns(of)));
}

static json_t *row_object(enum ue_bandwidth_by by, const struct ue_bandwidth_row *row, bool has_times) {
    const char *name = info_bandwidth_class_of(row);
    bool has_channel = !row->is_rest && by != UE_BANDWIDTH_BY_CLASS;
    double per_s = has_times ? info_bandwidth_updates_per_s(row) : -1;
    json_t *object = json_object();
    json_object_set_new(object, "class", name != NULL ? json_string(name) : json_null());
    json_object_set_new(object, "is_actor", row->is_rest ? json_null() : json_boolean(row->is_actor));
    if (by == UE_BANDWIDTH_BY_ACTOR) {
        json_object_set_new(object, "guid", guid(row));
    }
    if (by != UE_BANDWIDTH_BY_CLASS) {
        json_object_set_new(object, "channel", has_channel ? info_count(row->channel) : json_null());
    }
    if (by == UE_BANDWIDTH_BY_CHANNEL) {
        json_object_set_new(object, "waits", info_counts(row->waits));
        json_object_set_new(object, "longest_wait_ms",
                            info_both(ms(row->longest_wait_ns[0]), ms(row->longest_wait_ns[1])));
    }
    json_object_set_new(object, "others", json_boolean(row->is_rest));
    json_object_set_new(object, "opens", info_count(row->opens));
    json_object_set_new(object, "dormant", info_count(row->dormant));
    json_object_set_new(object, "open_s", has_times ? json_real((double)row->open_ns / 1e9) : json_null());
    json_object_set_new(object, "updates_per_s", per_s >= 0 ? json_real(per_s) : json_null());
    add_counts(object, &row->counts, has_times && !row->is_rest);
    return object;
}

static json_t *rows_array(const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by,
                          const struct info_bandwidth_options *options, bool has_times) {
    size_t more;
    json_t *array = json_array();
    g_autoptr(GArray) rows = info_bandwidth_rows(bandwidth, by, options, options->rows_max, &more);
    for (guint i = 0; i < rows->len; i++) {
        json_array_append_new(array, row_object(by, &g_array_index(rows, struct ue_bandwidth_row, i), has_times));
    }
    return array;
}

/* ---- over time ---- */

static json_t *series_array(const struct ue_bandwidth_series *series, unsigned side, size_t bins) {
    json_t *array = json_array();
    for (size_t i = 0; i < bins; i++) {
        json_array_append_new(array, info_count(i < series->count ? series->bits[i][side] : 0));
    }
    return array;
}

static json_t *series_object(const struct ue_bandwidth_series *series, size_t bins) {
    return info_both(series_array(series, 0, bins), series_array(series, 1, bins));
}

static json_t *kind_series(const struct ue_bandwidth_totals *totals, size_t bins) {
    json_t *object = json_object();
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        if (totals->series[kind].count != 0) {
            json_object_set_new(object, ue_bandwidth_kind_name(kind), series_object(&totals->series[kind], bins));
        }
    }
    return object;
}

static json_t *class_series(const struct ue_bandwidth *bandwidth, const struct info_bandwidth_options *options,
                            size_t bins) {
    size_t more;
    json_t *array = json_array();
    g_autoptr(GArray) rows = info_bandwidth_rows(bandwidth, UE_BANDWIDTH_BY_CLASS, options, options->rows_max, &more);
    for (guint i = 0; i < rows->len; i++) {
        const struct ue_bandwidth_row *row = &g_array_index(rows, struct ue_bandwidth_row, i);
        if (row->series.count != 0) {
            json_t *object = series_object(&row->series, bins);
            json_object_set_new(object, "class", row->name != NULL ? json_string(row->name) : json_null());
            json_object_set_new(object, "others", json_boolean(row->is_rest));
            json_array_append_new(array, object);
        }
    }
    return array;
}

json_t *info_bandwidth_to_json(const struct ue_bandwidth *bandwidth, const struct info_bandwidth_options *options,
                               const struct ue_findings *findings) {
    const struct ue_bandwidth_totals *totals = ue_bandwidth_totals(bandwidth);
    bool has_times = ue_findings_course(findings)->implausible == 0;
    size_t bins = info_bandwidth_bins(totals);
    json_t *object = json_object();
    add_counts(object, &totals->counts, has_times);
    json_object_set_new(object, "datagrams", info_counts(totals->datagrams));
    json_object_set_new(object, "ip_udp", info_counts(totals->ip_udp_bits));
    for (enum ue_bandwidth_by by = 0; by < UE_BANDWIDTH_BY_COUNT; by++) {
        json_object_set_new(object, info_bandwidth_by_name(by), rows_array(bandwidth, by, options, has_times));
    }
    json_object_set_new(object, "saturation",
                        has_times ? info_both(saturation(totals, ue_findings_saturation(findings, 0)),
                                              saturation(totals, ue_findings_saturation(findings, 1)))
                                  : json_null());
    json_object_set_new(object, "series",
                        !has_times
                            ? json_null()
                            : json_pack("{s:f, s:o, s:o}", "bin_s", (double)totals->bin_ns / 1e9, "kinds",
                                        kind_series(totals, bins), "classes", class_series(bandwidth, options, bins)));
    return object;
}

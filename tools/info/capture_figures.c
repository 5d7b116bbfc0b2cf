/* SPDX-License-Identifier: MIT */
#include "tools/info/capture_figures.h"

#include <math.h>
#include <uerudp/time_ns.h>

#include "tools/print/phrase.h"

#define PERCENT 100

/* ---- times ---- */

/* A percentile of one connection, which stands for a hundredth of its samples. */
struct quantile {
    int64_t value;
    uint64_t weight;
};

static gint compare(gconstpointer a, gconstpointer b) {
    const struct quantile *one = a, *two = b;
    return (one->value > two->value) - (one->value < two->value);
}

static void add_quantiles(GArray *quantiles, const struct ue_histogram *histogram) {
    for (unsigned percent = 1; histogram->count != 0 && percent <= PERCENT; percent++) {
        struct quantile quantile = {ue_histogram_percentile(histogram, percent), histogram->count};
        g_array_append_val(quantiles, quantile);
    }
}

static double weighted_percentile(const GArray *quantiles, unsigned percent, double unit) {
    double sum = 0, weight = 0;
    for (guint i = 0; i < quantiles->len; i++) {
        sum += (double)g_array_index(quantiles, struct quantile, i).weight;
    }
    for (guint i = 0; i < quantiles->len; i++) {
        const struct quantile *quantile = &g_array_index(quantiles, struct quantile, i);
        weight += (double)quantile->weight;
        if (weight * PERCENT >= sum * percent) {
            return (double)quantile->value / unit;
        }
    }
    return NAN;
}

static struct info_percentiles percentiles_of(const GPtrArray *infos, size_t offset, double unit) {
    g_autoptr(GArray) quantiles = g_array_new(FALSE, FALSE, sizeof(struct quantile));
    for (guint i = 0; i < infos->len; i++) {
        const struct info_connection *info = g_ptr_array_index(infos, i);
        if (info->course->implausible == 0) {
            add_quantiles(quantiles, (const void *)((const char *)info->timing + offset));
        }
    }
    g_array_sort(quantiles, compare);
    struct info_percentiles percentiles = {weighted_percentile(quantiles, 50, unit),
                                           weighted_percentile(quantiles, 99, unit)};
    return percentiles;
}

/* ---- sums ---- */

static void add_way(struct info_way_figures *way, const struct info_side *side) {
    const struct ue_side_totals *totals = side->totals;
    way->packets += totals->rate.total_datagrams; /* without copies, which were not sent */
    way->whole_bytes += totals->rate.whole_bytes;
    way->whole_seconds += totals->rate.whole_seconds;
    way->reported += totals->counts.acked + totals->counts.nacked;
    way->not_acked += totals->counts.nacked;
    way->reliable += totals->counts.reliable;
    way->resends += totals->counts.resends;
    way->peak_bytes_per_s = MAX(way->peak_bytes_per_s, totals->rate.network.peak_bytes);
}

static void add_findings(struct info_figures *figures, const struct info_connection *info) {
    enum ue_finding_id stall = ue_finding_kind(UE_FINDING_STALL);
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        figures->findings[kind] += info_findings_count(&info->findings, kind);
        figures->affected[kind] += info_findings_count(&info->findings, kind) != 0;
    }
    const GPtrArray *stalls = info_findings_kept(&info->findings, stall);
    if (stalls != NULL && stalls->len != 0) {
        struct ue_finding longest = info_finding_detected(info_findings_at(stalls, 0));
        figures->longest_stall_ms =
            MAX(figures->longest_stall_ms, phrase_milliseconds(longest.values[UE_VALUE_SPAN].at_least));
    }
}

struct info_figures info_figures_of(const GPtrArray *infos) {
    struct info_figures figures = {.connections = infos->len, .has_times = infos->len != 0};
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (guint i = 0; i < infos->len; i++) {
        const struct info_connection *info = g_ptr_array_index(infos, i);
        first_ns = MIN(first_ns, info->course->first_ns);
        last_ns = MAX(last_ns, info->course->last_ns);
        figures.has_times &= info->course->implausible == 0;
        figures.connection_s += phrase_seconds(info->course->last_ns - info->course->first_ns);
        add_way(&figures.ways[0], &info->sides[0]);
        add_way(&figures.ways[1], &info->sides[1]);
        add_findings(&figures, info);
    }
    figures.has_times = figures.has_times && figures.connection_s > 0;
    figures.duration_s = figures.has_times ? phrase_seconds(last_ns - first_ns) : 0;
    figures.rtt = percentiles_of(infos, offsetof(struct ue_timing, rtt), UE_NS_PER_MS);
    figures.server_frame_time = percentiles_of(infos, offsetof(struct ue_timing, frame_time_ms), 1);
    return figures;
}

double info_figures_per_minute(const struct info_figures *figures, uint64_t count) {
    return figures->has_times ? 60 * (double)count / figures->connection_s : NAN;
}

bool info_figures_grows(unsigned kind) {
    static const enum ue_finding_id ids[] = {
        UE_FINDING_UNDELIVERED, UE_FINDING_STALL,    UE_FINDING_SILENCE,    UE_FINDING_ACK_GAP,   UE_FINDING_PAUSE,
        UE_FINDING_LOSS_BURST,  UE_FINDING_REPEATED, UE_FINDING_NEVER_SENT, UE_FINDING_MALFORMED, UE_FINDING_GAP};
    bool grows = false;
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
        grows |= ue_finding_kind(ids[i]) == kind;
    }
    return grows;
}

double info_figures_frequency(const struct info_figures *figures, unsigned kind) {
    if (info_figures_grows(kind)) {
        return info_figures_per_minute(figures, figures->findings[kind]);
    }
    return figures->connections != 0 ? (double)figures->affected[kind] / (double)figures->connections : NAN;
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/comparison_report.h"

#include <inttypes.h>
#include <math.h>

#include "tools/print/json.h"
#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_style.h"

/* Durations and frequencies that differ by a smaller share are the same. */
#define SAME_SHARE 0.1

/* ---- figures ---- */

/* A row of the table. */
struct figure {
    const char *key, *label, *unit;
    int decimals;
    unsigned way;
    double (*compute)(const struct info_figures *figures, unsigned way);
};

static double percent(uint64_t part, uint64_t whole) {
    return whole != 0 ? 100.0 * (double)part / (double)whole : NAN;
}

#define FIGURE(name, expression)                                                                                       \
    static double name(const struct info_figures *figures, unsigned way) {                                             \
        (void)way;                                                                                                     \
        return (expression);                                                                                           \
    }

FIGURE(loss, percent(figures->ways[way].not_acked, figures->ways[way].reported))
FIGURE(resends, percent(figures->ways[way].resends, figures->ways[way].reliable))
FIGURE(bandwidth, figures->has_times && figures->ways[way].whole_seconds != 0
                      ? (double)figures->ways[way].whole_bytes / (double)figures->ways[way].whole_seconds
                      : NAN)
FIGURE(packet_rate, figures->has_times ? (double)figures->ways[way].packets / figures->connection_s : NAN)
FIGURE(peak, figures->ways[way].peak_bytes_per_s != 0 ? (double)figures->ways[way].peak_bytes_per_s : NAN)
FIGURE(rtt_p50, figures->rtt.p50_ms)
FIGURE(rtt_p99, figures->rtt.p99_ms)
FIGURE(frame_time, figures->server_frame_time.p50_ms)
FIGURE(stalls, info_figures_per_minute(figures, figures->findings[ue_finding_kind(UE_FINDING_STALL)]))
FIGURE(longest_stall, figures->connections != 0 ? (double)figures->longest_stall_ms : NAN)

static const struct figure rows[] = {
    {"loss_c2s_percent", "loss client to server", "%", 2, 0, loss},
    {"loss_s2c_percent", "loss server to client", "%", 2, 1, loss},
    {"rtt_p50_ms", "round trip p50", "ms", 1, 0, rtt_p50},
    {"rtt_p99_ms", "round trip p99", "ms", 1, 0, rtt_p99},
    {"stalls_per_minute", "reliable stalls", "per minute", 2, 0, stalls},
    {"longest_stall_ms", "longest stall", "ms", 0, 0, longest_stall},
    {"resends_c2s_percent", "resends client to server", "% of bunches", 1, 0, resends},
    {"resends_s2c_percent", "resends server to client", "% of bunches", 1, 1, resends},
    {"bytes_per_s_c2s", "bandwidth to the server", "bytes/s", 0, 0, bandwidth},
    {"bytes_per_s_s2c", "bandwidth to the client", "bytes/s", 0, 1, bandwidth},
    {"peak_bytes_per_s_c2s", "peak to the server", "bytes/s", 0, 0, peak},
    {"peak_bytes_per_s_s2c", "peak to the client", "bytes/s", 0, 1, peak},
    {"packets_per_s_c2s", "packets to the server", "per second", 1, 0, packet_rate},
    {"packets_per_s_s2c", "packets to the client", "per second", 1, 1, packet_rate},
    {"server_frame_time_ms", "server frame time p50", "ms", 0, 0, frame_time},
};

/* ---- text ---- */

static struct phrase number(double value, int decimals) {
    return !isnan(value) ? phrase_format("%.*f", decimals, value) : (struct phrase){"-"};
}

/* The change of what is printed: "+0.20", "same", or nothing if one of them is not known. */
static struct phrase change(double before, double after, int decimals) {
    double by = after - before;
    bool is_same = fabs(by) < 0.5 * pow(10, -decimals);
    return isnan(by) ? (struct phrase){""} : is_same ? (struct phrase){"same"} : phrase_format("%+.*f", decimals, by);
}

static void print_figure(struct text_buffer *out, const struct info_comparison *comparison, const struct figure *row) {
    double before = row->compute(&comparison->figures[0], row->way);
    double after = row->compute(&comparison->figures[1], row->way);
    if (!isnan(before) || !isnan(after)) {
        text_buffer_add_format(out, "  %-26s %12s %12s %12s  %s\n", row->label, number(before, row->decimals).text,
                               number(after, row->decimals).text, change(before, after, row->decimals).text, row->unit);
    }
}

static bool differs(double a, double b) {
    return fabs(a - b) > SAME_SHARE * fmax(a, b);
}

static void print_capture(struct text_buffer *out, const char *when, const char *name,
                          const struct info_figures *figures) {
    text_buffer_add_format(out, "%-7s ", when);
    text_escape_add_utf8(out, name, TEXT_ESCAPE_PLAIN);
    text_buffer_add_format(out, ": %s", phrase_count(figures->connections, "connection").text);
    if (figures->has_times) {
        text_buffer_add_format(out, ", %.1f s, %.1f s of all connections together", figures->duration_s,
                               figures->connection_s);
    }
    text_buffer_add_char(out, '\n');
}

static void print_warning(struct text_buffer *out, const struct info_figures *before,
                          const struct info_figures *after) {
    bool has_times = before->has_times && after->has_times;
    bool other_players = before->connections != after->connections;
    bool other_duration = has_times && differs(before->duration_s, after->duration_s);
    if (before->connections == 0 || after->connections == 0) {
        text_buffer_add(out, "a capture without a connection has no figures\n");
    } else if (!has_times) {
        text_buffer_add(out, "not all connections have plausible times and a duration: rates are not known\n");
    } else if (other_players || other_duration) {
        text_buffer_add_format(
            out,
            "the captures differ in %s%s%s: the figures are shares and rates per connection, not "
            "totals; only the peaks and the longest stall are maxima, which grow with the duration\n",
            other_duration ? "duration" : "", other_duration && other_players ? " and " : "",
            other_players ? "number of connections" : "");
    }
}

static const char *verdict(const struct info_comparison *comparison, unsigned kind) {
    const struct info_figures *before = &comparison->figures[0], *after = &comparison->figures[1];
    double earlier = info_figures_frequency(before, kind);
    double later = info_figures_frequency(after, kind);
    if (before->findings[kind] == 0 || after->findings[kind] == 0) {
        return before->findings[kind] == 0 ? "appeared" : "disappeared";
    }
    return isnan(earlier) || isnan(later) ? "in both"
           : !differs(earlier, later)     ? "same"
           : later > earlier              ? "more"
                                          : "fewer";
}

/* "12 (1.7 per minute)", "in 2 of 3 connections" */
static struct phrase frequency(const struct info_comparison *comparison, unsigned which, unsigned kind) {
    const struct info_figures *figures = &comparison->figures[which];
    if (!info_figures_grows(kind)) {
        return phrase_format("in %" PRIu64 " of %s", figures->affected[kind],
                             phrase_count(figures->connections, "connection").text);
    }
    return figures->has_times ? phrase_format("%" PRIu64 " (%.1f per minute)", figures->findings[kind],
                                              info_figures_per_minute(figures, figures->findings[kind]))
                              : phrase_format("%" PRIu64, figures->findings[kind]);
}

static bool has_finding(const struct info_comparison *comparison, unsigned kind) {
    return comparison->figures[0].findings[kind] + comparison->figures[1].findings[kind] != 0;
}

static void print_findings(struct text_buffer *out, const struct info_comparison *comparison) {
    bool is_any = false;
    text_style_add(out, TEXT_STYLE_TITLE, "findings, per minute of a connection or by connections");
    text_buffer_add_char(out, '\n');
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        if (has_finding(comparison, kind)) {
            is_any = true;
            text_buffer_add_format(out, "  %-18s %24s %24s  %s\n", ue_finding_rows[kind].name,
                                   frequency(comparison, 0, kind).text, frequency(comparison, 1, kind).text,
                                   verdict(comparison, kind));
        }
    }
    text_buffer_add(out, is_any ? "" : "  none in either capture\n");
}

void info_print_comparison(struct text_buffer *out, const struct info_comparison *comparison) {
    print_capture(out, "before", comparison->names[0], &comparison->figures[0]);
    print_capture(out, "after", comparison->names[1], &comparison->figures[1]);
    print_warning(out, &comparison->figures[0], &comparison->figures[1]);
    text_style_add_title(out, "%-28s %12s %12s %12s", "figures of a connection", "before", "after", "change");
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        print_figure(out, comparison, &rows[i]);
    }
    print_findings(out, comparison);
}

/* ---- JSON ---- */

static json_t *real_or_null(double value) {
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *capture_object(const struct info_comparison *comparison, unsigned which) {
    const struct info_figures *figures = &comparison->figures[which];
    json_t *object = json_object();
    json_object_set_new(object, "capture", json_string(comparison->names[which]));
    json_object_set_new(object, "connections", json_integer((json_int_t)figures->connections));
    json_object_set_new(object, "duration_s", real_or_null(figures->has_times ? figures->duration_s : NAN));
    json_object_set_new(object, "connection_s", real_or_null(figures->has_times ? figures->connection_s : NAN));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        json_object_set_new(object, rows[i].key, real_or_null(rows[i].compute(figures, rows[i].way)));
    }
    return object;
}

static json_t *finding_side(const struct info_comparison *comparison, unsigned which, unsigned kind) {
    const struct info_figures *figures = &comparison->figures[which];
    double rate = info_figures_grows(kind) ? info_figures_per_minute(figures, figures->findings[kind]) : NAN;
    return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)figures->findings[kind], "connections",
                     (json_int_t)figures->affected[kind], "per_minute", real_or_null(rate));
}

json_t *info_comparison_to_json(const struct info_comparison *comparison) {
    const struct info_figures *before = &comparison->figures[0], *after = &comparison->figures[1];
    bool has_times = before->has_times && after->has_times;
    json_t *findings = json_array();
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        if (has_finding(comparison, kind)) {
            json_array_append_new(findings,
                                  json_pack("{s:s, s:s, s:o, s:o}", "kind", ue_finding_rows[kind].name, "change",
                                            verdict(comparison, kind), "before", finding_side(comparison, 0, kind),
                                            "after", finding_side(comparison, 1, kind)));
        }
    }
    return json_pack(
        "{s:i, s:o, s:o, s:b, s:o, s:o}", "schema", PRINT_JSON_SCHEMA, "before", capture_object(comparison, 0), "after",
        capture_object(comparison, 1), "same_connections", before->connections == after->connections, "same_duration",
        has_times ? json_boolean(!differs(before->duration_s, after->duration_s)) : json_null(), "findings", findings);
}

/* SPDX-License-Identifier: MIT */
#include "tools/trace/plot.h"

#include <uerudp/time_ns.h>
#include "tools/print/json.h"

#define NS_PER_MS 1e6

static double ms_since(const struct trace_plot *plot, int64_t time_ns) {
    return (double)ue_time_ns_since(time_ns, plot->begin_ns) / NS_PER_MS;
}

/* JSON in an HTML script element must not contain its end tag. */
static void write_string(struct text_buffer *out, const char *text) {
    char *valid = g_utf8_make_valid(text, -1);
    text_buffer_add_char(out, '"');
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (character == '<') {
            text_buffer_add(out, "\\u003c");
        } else {
            text_buffer_add_code_point(out, character, TEXT_ESCAPE_JSON);
        }
    }
    text_buffer_add_char(out, '"');
    g_free(valid);
}

static void write_member(struct text_buffer *out, const char *key, const char *text) {
    text_buffer_add_format(out, ",\"%s\":", key);
    write_string(out, text);
}

static void write_time(const struct trace_plot *plot, struct text_buffer *out, int64_t time_ns) {
    text_buffer_add_real(out, ms_since(plot, time_ns));
    text_buffer_add_char(out, ',');
}

static void write_packet(const struct trace_plot *plot, struct text_buffer *out, const struct trace_plot_packet *p) {
    write_time(plot, out, p->time_ns);
    text_buffer_add_format(out, "%u,%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT ",%u,%u,", p->side, p->id, p->frame,
                           p->bytes, p->state);
    if (p->report_frame != 0) {
        write_time(plot, out, p->report_ns);
    } else {
        text_buffer_add(out, "null,");
    }
    text_buffer_add_format(out, "%" G_GUINT64_FORMAT ",%d,%d", p->report_frame, p->is_late, p->is_duplicate);
}

static void write_resend(const struct trace_plot *plot, struct text_buffer *out, const struct trace_plot_resend *r) {
    write_time(plot, out, r->time_ns);
    text_buffer_add_format(out,
                           "%u,%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT ",%u,%" G_GINT64_FORMAT ",%u,%" G_GUINT64_FORMAT
                           ",%" G_GUINT64_FORMAT ",%d",
                           r->side, r->id, r->frame, r->channel, r->reliable_id, r->copy, r->first_frame,
                           r->other_frame, r->is_spurious);
}

static void write_gap(const struct trace_plot *plot, struct text_buffer *out, const struct trace_plot_gap *g) {
    write_time(plot, out, g->time_ns);
    text_buffer_add_format(out, "%u,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",", g->side, g->first_id, g->last_id);
    if (g->filled_ns != 0) {
        text_buffer_add_real(out, ms_since(plot, g->filled_ns));
    } else {
        text_buffer_add(out, "null");
    }
}

static void write_note(const struct trace_plot *plot, struct text_buffer *out, const struct trace_plot_note *n) {
    write_time(plot, out, n->time_ns);
    text_buffer_add_format(out, "%u,%" G_GUINT64_FORMAT ",", n->side, n->frame);
    write_string(out, n->text);
}

/* An array of rows, each an array in the order that page.js expects. */
#define WRITE_ROWS(key, array, type, write)                                                                            \
    do {                                                                                                               \
        text_buffer_add(out, ",\n\"" key "\":[");                                                                      \
        for (guint i = 0; i < (array)->len; i++) {                                                                     \
            text_buffer_add(out, i == 0 ? "[" : ",[");                                                                 \
            write(plot, out, &g_array_index(array, type, i));                                                          \
            text_buffer_add_char(out, ']');                                                                            \
        }                                                                                                              \
        text_buffer_add_char(out, ']');                                                                                \
    } while (0)

static void write_bits(struct text_buffer *out, const uint64_t bits[TRACE_PLOT_BINS], size_t count) {
    text_buffer_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        text_buffer_add_format(out, "%s%" G_GUINT64_FORMAT, i == 0 ? "" : ",", bits[i]);
    }
    text_buffer_add_char(out, ']');
}

static void write_bands(const struct trace_plot *plot, struct text_buffer *out) {
    size_t bins = (size_t)(ue_time_ns_since(plot->end_ns, plot->begin_ns) / plot->bin_ns) + 1;
    text_buffer_add(out, ",\n\"bin_ms\":");
    text_buffer_add_real(out, (double)plot->bin_ns / NS_PER_MS);
    text_buffer_add(out, ",\"bands\":[");
    for (guint i = 0; i < plot->bands->len; i++) {
        const struct trace_plot_band *band = plot->bands->pdata[i];
        text_buffer_add_format(out, "%s{\"channel\":%u", i == 0 ? "" : ",", band->channel);
        write_member(out, "name", band->name);
        text_buffer_add(out, ",\"bits\":[");
        write_bits(out, band->bits[0], MIN(bins, TRACE_PLOT_BINS));
        text_buffer_add_char(out, ',');
        write_bits(out, band->bits[1], MIN(bins, TRACE_PLOT_BINS));
        text_buffer_add(out, "]}");
    }
    text_buffer_add_char(out, ']');
}

/* Of all points, kept or not. */
static void write_counts(const struct trace_plot *plot, struct text_buffer *out) {
    text_buffer_add_format(out,
                           ",\"counts\":{\"packets\":%" G_GUINT64_FORMAT ",\"not_acked\":[%" G_GUINT64_FORMAT
                           ",%" G_GUINT64_FORMAT "],\"resends\":%" G_GUINT64_FORMAT ",\"gaps\":%" G_GUINT64_FORMAT
                           ",\"notes\":%" G_GUINT64_FORMAT "}",
                           plot->packet_count, plot->lost_count[0], plot->lost_count[1], plot->resend_count,
                           plot->gap_count, plot->note_count);
}

/* The worst first. */
static void write_findings(const struct trace_plot *plot, struct text_buffer *out) {
    GPtrArray *sorted = info_findings_sorted(&plot->findings);
    text_buffer_add(out, ",\n\"findings\":[");
    for (guint i = 0; i < sorted->len; i++) {
        const struct info_finding *finding = sorted->pdata[i];
        text_buffer_add_format(out, "%s{\"kind\":\"%s\",\"severity\":\"%s\"", i == 0 ? "" : ",",
                               ue_finding_rows[finding->detected.id].name,
                               ue_severity_name(ue_finding_rows[finding->detected.id].severity));
        write_member(out, "text", finding->text);
        text_buffer_add_char(out, '}');
    }
    text_buffer_add_char(out, ']');
    g_ptr_array_unref(sorted);
}

void trace_plot_write_json(const struct trace_plot *plot, struct text_buffer *out) {
    text_buffer_add_format(out, "{\"schema\":%d,\"stream\":%u", PRINT_JSON_SCHEMA, plot->stream);
    write_member(out, "client", plot->client);
    write_member(out, "server", plot->server);
    write_member(out, "generation", plot->generation != NULL ? plot->generation : "");
    text_buffer_add_format(out, ",\"begin\":\"%" G_GINT64_FORMAT "\",\"duration_ms\":", plot->begin_ns);
    text_buffer_add_real(out, ms_since(plot, plot->end_ns));
    text_buffer_add_format(out, ",\"points\":%" G_GUINT64_FORMAT ",\"shown\":%" G_GUINT64_FORMAT,
                           trace_plot_points(plot), trace_plot_points_kept(plot));
    write_counts(plot, out);
    write_findings(plot, out);
    WRITE_ROWS("packets", plot->packets, struct trace_plot_packet, write_packet);
    WRITE_ROWS("resends", plot->resends, struct trace_plot_resend, write_resend);
    WRITE_ROWS("gaps", plot->gaps, struct trace_plot_gap, write_gap);
    WRITE_ROWS("notes", plot->notes, struct trace_plot_note, write_note);
    write_bands(plot, out);
    text_buffer_add(out, "}\n");
}

/* SPDX-License-Identifier: MIT */
#include "tools/trace/plot.h"

#include <uerudp/time_ns.h>
#include "tools/print/json.h"

#define NS_PER_MS 1e6

static double ms_since(const struct ue_plot *plot, int64_t time_ns) {
    return (double)ue_ns_since(time_ns, plot->begin_ns) / NS_PER_MS;
}

/* JSON in an HTML script element must not end it. */
static void write_string(struct ue_out *out, const char *text) {
    char *valid = g_utf8_make_valid(text, -1);
    ue_out_char(out, '"');
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (character == '<') {
            ue_out_text(out, "\\u003c");
        } else {
            ue_out_character(out, character, UE_ESCAPE_JSON);
        }
    }
    ue_out_char(out, '"');
    g_free(valid);
}

static void write_member(struct ue_out *out, const char *key, const char *text) {
    ue_out_format(out, ",\"%s\":", key);
    write_string(out, text);
}

static void write_time(const struct ue_plot *plot, struct ue_out *out, int64_t time_ns) {
    ue_out_real(out, ms_since(plot, time_ns));
    ue_out_char(out, ',');
}

static void write_packet(const struct ue_plot *plot, struct ue_out *out, const struct ue_plot_packet *p) {
    write_time(plot, out, p->time_ns);
    ue_out_format(out, "%u,%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT ",%u,%u,", p->side, p->id, p->frame, p->bytes,
                  p->fate);
    if (p->verdict_frame != 0) {
        write_time(plot, out, p->verdict_ns);
    } else {
        ue_out_text(out, "null,");
    }
    ue_out_format(out, "%" G_GUINT64_FORMAT ",%d,%d", p->verdict_frame, p->is_late, p->is_duplicate);
}

static void write_resend(const struct ue_plot *plot, struct ue_out *out, const struct ue_plot_resend *r) {
    write_time(plot, out, r->time_ns);
    ue_out_format(out,
                  "%u,%" G_GINT64_FORMAT ",%" G_GUINT64_FORMAT ",%u,%" G_GINT64_FORMAT ",%u,%" G_GUINT64_FORMAT
                  ",%" G_GUINT64_FORMAT ",%d",
                  r->side, r->id, r->frame, r->channel, r->reliable_id, r->copy, r->first_frame, r->other_frame,
                  r->is_spurious);
}

static void write_gap(const struct ue_plot *plot, struct ue_out *out, const struct ue_plot_gap *g) {
    write_time(plot, out, g->time_ns);
    ue_out_format(out, "%u,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",", g->side, g->first_id, g->last_id);
    if (g->filled_ns != 0) {
        ue_out_real(out, ms_since(plot, g->filled_ns));
    } else {
        ue_out_text(out, "null");
    }
}

static void write_note(const struct ue_plot *plot, struct ue_out *out, const struct ue_plot_note *n) {
    write_time(plot, out, n->time_ns);
    ue_out_format(out, "%u,%" G_GUINT64_FORMAT ",", n->side, n->frame);
    write_string(out, n->text);
}

/* An array of rows, each an array in the order that the page's script knows. */
#define WRITE_ROWS(key, array, type, write)                                                                            \
    do {                                                                                                               \
        ue_out_text(out, ",\n\"" key "\":[");                                                                          \
        for (guint i = 0; i < (array)->len; i++) {                                                                     \
            ue_out_text(out, i == 0 ? "[" : ",[");                                                                     \
            write(plot, out, &g_array_index(array, type, i));                                                          \
            ue_out_char(out, ']');                                                                                     \
        }                                                                                                              \
        ue_out_char(out, ']');                                                                                         \
    } while (0)

static void write_bits(struct ue_out *out, const uint64_t bits[UE_PLOT_BINS], size_t count) {
    ue_out_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        ue_out_format(out, "%s%" G_GUINT64_FORMAT, i == 0 ? "" : ",", bits[i]);
    }
    ue_out_char(out, ']');
}

static void write_bands(const struct ue_plot *plot, struct ue_out *out) {
    size_t bins = (size_t)(ue_ns_since(plot->end_ns, plot->begin_ns) / plot->bin_ns) + 1;
    ue_out_text(out, ",\n\"bin_ms\":");
    ue_out_real(out, (double)plot->bin_ns / NS_PER_MS);
    ue_out_text(out, ",\"bands\":[");
    for (guint i = 0; i < plot->bands->len; i++) {
        const struct ue_plot_band *band = plot->bands->pdata[i];
        ue_out_format(out, "%s{\"channel\":%u", i == 0 ? "" : ",", band->channel);
        write_member(out, "name", band->name);
        ue_out_text(out, ",\"bits\":[");
        write_bits(out, band->bits[0], MIN(bins, UE_PLOT_BINS));
        ue_out_char(out, ',');
        write_bits(out, band->bits[1], MIN(bins, UE_PLOT_BINS));
        ue_out_text(out, "]}");
    }
    ue_out_char(out, ']');
}

/* Of all points, shown or not. */
static void write_counts(const struct ue_plot *plot, struct ue_out *out) {
    ue_out_format(out,
                  ",\"counts\":{\"packets\":%" G_GUINT64_FORMAT ",\"not_acked\":[%" G_GUINT64_FORMAT
                  ",%" G_GUINT64_FORMAT "],\"resends\":%" G_GUINT64_FORMAT ",\"gaps\":%" G_GUINT64_FORMAT
                  ",\"notes\":%" G_GUINT64_FORMAT "}",
                  plot->packet_count, plot->lost_count[0], plot->lost_count[1], plot->resend_count, plot->gap_count,
                  plot->note_count);
}

void ue_plot_write(const struct ue_plot *plot, struct ue_out *out) {
    ue_out_format(out, "{\"schema\":%d,\"stream\":%u", UE_JSON_SCHEMA, plot->stream);
    write_member(out, "client", plot->client);
    write_member(out, "server", plot->server);
    write_member(out, "generation", plot->generation != NULL ? plot->generation : "");
    ue_out_format(out, ",\"begin\":\"%" G_GINT64_FORMAT "\",\"duration_ms\":", plot->begin_ns);
    ue_out_real(out, ms_since(plot, plot->end_ns));
    ue_out_format(out, ",\"points\":%" G_GUINT64_FORMAT ",\"shown\":%" G_GUINT64_FORMAT, ue_plot_points(plot),
                  ue_plot_shown(plot));
    write_counts(plot, out);
    WRITE_ROWS("packets", plot->packets, struct ue_plot_packet, write_packet);
    WRITE_ROWS("resends", plot->resends, struct ue_plot_resend, write_resend);
    WRITE_ROWS("gaps", plot->gaps, struct ue_plot_gap, write_gap);
    WRITE_ROWS("notes", plot->notes, struct ue_plot_note, write_note);
    write_bands(plot, out);
    ue_out_text(out, "}\n");
}

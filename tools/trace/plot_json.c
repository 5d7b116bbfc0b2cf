/* SPDX-License-Identifier: MIT */
#include "tools/trace/plot_rows.h"

#include <inttypes.h>
#include <math.h>

#include <uerudp/time_ns.h>
#include "tools/info/bandwidth_json.h"
#include "tools/info/json_report.h"
#include "tools/print/json.h"
#include "tools/trace/page_template.h"
#include "tools/trace/page_table.h"

/* ---- JSON ---- */

static double ms_since_begin(const struct trace_plot *plot, int64_t time_ns) {
    return (double)ue_time_ns_since(time_ns, plot->begin_ns) / UE_NS_PER_MS;
}

static json_t *notes_array(const struct trace_plot *plot) {
    json_t *array = json_array();
    for (guint i = 0; i < plot->notes->len; i++) {
        const struct trace_plot_note *note = &g_array_index(plot->notes, struct trace_plot_note, i);
        g_autofree char *text = g_utf8_make_valid(note->text, -1);
        json_array_append_new(array, json_pack("[f, i, I, s]", ms_since_begin(plot, note->time_ns), (int)note->side,
                                               (json_int_t)note->frame, text));
    }
    return array;
}

static json_t *bands_array(const struct trace_plot *plot) {
    json_t *array = json_array();
    for (guint i = 0; i < plot->bands->len; i++) {
        const struct trace_plot_band *band = plot->bands->pdata[i];
        json_array_append_new(array, band->is_rest ? json_null() : json_integer(band->channel));
    }
    return array;
}

static void write_json(const struct trace_plot *plot, struct text_buffer *out) {
    bool is_whole = plot->detail_end_ns == INT64_MAX;
    json_auto_t *object = json_pack("{s:i, s:o, s:s, s:f, s:f, s:o, s:o, s:o}", "schema", PRINT_JSON_SCHEMA, "info",
                                    info_to_json(plot->info), "generations", plot->info->generations, "duration_ms",
                                    ms_since_begin(plot, MAX(plot->info->course->last_ns, plot->begin_ns)), "bin_ms",
                                    (double)plot->bin_ns / UE_NS_PER_MS, "detail_end_ms",
                                    is_whole ? json_null() : json_real(ms_since_begin(plot, plot->detail_end_ns)),
                                    "notes", notes_array(plot), "bands", bands_array(plot));
    json_object_set_new(
        object, "bandwidth",
        info_bandwidth_to_json(plot->info->bandwidth, &plot->info->options->bandwidth, plot->info->detected));
    trace_add_json(object, out);
}

/* ---- tables ---- */

/* Times are milliseconds since the first datagram; spans are milliseconds. */
static double span_ms(int64_t span_ns) {
    return (double)span_ns / UE_NS_PER_MS;
}

/* A column of a table: the type of a row, the name and type of the column, and its value, an expression of r, the row,
   and plot. */
#define COLUMN_FUNCTION(tag, name, type, expression)                                                                   \
    static double tag##_##name(const void *row, const void *user) {                                                    \
        const struct tag *r = row;                                                                                     \
        const struct trace_plot *plot = user;                                                                          \
        (void)plot;                                                                                                    \
        return (double)(expression);                                                                                   \
    }
#define COLUMN_ENTRY(tag, name, type, expression) {#name, PAGE_##type, tag##_##name},
#define TABLE(columns, list) list(COLUMN_FUNCTION) static const struct page_column columns[] = {list(COLUMN_ENTRY)};

#define PACKET_COLUMNS(COLUMN)                                                                                         \
    COLUMN(trace_plot_packet, t, F64, ms_since_begin(plot, r->time_ns))                                                \
    COLUMN(trace_plot_packet, id, I32, r->id)                                                                          \
    COLUMN(trace_plot_packet, frame, U32, r->frame)                                                                    \
    COLUMN(trace_plot_packet, bytes, U16, r->bytes)                                                                    \
    COLUMN(trace_plot_packet, state, U8, r->state)                                                                     \
    COLUMN(trace_plot_packet, flags, U8, r->is_late + 2 * r->is_duplicate) /* 1 late, 2 duplicate */                   \
    COLUMN(trace_plot_packet, report_ms, F32,                                                                          \
           r->report_frame != 0 ? span_ms(ue_time_ns_since(r->report_ns, r->time_ns)) : NAN)                           \
    COLUMN(trace_plot_packet, report_frame, U32, r->report_frame)
TABLE(packet_columns, PACKET_COLUMNS)

#define RTT_COLUMNS(COLUMN)                                                                                            \
    COLUMN(trace_plot_rtt, t, F64, ms_since_begin(plot, r->time_ns))                                                   \
    COLUMN(trace_plot_rtt, ms, F32, span_ms(r->span_ns))
TABLE(rtt_columns, RTT_COLUMNS)

#define RESEND_COLUMNS(COLUMN)                                                                                         \
    COLUMN(trace_plot_resend, t, F64, ms_since_begin(plot, r->time_ns))                                                \
    COLUMN(trace_plot_resend, side, U8, r->side)                                                                       \
    COLUMN(trace_plot_resend, id, I32, r->id)                                                                          \
    COLUMN(trace_plot_resend, frame, U32, r->frame)                                                                    \
    COLUMN(trace_plot_resend, channel, U32, r->channel)                                                                \
    COLUMN(trace_plot_resend, reliable, I32, r->reliable_id)                                                           \
    COLUMN(trace_plot_resend, copy, U32, r->copy)                                                                      \
    COLUMN(trace_plot_resend, first_frame, U32, r->first_frame)                                                        \
    COLUMN(trace_plot_resend, previous_frame, U32, r->other_frame)                                                     \
    COLUMN(trace_plot_resend, spurious, U8, r->is_spurious)
TABLE(resend_columns, RESEND_COLUMNS)

#define GAP_COLUMNS(COLUMN)                                                                                            \
    COLUMN(trace_plot_gap, t, F64, ms_since_begin(plot, r->time_ns))                                                   \
    COLUMN(trace_plot_gap, side, U8, r->side)                                                                          \
    COLUMN(trace_plot_gap, first, I32, r->first_id)                                                                    \
    COLUMN(trace_plot_gap, last, I32, r->last_id)                                                                      \
    COLUMN(trace_plot_gap, filled_ms, F32,                                                                             \
           r->filled_ns != 0 ? span_ms(ue_time_ns_since(r->filled_ns, r->time_ns)) : NAN)
TABLE(gap_columns, GAP_COLUMNS)

#define STALL_COLUMNS(COLUMN)                                                                                          \
    COLUMN(trace_plot_stall, t, F64, ms_since_begin(plot, r->time_ns))                                                 \
    COLUMN(trace_plot_stall, ms, F64, span_ms(r->span_ns))                                                             \
    COLUMN(trace_plot_stall, side, U8, r->side)                                                                        \
    COLUMN(trace_plot_stall, channel, U32, r->channel)                                                                 \
    COLUMN(trace_plot_stall, losses, U32, r->losses)                                                                   \
    COLUMN(trace_plot_stall, first_frame, U32, r->first_frame)                                                         \
    COLUMN(trace_plot_stall, last_frame, U32, r->last_frame)                                                           \
    COLUMN(trace_plot_stall, open, U8, r->is_open)
TABLE(stall_columns, STALL_COLUMNS)

#define LEVEL_COLUMNS(COLUMN)                                                                                          \
    COLUMN(trace_plot_level, t, F64, ms_since_begin(plot, r->time_ns))                                                 \
    COLUMN(trace_plot_level, side, U8, r->side)                                                                        \
    COLUMN(trace_plot_level, channel, U32, r->channel)                                                                 \
    COLUMN(trace_plot_level, bunches, U16, r->bunches)
TABLE(level_columns, LEVEL_COLUMNS)

#define PATH_COLUMNS(COLUMN)                                                                                           \
    COLUMN(one_way_path, t, F64, ms_since_begin(plot, r->sent_ns))                                                     \
    COLUMN(one_way_path, ms, F32, r->arrived_frame != 0 ? span_ms(ue_time_ns_since(r->arrived_ns, r->sent_ns)) : NAN)  \
    COLUMN(one_way_path, id, I32, r->packet_id) /* -1: none */                                                         \
    COLUMN(one_way_path, sent_frame, U32, r->sent_frame)                                                               \
    COLUMN(one_way_path, arrived_frame, U32, r->arrived_frame) /* 0: it did not arrive */                              \
    COLUMN(one_way_path, fate, U8, r->fate)                    /* enum one_way_fate */
TABLE(path_columns, PATH_COLUMNS)

#define OTHER_FINDING_COLUMNS(COLUMN)                                                                                  \
    COLUMN(ue_finding, t, F64,                                                                                         \
           r->has_time ? ms_since_begin(plot, clock_fit_to_first_ns(&plot->info->both_ends->fit, r->time_ns)) : NAN)
TABLE(other_finding_columns, OTHER_FINDING_COLUMNS)

#define PACE_COLUMNS(COLUMN)                                                                                           \
    COLUMN(trace_plot_pace, t, F64, ms_since_begin(plot, r->time_ns))                                                  \
    COLUMN(trace_plot_pace, ms, F32, r->interval_ms)                                                                   \
    COLUMN(trace_plot_pace, frame, U32, r->frame)
TABLE(pace_columns, PACE_COLUMNS)

#define WAIT_COLUMNS(COLUMN)                                                                                           \
    COLUMN(ue_channel_wait, t, F64, ms_since_begin(plot, r->begin_ns))                                                 \
    COLUMN(ue_channel_wait, ms, F64, span_ms(r->span_ns))                                                              \
    COLUMN(ue_channel_wait, total_ms, F64, span_ms(r->total_ns))                                                       \
    COLUMN(ue_channel_wait, side, U8, r->side)                                                                         \
    COLUMN(ue_channel_wait, channel, U32, r->channel)                                                                  \
    COLUMN(ue_channel_wait, at_least, U8, r->is_at_least)                                                              \
    COLUMN(ue_channel_wait, bunches, U32, r->bunches)                                                                  \
    COLUMN(ue_channel_wait, ch_seq, U16, r->ch_seq)                                                                    \
    COLUMN(ue_channel_wait, first_frame, U32, r->first_frame)                                                          \
    COLUMN(ue_channel_wait, frame, U32, r->frame)
TABLE(wait_columns, WAIT_COLUMNS)

#define BIN_COLUMNS(COLUMN)                                                                                            \
    COLUMN(trace_plot_bin, packets, F64, r->packets)                                                                   \
    COLUMN(trace_plot_bin, bytes, F64, r->bytes)                                                                       \
    COLUMN(trace_plot_bin, delivered, F64, r->delivered)                                                               \
    COLUMN(trace_plot_bin, lost, F64, r->lost)
TABLE(bin_columns, BIN_COLUMNS)

static double band_bits(const void *row, const void *user) {
    (void)user;
    return (double)*(const uint64_t *)row;
}

static const struct page_column band_columns[] = {{"bits", PAGE_F64, band_bits}};

/* ---- all ---- */

#define WRITE(table, rows, columns) page_table_write(out, table, rows, columns, G_N_ELEMENTS(columns), plot)

static GArray *first_of(const void *rows, guint count, size_t row_bytes) {
    GArray *array = g_array_new(FALSE, FALSE, (guint)row_bytes);
    g_array_append_vals(array, rows, count);
    return array;
}

static void write_bins(const struct trace_plot *plot, struct text_buffer *out) {
    for (unsigned side = 0; side < 2; side++) {
        g_autoptr(GArray) bins = first_of(plot->bins[side], trace_plot_bin_count(plot), sizeof plot->bins[side][0]);
        WRITE(side == 0 ? "bins0" : "bins1", bins, bin_columns);
    }
}

/* All bins of a band, from client and from server, after those of the band before it. */
static void write_bands(const struct trace_plot *plot, struct text_buffer *out) {
    g_autoptr(GArray) bits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint i = 0; i < plot->bands->len; i++) {
        const struct trace_plot_band *band = plot->bands->pdata[i];
        for (unsigned side = 0; side < 2; side++) {
            g_array_append_vals(bits, band->bits[side], trace_plot_bin_count(plot));
        }
    }
    WRITE("bands", bits, band_columns);
}

static gint compare_paths(gconstpointer a, gconstpointer b) {
    const struct one_way_path *one = a, *two = b;
    return (one->sent_ns > two->sent_ns) - (one->sent_ns < two->sent_ns);
}

/* Of a connection in the captures of both ends, whose clocks are known. */
static void write_paths(const struct trace_plot *plot, struct text_buffer *out) {
    const struct both_ends_connection *ends = plot->info->both_ends;
    for (unsigned side = 0; ends != NULL && both_ends_have_clocks(ends) && side < 2; side++) {
        g_array_sort(ends->ways[side].paths, compare_paths);
        WRITE(side == 0 ? "paths0" : "paths1", ends->ways[side].paths, path_columns);
    }
}

/* Times of the findings of the other end, in the order of info.other_end.findings, by the clock of this capture. */
static void write_other_findings(const struct trace_plot *plot, struct text_buffer *out) {
    const struct info_connection *info = plot->info;
    if (info->other_end == NULL || !both_ends_have_clocks(info->both_ends)) {
        return;
    }
    g_autoptr(GPtrArray) findings = info_findings_sorted(&info->other_end->findings);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(struct ue_finding));
    for (guint i = 0; i < findings->len; i++) {
        struct ue_finding finding = info_finding_detected(g_ptr_array_index(findings, i));
        g_array_append_val(rows, finding);
    }
    WRITE("other_findings", rows, other_finding_columns);
}

void trace_plot_write_data(const struct trace_plot *plot, struct text_buffer *out) {
    write_json(plot, out);
    WRITE("packets0", plot->packets[0], packet_columns);
    WRITE("packets1", plot->packets[1], packet_columns);
    WRITE("rtts", plot->rtts, rtt_columns);
    WRITE("resends", plot->resends, resend_columns);
    WRITE("gaps", plot->gaps, gap_columns);
    WRITE("stalls", plot->stalls, stall_columns);
    WRITE("levels", plot->levels, level_columns);
    write_paths(plot, out);
    write_other_findings(plot, out);
    WRITE("waits", plot->waits, wait_columns);
    WRITE("paces0", plot->paces[0], pace_columns);
    WRITE("paces1", plot->paces[1], pace_columns);
    write_bins(plot, out);
    write_bands(plot, out);
}

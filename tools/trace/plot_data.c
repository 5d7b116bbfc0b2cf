/* SPDX-License-Identifier: MIT */
#include "tools/trace/plot.h"

#include <inttypes.h>
#include <math.h>

#include <uerudp/time_ns.h>
#include "tools/info/json_report.h"
#include "tools/print/json.h"
#include "tools/trace/page.h"
#include "tools/trace/page_table.h"

#define NS_PER_MS 1e6

/* ---- JSON ---- */

static double ms_since_begin(const struct trace_plot *plot, int64_t time_ns) {
    return (double)ue_time_ns_since(time_ns, plot->begin_ns) / NS_PER_MS;
}

static json_t *notes_array(const struct trace_plot *plot) {
    json_t *array = json_array();
    for (guint i = 0; i < plot->notes->len; i++) {
        const struct trace_plot_note *note = &g_array_index(plot->notes, struct trace_plot_note, i);
        char *text = g_utf8_make_valid(note->text, -1);
        json_array_append_new(array, json_pack("[f, i, I, s]", ms_since_begin(plot, note->time_ns), (int)note->side,
                                               (json_int_t)note->frame, text));
        g_free(text);
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
                                    (double)plot->bin_ns / NS_PER_MS, "detail_end_ms",
                                    is_whole ? json_null() : json_real(ms_since_begin(plot, plot->detail_end_ns)),
                                    "notes", notes_array(plot), "bands", bands_array(plot));
    json_object_set_new(object, "bandwidth",
                        info_bandwidth_to_json(plot->info->bandwidth, &plot->info->options->bandwidth,
                                               plot->info->course->implausible == 0));
    trace_add_json(object, out);
}

/* ---- tables ---- */

/* Times are milliseconds since the first datagram; spans are milliseconds. */
static double span_ms(int64_t span_ns) {
    return (double)span_ns / NS_PER_MS;
}

#define ROW(tag) const struct tag *r = row
/* A column whose value is an expression of r, the row, and plot. */
#define COLUMN(name, tag, expression)                                                                                  \
    static double name(const void *row, const void *user) {                                                            \
        ROW(tag);                                                                                                      \
        const struct trace_plot *plot = user;                                                                          \
        (void)plot;                                                                                                    \
        return (double)(expression);                                                                                   \
    }

COLUMN(packet_time, trace_plot_packet, ms_since_begin(plot, r->time_ns))
COLUMN(packet_id, trace_plot_packet, r->id)
COLUMN(packet_frame, trace_plot_packet, r->frame)
COLUMN(packet_bytes, trace_plot_packet, r->bytes)
COLUMN(packet_state, trace_plot_packet, r->state)
COLUMN(packet_flags, trace_plot_packet, r->is_late + 2 * r->is_duplicate)
COLUMN(packet_report, trace_plot_packet,
       r->report_frame != 0 ? span_ms(ue_time_ns_since(r->report_ns, r->time_ns)) : NAN)
COLUMN(packet_report_frame, trace_plot_packet, r->report_frame)

static const struct page_column packet_columns[] = {
    {"t", PAGE_F64, packet_time},           {"id", PAGE_I32, packet_id},
    {"frame", PAGE_U32, packet_frame},      {"bytes", PAGE_U16, packet_bytes},
    {"state", PAGE_U8, packet_state},       {"flags", PAGE_U8, packet_flags}, /* 1 late, 2 duplicate */
    {"report_ms", PAGE_F32, packet_report}, {"report_frame", PAGE_U32, packet_report_frame},
};

COLUMN(rtt_time, trace_plot_rtt, ms_since_begin(plot, r->time_ns))
COLUMN(rtt_span, trace_plot_rtt, span_ms(r->span_ns))

static const struct page_column rtt_columns[] = {{"t", PAGE_F64, rtt_time}, {"ms", PAGE_F32, rtt_span}};

COLUMN(resend_time, trace_plot_resend, ms_since_begin(plot, r->time_ns))
COLUMN(resend_side, trace_plot_resend, r->side)
COLUMN(resend_id, trace_plot_resend, r->id)
COLUMN(resend_frame, trace_plot_resend, r->frame)
COLUMN(resend_channel, trace_plot_resend, r->channel)
COLUMN(resend_reliable, trace_plot_resend, r->reliable_id)
COLUMN(resend_copy, trace_plot_resend, r->copy)
COLUMN(resend_first_frame, trace_plot_resend, r->first_frame)
COLUMN(resend_other_frame, trace_plot_resend, r->other_frame)
COLUMN(resend_spurious, trace_plot_resend, r->is_spurious)

static const struct page_column resend_columns[] = {
    {"t", PAGE_F64, resend_time},
    {"side", PAGE_U8, resend_side},
    {"id", PAGE_I32, resend_id},
    {"frame", PAGE_U32, resend_frame},
    {"channel", PAGE_U32, resend_channel},
    {"reliable", PAGE_I32, resend_reliable},
    {"copy", PAGE_U32, resend_copy},
    {"first_frame", PAGE_U32, resend_first_frame},
    {"previous_frame", PAGE_U32, resend_other_frame},
    {"spurious", PAGE_U8, resend_spurious},
};

COLUMN(gap_time, trace_plot_gap, ms_since_begin(plot, r->time_ns))
COLUMN(gap_side, trace_plot_gap, r->side)
COLUMN(gap_first, trace_plot_gap, r->first_id)
COLUMN(gap_last, trace_plot_gap, r->last_id)
COLUMN(gap_filled, trace_plot_gap, r->filled_ns != 0 ? span_ms(ue_time_ns_since(r->filled_ns, r->time_ns)) : NAN)

static const struct page_column gap_columns[] = {{"t", PAGE_F64, gap_time},
                                                 {"side", PAGE_U8, gap_side},
                                                 {"first", PAGE_I32, gap_first},
                                                 {"last", PAGE_I32, gap_last},
                                                 {"filled_ms", PAGE_F32, gap_filled}};

COLUMN(stall_time, trace_plot_stall, ms_since_begin(plot, r->time_ns))
COLUMN(stall_span, trace_plot_stall, span_ms(r->span_ns))
COLUMN(stall_side, trace_plot_stall, r->side)
COLUMN(stall_channel, trace_plot_stall, r->channel)
COLUMN(stall_losses, trace_plot_stall, r->losses)
COLUMN(stall_first_frame, trace_plot_stall, r->first_frame)
COLUMN(stall_last_frame, trace_plot_stall, r->last_frame)
COLUMN(stall_open, trace_plot_stall, r->is_open)

static const struct page_column stall_columns[] = {
    {"t", PAGE_F64, stall_time},
    {"ms", PAGE_F64, stall_span},
    {"side", PAGE_U8, stall_side},
    {"channel", PAGE_U32, stall_channel},
    {"losses", PAGE_U32, stall_losses},
    {"first_frame", PAGE_U32, stall_first_frame},
    {"last_frame", PAGE_U32, stall_last_frame},
    {"open", PAGE_U8, stall_open},
};

COLUMN(level_time, trace_plot_level, ms_since_begin(plot, r->time_ns))
COLUMN(level_side, trace_plot_level, r->side)
COLUMN(level_channel, trace_plot_level, r->channel)
COLUMN(level_bunches, trace_plot_level, r->bunches)

static const struct page_column level_columns[] = {{"t", PAGE_F64, level_time},
                                                   {"side", PAGE_U8, level_side},
                                                   {"channel", PAGE_U32, level_channel},
                                                   {"bunches", PAGE_U16, level_bunches}};

COLUMN(path_time, one_way_path, ms_since_begin(plot, r->sent_ns))
COLUMN(path_span, one_way_path, r->arrived_frame != 0 ? span_ms(ue_time_ns_since(r->arrived_ns, r->sent_ns)) : NAN)
COLUMN(path_id, one_way_path, r->packet_id)
COLUMN(path_sent_frame, one_way_path, r->sent_frame)
COLUMN(path_arrived_frame, one_way_path, r->arrived_frame)
COLUMN(path_fate, one_way_path, r->fate)

static const struct page_column path_columns[] = {
    {"t", PAGE_F64, path_time},
    {"ms", PAGE_F32, path_span},
    {"id", PAGE_I32, path_id}, /* -1: none */
    {"sent_frame", PAGE_U32, path_sent_frame},
    {"arrived_frame", PAGE_U32, path_arrived_frame}, /* 0: it did not arrive */
    {"fate", PAGE_U8, path_fate},                    /* enum one_way_fate */
};

COLUMN(pace_time, trace_plot_pace, ms_since_begin(plot, r->time_ns))
COLUMN(pace_interval, trace_plot_pace, r->interval_ms)
COLUMN(pace_frame, trace_plot_pace, r->frame)

static const struct page_column pace_columns[] = {
    {"t", PAGE_F64, pace_time}, {"ms", PAGE_F32, pace_interval}, {"frame", PAGE_U32, pace_frame}};

COLUMN(wait_time, ue_channel_wait, ms_since_begin(plot, r->begin_ns))
COLUMN(wait_span, ue_channel_wait, span_ms(r->span_ns))
COLUMN(wait_total, ue_channel_wait, span_ms(r->total_ns))
COLUMN(wait_side, ue_channel_wait, r->side)
COLUMN(wait_channel, ue_channel_wait, r->channel)
COLUMN(wait_bunches, ue_channel_wait, r->bunches)
COLUMN(wait_seq, ue_channel_wait, r->ch_seq)
COLUMN(wait_first_frame, ue_channel_wait, r->first_frame)
COLUMN(wait_frame, ue_channel_wait, r->frame)

static const struct page_column wait_columns[] = {
    {"t", PAGE_F64, wait_time},          {"ms", PAGE_F64, wait_span},
    {"total_ms", PAGE_F64, wait_total},  {"side", PAGE_U8, wait_side},
    {"channel", PAGE_U32, wait_channel}, {"bunches", PAGE_U32, wait_bunches},
    {"ch_seq", PAGE_U16, wait_seq},      {"first_frame", PAGE_U32, wait_first_frame},
    {"frame", PAGE_U32, wait_frame},
};

COLUMN(bin_packets, trace_plot_bin, r->packets)
COLUMN(bin_bytes, trace_plot_bin, r->bytes)
COLUMN(bin_delivered, trace_plot_bin, r->delivered)
COLUMN(bin_lost, trace_plot_bin, r->lost)

static const struct page_column bin_columns[] = {{"packets", PAGE_F64, bin_packets},
                                                 {"bytes", PAGE_F64, bin_bytes},
                                                 {"delivered", PAGE_F64, bin_delivered},
                                                 {"lost", PAGE_F64, bin_lost}};

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
        GArray *bins = first_of(plot->bins[side], trace_plot_bin_count(plot), sizeof plot->bins[side][0]);
        WRITE(side == 0 ? "bins0" : "bins1", bins, bin_columns);
        g_array_unref(bins);
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
    for (unsigned side = 0; ends != NULL && ends->has_ends && ends->fit.result == CLOCK_FIT_KNOWN && side < 2; side++) {
        g_array_sort(ends->ways[side].paths, compare_paths);
        WRITE(side == 0 ? "paths0" : "paths1", ends->ways[side].paths, path_columns);
    }
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
    WRITE("waits", plot->waits, wait_columns);
    WRITE("paces0", plot->paces[0], pace_columns);
    WRITE("paces1", plot->paces[1], pace_columns);
    write_bins(plot, out);
    write_bands(plot, out);
}

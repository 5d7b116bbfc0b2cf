/* SPDX-License-Identifier: MIT */
#include "tools/trace/plot_rows.h"

#include <string.h>

#include <uerudp/time_ns.h>

/* The report about a packet usually follows soon, so the search starts at the end. */
#define LOOK_BACK 4096
#define FIRST_BIN_NS INT64_C(1000000)

static void on_event(void *user, const struct ue_observed_event *event);
static void on_finding(void *user, const struct ue_finding *finding);
static void on_wait(void *user, const struct ue_channel_wait *wait);
static void on_round_trip(void *user, int64_t acked_ns, int64_t rtt_ns);

struct trace_plot *trace_plot_new(const struct input_datagram *first, struct trace_plot_limits *limits) {
    struct trace_plot *plot = g_new0(struct trace_plot, 1);
    plot->info = info_connection_new(first->connection->stream, &limits->info, &limits->channels_left);
    plot->listener = (struct info_listener){on_event, on_finding, on_wait, on_round_trip, plot};
    plot->info->listener = &plot->listener;
    plot->rows_left = &limits->rows_left;
    plot->begin_ns = first->observed->time_ns;
    plot->detail_end_ns = INT64_MAX;
    for (unsigned side = 0; side < 2; side++) {
        plot->packets[side] = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_packet));
        plot->paces[side] = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_pace));
    }
    plot->rtts = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_rtt));
    plot->resends = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_resend));
    plot->gaps = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_gap));
    plot->stalls = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_stall));
    plot->levels = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_level));
    plot->waits = g_array_new(FALSE, FALSE, sizeof(struct ue_channel_wait));
    plot->notes = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_note));
    plot->newest_level = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    plot->bands = g_ptr_array_new_with_free_func(g_free);
    plot->bin_ns = FIRST_BIN_NS;
    return plot;
}

#define TABLES 11

static void list_tables(const struct trace_plot *plot, GArray *tables[TABLES]) {
    GArray *const all[TABLES] = {plot->packets[0], plot->packets[1], plot->paces[0], plot->paces[1],
                                 plot->rtts,       plot->resends,    plot->gaps,     plot->stalls,
                                 plot->levels,     plot->waits,      plot->notes};
    memcpy(tables, all, sizeof all);
}

void trace_plot_free(struct trace_plot *plot) {
    GArray *tables[TABLES];
    list_tables(plot, tables);
    for (size_t i = 0; i < TABLES; i++) {
        g_array_unref(tables[i]);
    }
    g_hash_table_unref(plot->newest_level);
    g_ptr_array_unref(plot->bands);
    info_connection_free(plot->info);
    g_free(plot);
}

/* ---- rows and bins ---- */

/* Appends a row, unless none is left. The tables stop together, so that each is complete until detail_end_ns. */
static bool add_row(struct trace_plot *plot, GArray *rows, const void *row) {
    if (plot->detail_end_ns != INT64_MAX) {
        return false;
    }
    if (*plot->rows_left == 0) {
        plot->detail_end_ns = plot->at->observed->time_ns;
        return false;
    }
    --*plot->rows_left;
    g_array_append_vals(rows, row, 1);
    return true;
}

/* Merges pairs of bins. */
static void widen_bins(struct trace_plot *plot) {
    plot->bin_ns *= 2;
    for (unsigned side = 0; side < 2; side++) {
        struct trace_plot_bin *bins = plot->bins[side];
        for (size_t i = 0; i < TRACE_PLOT_BINS / 2; i++) {
            const struct trace_plot_bin *a = &bins[2 * i], *b = &bins[2 * i + 1];
            bins[i] = (struct trace_plot_bin){a->packets + b->packets, a->bytes + b->bytes, a->delivered + b->delivered,
                                              a->lost + b->lost};
        }
        memset(&bins[TRACE_PLOT_BINS / 2], 0, sizeof *bins * TRACE_PLOT_BINS / 2);
    }
    for (guint i = 0; i < plot->bands->len; i++) {
        struct trace_plot_band *band = plot->bands->pdata[i];
        for (unsigned side = 0; side < 2; side++) {
            uint64_t *bits = band->bits[side];
            for (size_t bin = 0; bin < TRACE_PLOT_BINS / 2; bin++) {
                bits[bin] = bits[2 * bin] + bits[2 * bin + 1];
            }
            memset(&bits[TRACE_PLOT_BINS / 2], 0, sizeof *bits * TRACE_PLOT_BINS / 2);
        }
    }
}

static size_t bin_at(struct trace_plot *plot, int64_t time_ns) {
    int64_t since_ns = MAX(ue_time_ns_since(time_ns, plot->begin_ns), 0);
    while (since_ns / plot->bin_ns >= TRACE_PLOT_BINS) {
        widen_bins(plot);
    }
    return (size_t)(since_ns / plot->bin_ns);
}

/* ---- packets ---- */

/* The row of a packet; NULL: it has none. A packet that was captured in order has no earlier row of a higher id. */
static struct trace_plot_packet *find_packet(const struct trace_plot *plot, unsigned side, int64_t id) {
    struct trace_plot_packet *rows = (struct trace_plot_packet *)(void *)plot->packets[side]->data;
    guint count = plot->packets[side]->len, first = count > LOOK_BACK ? count - LOOK_BACK : 0;
    for (guint i = count; i > first; i--) {
        struct trace_plot_packet *row = &rows[i - 1];
        if (row->id == id && !row->is_duplicate) {
            return row;
        }
        if (row->id < id && row->frame != 0 && !row->is_late && !row->is_duplicate) {
            break;
        }
    }
    return NULL;
}

static void add_packet(struct trace_plot *plot, const struct ue_observed_event *event) {
    const struct trace_plot_packet packet = {.time_ns = event->time_ns,
                                             .id = event->packet_id,
                                             .frame = event->frame,
                                             .bytes = (uint32_t)plot->at->observed->length_bytes,
                                             .state = UE_TRACKER_PACKET_PENDING,
                                             .is_late = event->packet.is_late,
                                             .is_duplicate = event->packet.is_duplicate};
    plot->bins[event->side][bin_at(plot, event->time_ns)].packets++;
    struct trace_plot_packet *reported = packet.is_late ? find_packet(plot, event->side, packet.id) : NULL;
    if (reported != NULL && reported->frame == 0) { /* captured after its report */
        reported->time_ns = packet.time_ns;
        reported->frame = packet.frame;
        reported->bytes = packet.bytes;
        reported->is_late = true;
    } else {
        add_row(plot, plot->packets[event->side], &packet);
    }
}

static void set_report(struct trace_plot_packet *packet, const struct ue_observed_event *event) {
    if (event->ack.is_withdrawn) {
        packet->state = TRACE_PLOT_ACK_LOST; /* keeps what reported it as delivered */
        return;
    }
    packet->report_ns = event->time_ns;
    packet->report_frame = event->frame;
    packet->state = event->type == UE_OBSERVED_ACK ? UE_TRACKER_PACKET_DELIVERED : UE_TRACKER_PACKET_NOT_DELIVERED;
}

/* Counts a packet where it was sent, or reported if it was not captured. */
static void count_report(struct trace_plot *plot, const struct ue_observed_event *event) {
    int64_t sent_ns = event->ack.span_ns >= 0 ? ue_time_ns_since(event->time_ns, event->ack.span_ns) : event->time_ns;
    struct trace_plot_bin *bin = &plot->bins[!event->side][bin_at(plot, sent_ns)];
    bool is_lost = event->type == UE_OBSERVED_NAK;
    bin->lost += is_lost;
    bin->delivered += !is_lost;
    bin->delivered -= event->ack.is_withdrawn && bin->delivered != 0;
}

static void on_ack(struct trace_plot *plot, const struct ue_observed_event *event) {
    unsigned side = !event->side;
    bool has_row = event->ack.frame != 0 || event->ack.is_withdrawn;
    struct trace_plot_packet *row = has_row ? find_packet(plot, side, event->ack.packet_id) : NULL;
    count_report(plot, event);
    if (row != NULL) {
        set_report(row, event);
    } else if (!has_row) {
        struct trace_plot_packet unseen = {.time_ns = event->time_ns, .id = event->ack.packet_id};
        set_report(&unseen, event);
        add_row(plot, plot->packets[side], &unseen);
    }
}

/* A packet that ended an interval between two frames of its sender. */
static void add_pace(struct trace_plot *plot, const struct ue_observed_event *event) {
    const struct ue_send_pace *pace = &plot->info->timing->pace[event->side];
    if (pace->interval_ms.count != plot->pace_counts[event->side]) {
        const struct trace_plot_pace row = {event->time_ns, pace->last_interval_ms, event->frame, (uint8_t)event->side};
        plot->pace_counts[event->side] = pace->interval_ms.count;
        add_row(plot, plot->paces[event->side], &row);
    }
}

/* ---- gaps ---- */

static void add_gap(struct trace_plot *plot, const struct ue_observed_event *event) {
    const struct trace_plot_gap gap = {.time_ns = event->time_ns,
                                       .first_id = event->lost.first_id,
                                       .last_id = event->lost.last_id,
                                       .side = (uint8_t)event->side};
    add_row(plot, plot->gaps, &gap);
}

static void fill_gap(struct trace_plot *plot, const struct ue_observed_event *event) {
    struct trace_plot_gap *gaps = (struct trace_plot_gap *)(void *)plot->gaps->data;
    guint first = plot->gaps->len > LOOK_BACK ? plot->gaps->len - LOOK_BACK : 0;
    for (guint i = plot->gaps->len; i > first; i--) {
        struct trace_plot_gap *gap = &gaps[i - 1];
        if (gap->side == event->side && gap->first_id <= event->packet_id && event->packet_id <= gap->last_id) {
            gap->filled_ns = event->time_ns;
            return;
        }
    }
}

static void remove_gap(struct trace_plot *plot, const struct ue_observed_event *event) {
    const struct trace_plot_gap *gaps = (const struct trace_plot_gap *)(const void *)plot->gaps->data;
    for (guint i = plot->gaps->len; i > 0; i--) {
        if (gaps[i - 1].side == event->side && gaps[i - 1].first_id == event->lost.first_id) {
            ++*plot->rows_left;
            g_array_remove_index(plot->gaps, i - 1);
            return;
        }
    }
}

/* ---- bunches ---- */

static struct trace_plot_band *find_band(struct trace_plot *plot, uint32_t channel) {
    for (guint i = 0; i < plot->bands->len; i++) {
        struct trace_plot_band *band = plot->bands->pdata[i];
        if (band->channel == channel || band->is_rest) {
            return band;
        }
    }
    struct trace_plot_band *band = g_new0(struct trace_plot_band, 1);
    band->channel = channel;
    band->is_rest = plot->bands->len == TRACE_PLOT_BANDS_MAX - 1;
    g_ptr_array_add(plot->bands, band);
    return band;
}

static void add_resend(struct trace_plot *plot, const struct ue_observed_event *event) {
    const struct trace_plot_resend resend = {.time_ns = event->time_ns,
                                             .id = event->packet_id,
                                             .reliable_id = event->bunch.reliable_id,
                                             .frame = event->frame,
                                             .first_frame = event->bunch.first_frame,
                                             .other_frame = event->bunch.previous_frame,
                                             .channel = event->bunch.decoded->channel,
                                             .copy = event->bunch.copy,
                                             .side = (uint8_t)event->side,
                                             .is_spurious = event->bunch.is_spurious};
    add_row(plot, plot->resends, &resend);
}

static void add_level(struct trace_plot *plot, const struct ue_observed_event *event) {
    const struct trace_plot_level level = {.time_ns = event->time_ns,
                                           .channel = event->bunch.decoded->channel,
                                           .bunches = event->bunch.in_flight.at_least,
                                           .side = (uint8_t)event->side};
    gint64 key = (gint64)level.channel * 2 + level.side;
    gpointer newest = g_hash_table_lookup(plot->newest_level, &key);
    if (GPOINTER_TO_UINT(newest) != level.bunches && add_row(plot, plot->levels, &level)) {
        g_hash_table_insert(plot->newest_level, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(level.bunches));
    }
}

static void add_bunch(struct trace_plot *plot, const struct ue_observed_event *event) {
    struct trace_plot_band *band = find_band(plot, event->bunch.decoded->channel);
    band->bits[event->side][bin_at(plot, event->time_ns)] += event->bunch.decoded->data.bits;
    if (event->bunch.copy > 1) {
        add_resend(plot, event);
    }
    if (event->bunch.reliable_id >= 0) {
        add_level(plot, event);
    }
}

/* ---- notes ---- */

static void G_GNUC_PRINTF(3, 4)
    add_note(struct trace_plot *plot, const struct ue_observed_event *event, const char *format, ...) {
    struct trace_plot_note note = {.time_ns = event->time_ns, .frame = event->frame, .side = (uint8_t)event->side};
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(note.text, sizeof note.text, format, arguments);
    va_end(arguments);
    add_row(plot, plot->notes, &note);
}

static void add_handshake(struct trace_plot *plot, const struct ue_observed_event *event) {
    const char *name = ue_values_name(UE_VALUES_HANDSHAKE_TYPE, event->handshake.decoded->type);
    add_note(plot, event, "%s", name != NULL ? name : "handshake");
}

static void add_closed_note(struct trace_plot *plot, const struct ue_observed_event *event) {
    const char *reason = ue_values_name(ue_field_row(UE_F_BUNCH_CLOSE_REASON)->values, event->channel.close_reason);
    add_note(plot, event, "channel %" G_GUINT32_FORMAT " closed: %s", event->channel.bunch->channel,
             reason != NULL ? reason : "no known reason");
}

static void add_opened_note(struct trace_plot *plot, const struct ue_observed_event *event) {
    uint32_t channel = event->channel.bunch->channel;
    add_note(plot, event, "channel %" G_GUINT32_FORMAT " opened: %s", channel,
             info_channels_name(&plot->info->channels, channel));
}

/* ---- events and findings ---- */

static void on_event(void *user, const struct ue_observed_event *event) {
    struct trace_plot *plot = user;
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: add_handshake(plot, event); break;
    case UE_OBSERVED_PACKET:
        add_packet(plot, event);
        add_pace(plot, event);
        if (event->packet.is_late) {
            fill_gap(plot, event);
        }
        break;
    case UE_OBSERVED_LOST: add_gap(plot, event); break;
    case UE_OBSERVED_NOT_LOST: remove_gap(plot, event); break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK: on_ack(plot, event); break;
    case UE_OBSERVED_BUNCH: add_bunch(plot, event); break;
    case UE_OBSERVED_CHANNEL_OPENED: add_opened_note(plot, event); break;
    case UE_OBSERVED_CHANNEL_CLOSED: add_closed_note(plot, event); break;
    case UE_OBSERVED_RESTARTED: add_note(plot, event, "restarted"); break;
    default: break;
    }
}

/* Whether it lasts to the end of the capture. */
static bool is_open(enum ue_finding_id id) {
    return id == UE_FINDING_UNDELIVERED || id == UE_FINDING_UNDELIVERED_YET;
}

static bool is_about_delivery(enum ue_finding_id id) {
    return is_open(id) || id == UE_FINDING_STALL || id == UE_FINDING_STALL_UNSURE || id == UE_FINDING_STALL_SEEN ||
           id == UE_FINDING_REPEATED;
}

static void on_finding(void *user, const struct ue_finding *finding) {
    struct trace_plot *plot = user;
    if (!is_about_delivery(finding->id) || !finding->has_time) {
        return;
    }
    const struct trace_plot_stall stall = {.time_ns = finding->time_ns,
                                           .span_ns = finding->values[UE_VALUE_SPAN].at_least,
                                           .first_frame = finding->frames[0],
                                           .last_frame = finding->frames[finding->frame_count - 1],
                                           .channel = (uint32_t)finding->values[UE_VALUE_CHANNEL].at_least,
                                           .losses = (uint32_t)finding->values[UE_VALUE_COUNT].at_least,
                                           .side = (uint8_t)finding->side,
                                           .is_open = is_open(finding->id)};
    add_row(plot, plot->stalls, &stall);
}

static void on_wait(void *user, const struct ue_channel_wait *wait) {
    struct trace_plot *plot = user;
    add_row(plot, plot->waits, wait);
}

static void on_round_trip(void *user, int64_t acked_ns, int64_t rtt_ns) {
    struct trace_plot *plot = user;
    const struct trace_plot_rtt rtt = {acked_ns, rtt_ns};
    add_row(plot, plot->rtts, &rtt);
}

void trace_plot_on_datagram(struct trace_plot *plot, const struct input_datagram *captured) {
    plot->at = captured;
    plot->bins[captured->observed->role][bin_at(plot, captured->observed->time_ns)].bytes +=
        captured->observed->length_bytes;
    info_connection_on_datagram(plot->info, captured);
}

/* A packet that was reported but not captured has the time of its report, and captures may have times out of order. */
static gint compare_times(gconstpointer a, gconstpointer b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b; /* the first member of each row */
    return (x > y) - (x < y);
}

guint trace_plot_bin_count(const struct trace_plot *plot) {
    int64_t duration_ns = MAX(ue_time_ns_since(plot->info->course->last_ns, plot->begin_ns), 0);
    return (guint)MIN(duration_ns / plot->bin_ns + 1, TRACE_PLOT_BINS);
}

void trace_plot_finish(struct trace_plot *plot, int64_t end_ns) {
    GArray *tables[TABLES];
    list_tables(plot, tables);
    info_connection_finish(plot->info, end_ns);
    for (size_t i = 0; i < TABLES; i++) {
        g_array_sort(tables[i], compare_times);
    }
}

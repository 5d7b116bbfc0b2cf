/* SPDX-License-Identifier: MIT */
#include "tools/trace/plot.h"

#include <string.h>

#include <uerudp/time_ns.h>
#include "tools/input/input_findings.h"
#include "tools/observe/address.h"

/* The report about a packet usually follows soon, so the search starts at the end. */
#define LOOK_BACK 4096
#define FIRST_BIN_NS INT64_C(1000000)

/* The sum is TRACE_PLOT_POINTS_MAX. */
static const unsigned kept_limit[TRACE_PLOT_KINDS] = {
    [TRACE_PLOT_ORDINARY] = 10000, [TRACE_PLOT_MARKED] = 4000, [TRACE_PLOT_RESENDS] = 4000,
    [TRACE_PLOT_GAPS] = 1000,      [TRACE_PLOT_NOTES] = 1000,
};

struct trace_plot *trace_plot_new(const struct input_datagram *first) {
    unsigned server_side =
        first->role == 1 ? first->observed->record.decode.side : !first->observed->record.decode.side;
    struct trace_plot *plot = g_new0(struct trace_plot, 1);
    plot->stream = first->connection->stream;
    plot->server = g_strdup(first->texts->addresses[server_side]);
    plot->client = g_strdup(first->texts->addresses[!server_side]);
    plot->begin_ns = first->observed->time_ns;
    plot->packets = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_packet));
    plot->resends = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_resend));
    plot->gaps = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_gap));
    plot->notes = g_array_new(FALSE, FALSE, sizeof(struct trace_plot_note));
    plot->bands = g_ptr_array_new_with_free_func(g_free);
    plot->bin_ns = FIRST_BIN_NS;
    plot->detected = ue_findings_new(&observe_memory);
    plot->findings.per_kind_max = INFO_FINDINGS_DEFAULT;
    for (size_t kind = 0; kind < TRACE_PLOT_KINDS; kind++) {
        plot->stride[kind] = 1;
    }
    return plot;
}

void trace_plot_free(struct trace_plot *plot) {
    g_free(plot->client);
    g_free(plot->server);
    g_free(plot->generation);
    g_array_unref(plot->packets);
    g_array_unref(plot->resends);
    g_array_unref(plot->gaps);
    g_array_unref(plot->notes);
    g_ptr_array_unref(plot->bands);
    ue_findings_free(plot->detected);
    info_findings_clear(&plot->findings);
    g_free(plot);
}

uint64_t trace_plot_points(const struct trace_plot *plot) {
    return plot->packet_count + plot->resend_count + plot->gap_count + plot->note_count;
}

uint64_t trace_plot_points_kept(const struct trace_plot *plot) {
    return plot->packets->len + plot->resends->len + plot->gaps->len + plot->notes->len;
}

/* ---- thinning ---- */

static GArray *rows_of(const struct trace_plot *plot, enum trace_plot_kind kind) {
    switch (kind) {
    case TRACE_PLOT_RESENDS: return plot->resends;
    case TRACE_PLOT_GAPS: return plot->gaps;
    case TRACE_PLOT_NOTES: return plot->notes;
    case TRACE_PLOT_ORDINARY:
    case TRACE_PLOT_MARKED: break;
    }
    return plot->packets;
}

/* Packets of two kinds share an array. */
static bool is_of_kind(const GArray *rows, guint index, enum trace_plot_kind kind) {
    bool is_packet = kind == TRACE_PLOT_ORDINARY || kind == TRACE_PLOT_MARKED;
    return !is_packet || g_array_index(rows, struct trace_plot_packet, index).is_plain == (kind == TRACE_PLOT_ORDINARY);
}

/* Removes every second point of a kind. */
static void thin(struct trace_plot *plot, enum trace_plot_kind kind) {
    GArray *rows = rows_of(plot, kind);
    size_t size = g_array_get_element_size(rows);
    guint kept = 0, captured = 0;
    for (guint i = 0; i < rows->len; i++) {
        if (!is_of_kind(rows, i, kind) || captured++ % 2 == 0) {
            memmove(rows->data + kept++ * size, rows->data + i * size, size);
        }
    }
    plot->kept[kind] -= rows->len - kept;
    plot->stride[kind] *= 2; /* at most the number offered */
    g_array_set_size(rows, kept);
}

/* Appends a point unless the stride skips it. */
static void add_point(struct trace_plot *plot, enum trace_plot_kind kind, const void *row) {
    uint64_t number = plot->offered[kind]++;
    if (number % plot->stride[kind] == 0 && plot->kept[kind] >= kept_limit[kind]) {
        thin(plot, kind);
    }
    if (number % plot->stride[kind] == 0) {
        plot->kept[kind]++;
        g_array_append_vals(rows_of(plot, kind), row, 1);
    }
}

static void remove_point(struct trace_plot *plot, enum trace_plot_kind kind, guint index) {
    plot->kept[kind]--;
    g_array_remove_index(rows_of(plot, kind), index);
}

/* ---- packets ---- */

static void add_packet(struct trace_plot *plot, const struct input_datagram *captured,
                       const struct ue_observed_event *event) {
    bool is_plain = !event->packet.is_late && !event->packet.is_duplicate;
    struct trace_plot_packet packet = {.time_ns = event->time_ns,
                                       .id = event->packet_id,
                                       .frame = event->frame,
                                       .bytes = (uint32_t)captured->observed->length_bytes,
                                       .side = (uint8_t)event->side,
                                       .state = UE_TRACKER_PACKET_PENDING,
                                       .is_late = event->packet.is_late,
                                       .is_duplicate = event->packet.is_duplicate,
                                       .is_plain = is_plain};
    plot->packet_count++;
    add_point(plot, is_plain ? TRACE_PLOT_ORDINARY : TRACE_PLOT_MARKED, &packet);
}

/* The index of a packet; the number of packets if it is not kept. */
static guint find_packet(const struct trace_plot *plot, unsigned side, int64_t id) {
    const struct trace_plot_packet *rows = (const struct trace_plot_packet *)(const void *)plot->packets->data;
    guint first = plot->packets->len > LOOK_BACK ? plot->packets->len - LOOK_BACK : 0;
    for (guint i = plot->packets->len; i > first; i--) {
        const struct trace_plot_packet *row = &rows[i - 1];
        if (row->side == side && row->id == id) {
            return i - 1;
        }
        if (row->side == side && row->id < id - LOOK_BACK) {
            break;
        }
    }
    return plot->packets->len;
}

static void set_report(struct trace_plot_packet *packet, const struct ue_observed_event *event) {
    if (event->ack.is_withdrawn) {
        packet->state = TRACE_PLOT_ACK_LOST; /* keeps what reported it as delivered */
        packet->is_plain = false;
        return;
    }
    packet->report_ns = event->time_ns;
    packet->report_frame = event->frame;
    packet->state = event->type == UE_OBSERVED_ACK ? UE_TRACKER_PACKET_DELIVERED : UE_TRACKER_PACKET_NOT_DELIVERED;
    packet->is_plain &= event->type == UE_OBSERVED_ACK;
}

/* A packet that the stride skipped is shown after all if it is lost. */
static struct trace_plot_packet lost_packet(const struct ue_observed_event *event) {
    bool was_seen = event->ack.frame != 0;
    return (struct trace_plot_packet){.time_ns = was_seen ? ue_time_ns_since(event->time_ns, event->ack.span_ns)
                                                          : event->time_ns,
                                      .id = event->ack.packet_id,
                                      .frame = event->ack.frame,
                                      .side = !event->side};
}

static void on_ack(struct trace_plot *plot, const struct ue_observed_event *event) {
    guint index = find_packet(plot, !event->side, event->ack.packet_id);
    struct trace_plot_packet *shown =
        index < plot->packets->len ? &g_array_index(plot->packets, struct trace_plot_packet, index) : NULL;
    bool is_lost = event->type == UE_OBSERVED_NAK;
    plot->lost_count[!event->side] += is_lost;
    plot->packet_count += is_lost && shown == NULL && event->ack.frame == 0;
    if (is_lost && (shown == NULL || shown->is_plain)) {
        struct trace_plot_packet lost = shown != NULL ? *shown : lost_packet(event);
        if (shown != NULL) {
            remove_point(plot, TRACE_PLOT_ORDINARY, index);
        }
        set_report(&lost, event);
        add_point(plot, TRACE_PLOT_MARKED, &lost);
    } else if (shown != NULL) {
        set_report(shown, event);
    }
}

static void add_gap(struct trace_plot *plot, const struct ue_observed_event *event) {
    struct trace_plot_gap gap = {.time_ns = event->time_ns,
                                 .first_id = event->lost.first_id,
                                 .last_id = event->lost.last_id,
                                 .side = (uint8_t)event->side};
    plot->gap_count++;
    add_point(plot, TRACE_PLOT_GAPS, &gap);
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
    plot->gap_count -= plot->gap_count != 0;
    const struct trace_plot_gap *gaps = (const struct trace_plot_gap *)(const void *)plot->gaps->data;
    for (guint i = plot->gaps->len; i > 0; i--) {
        if (gaps[i - 1].side == event->side && gaps[i - 1].first_id == event->lost.first_id) {
            remove_point(plot, TRACE_PLOT_GAPS, i - 1);
            return;
        }
    }
}

/* ---- channels ---- */

static void name_channel(const struct input_datagram *captured, const struct ue_bunch *bunch,
                         struct text_buffer *name) {
    const char *known = ue_bunch_channel_name(&captured->context, bunch);
    if (known != NULL) {
        text_buffer_add(name, known);
    } else if (bunch->has_name && !bunch->name.hardcoded) {
        text_buffer_add_engine_text(name, bunch->name.text, TEXT_ESCAPE_PLAIN);
    }
    text_buffer_add_char(name, '\0');
}

static struct trace_plot_band *add_band(struct trace_plot *plot, uint32_t channel) {
    struct trace_plot_band *band = g_new0(struct trace_plot_band, 1);
    band->channel = channel;
    band->is_rest = plot->bands->len == TRACE_PLOT_BANDS_MAX - 1;
    g_strlcpy(band->name, band->is_rest ? "all others" : "", sizeof band->name);
    g_ptr_array_add(plot->bands, band);
    return band;
}

static struct trace_plot_band *find_band(struct trace_plot *plot, uint32_t channel) {
    for (guint i = 0; i < plot->bands->len; i++) {
        struct trace_plot_band *band = plot->bands->pdata[i];
        if (band->channel == channel || band->is_rest) {
            return band;
        }
    }
    return add_band(plot, channel);
}

/* Doubles the width of the bins and merges pairs of them. */
static void widen_bins(struct trace_plot *plot) {
    plot->bin_ns *= 2;
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

static void add_bunch(struct trace_plot *plot, const struct input_datagram *captured,
                      const struct ue_observed_event *event) {
    struct trace_plot_band *band = find_band(plot, event->bunch.decoded->channel);
    if (band->name[0] == '\0') {
        struct text_buffer name = {0};
        name_channel(captured, event->bunch.decoded, &name);
        g_utf8_strncpy(band->name, name.text, (sizeof band->name - 1) / 4);
        text_buffer_free(&name);
    }
    int64_t since_ns = MAX(ue_time_ns_since(event->time_ns, plot->begin_ns), 0);
    while (since_ns / plot->bin_ns >= TRACE_PLOT_BINS) {
        widen_bins(plot);
    }
    band->bits[event->side][since_ns / plot->bin_ns] += event->bunch.decoded->data.bits;
}

static void add_resend(struct trace_plot *plot, const struct ue_observed_event *event) {
    struct trace_plot_resend resend = {.time_ns = event->time_ns,
                                       .id = event->packet_id,
                                       .reliable_id = event->bunch.reliable_id,
                                       .frame = event->frame,
                                       .first_frame = event->bunch.first_frame,
                                       .other_frame = event->bunch.previous_frame,
                                       .channel = event->bunch.decoded->channel,
                                       .copy = event->bunch.copy,
                                       .side = (uint8_t)event->side,
                                       .is_spurious = event->bunch.is_spurious};
    plot->resend_count++;
    add_point(plot, TRACE_PLOT_RESENDS, &resend);
}

/* ---- notes ---- */

static void G_GNUC_PRINTF(3, 4)
    add_note(struct trace_plot *plot, const struct ue_observed_event *event, const char *format, ...) {
    struct trace_plot_note note = {.time_ns = event->time_ns, .frame = event->frame, .side = (uint8_t)event->side};
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(note.text, sizeof note.text, format, arguments);
    va_end(arguments);
    plot->note_count++;
    add_point(plot, TRACE_PLOT_NOTES, &note);
}

static void add_handshake(struct trace_plot *plot, const struct ue_observed_event *event) {
    const char *name = ue_values_name(UE_VALUES_HANDSHAKE_TYPE, event->handshake.decoded->type);
    add_note(plot, event, "%s", name != NULL ? name : "handshake");
}

static void note_closed(struct trace_plot *plot, const struct ue_observed_event *event) {
    const char *reason = ue_values_name(ue_field_row(UE_F_BUNCH_CLOSE_REASON)->values, event->channel.close_reason);
    add_note(plot, event, "channel %" G_GUINT32_FORMAT " closed: %s", event->channel.bunch->channel,
             reason != NULL ? reason : "no known reason");
}

static void add_opened_note(struct trace_plot *plot, const struct input_datagram *captured,
                            const struct ue_observed_event *event) {
    struct text_buffer name = {0};
    name_channel(captured, event->channel.bunch, &name);
    add_note(plot, event, "channel %" G_GUINT32_FORMAT " opened: %.40s", event->channel.bunch->channel, name.text);
    text_buffer_free(&name);
}

/* ---- the tracker ---- */

/* The datagram whose events are drawn. */
struct drawing {
    struct trace_plot *plot;
    const struct input_datagram *captured;
};

static void draw_event(void *user, const struct ue_observed_event *event) {
    struct trace_plot *plot = ((struct drawing *)user)->plot;
    const struct input_datagram *captured = ((struct drawing *)user)->captured;
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: add_handshake(plot, event); break;
    case UE_OBSERVED_PACKET:
        add_packet(plot, captured, event);
        if (event->packet.is_late) {
            fill_gap(plot, event);
        }
        break;
    case UE_OBSERVED_LOST: add_gap(plot, event); break;
    case UE_OBSERVED_NOT_LOST: remove_gap(plot, event); break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK: on_ack(plot, event); break;
    case UE_OBSERVED_BUNCH:
        add_bunch(plot, captured, event);
        if (event->bunch.copy > 1) {
            add_resend(plot, event);
        }
        break;
    case UE_OBSERVED_CHANNEL_OPENED: add_opened_note(plot, captured, event); break;
    case UE_OBSERVED_CHANNEL_CLOSED: note_closed(plot, event); break;
    case UE_OBSERVED_RESTARTED: add_note(plot, event, "restarted"); break;
    default: break;
    }
}

static void update_generation(struct trace_plot *plot, const struct input_datagram *captured) {
    const struct ue_detection *flow = &captured->connection->detection;
    char text[UE_RANGE_CHARS];
    const char *generations =
        ue_detection_generations(flow, ue_detection_result_of(flow, &captured->observed->record.decode), text);
    if (g_strcmp0(plot->generation, generations) != 0) {
        g_free(plot->generation);
        plot->generation = g_strdup(generations);
    }
}

void trace_plot_on_datagram(struct trace_plot *plot, const struct input_datagram *captured) {
    struct drawing drawing = {plot, captured};
    plot->end_ns = MAX(plot->end_ns, captured->observed->time_ns);
    update_generation(plot, captured);
    input_findings_on_datagram(plot->detected, captured, draw_event, &drawing,
                               &(const struct ue_findings_callbacks){info_findings_add, &plot->findings});
}

void trace_plot_finish(struct trace_plot *plot, int64_t end_ns) {
    ue_findings_finish(plot->detected, end_ns,
                       &(const struct ue_findings_callbacks){info_findings_add, &plot->findings});
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/statistics_text.h"

#include <inttypes.h>

#include <uerudp/actor_class.h>
#include "tools/info/bandwidth_text.h"
#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_style.h"

#define TALKERS_SHOWN 20
#define CHANNELS_SHOWN 12
#define REASON_CHARS 15 /* width of the column */

/* ---- traffic ---- */

struct phrase info_text_number(uint64_t value) {
    return phrase_format("%" PRIu64, value);
}

void info_print_row(struct text_buffer *out, const char *label, struct phrase client, struct phrase server) {
    text_buffer_add_format(out, "    %-22s %24s  %24s\n", label, client.text, server.text);
}

void info_print_number_row(struct text_buffer *out, const char *label, uint64_t client, uint64_t server) {
    if (client + server != 0) {
        info_print_row(out, label, info_text_number(client), info_text_number(server));
    }
}

/* "40 of 384 (10.4 %)" */
static struct phrase not_acked(const struct ue_tracker_counts *counts) {
    uint64_t reports = counts->acked + counts->nacked;
    return reports == 0 ? (struct phrase){"unknown"}
                        : phrase_format("%" PRIu64 " of %" PRIu64 " (%.1f %%)", counts->nacked, reports,
                                        100.0 * (double)counts->nacked / (double)reports);
}

struct phrase info_text_missing(const struct info_connection *info, unsigned side) {
    const struct ue_side_totals *totals = info->sides[side].totals;
    uint64_t count, damaged = totals->counts.missing_damaged;
    bool is_unplaced = totals->unplaced != 0;
    if (!info_connection_lost_packets(info, side, &count)) {
        return is_unplaced ? (struct phrase){"unknown"} : (struct phrase){"not visible here"};
    }
    if (is_unplaced) {
        return phrase_format("%" PRIu64 " or more", count);
    }
    return damaged != 0 ? phrase_format("%" PRIu64 " (at most %" PRIu64 " malformed)", count, damaged)
                        : info_text_number(count);
}

struct phrase info_text_resends(const struct info_connection *info, unsigned side) {
    const struct ue_tracker_counts *counts = &info->sides[side].totals->counts;
    return counts->spurious != 0
               ? phrase_format("%" PRIu64 " (at least %" PRIu64 " needless)", counts->resends, counts->spurious)
               : info_text_number(counts->resends);
}

/* "4, channel 3", "4-6 of 256", "4 or more of 256, channel 3". The highest use may have been on another channel than
   the highest that is certain. An engine that was not modified has no more than the limit. */
static struct phrase reliable_peak(const struct ue_side_totals *totals, uint32_t limit) {
    const struct ue_reliable_peak *peak = &totals->reliable_peak;
    uint32_t at_most = totals->reliable_peak_at_most;
    struct phrase of_limit = limit != 0 ? phrase_format(" of %" PRIu32, limit) : (struct phrase){""};
    if (at_most == peak->at_least) {
        return phrase_format("%" PRIu32 "%s, channel %" PRIu32, peak->at_least, of_limit.text, peak->channel);
    }
    if (at_most == UE_OBSERVED_UNBOUNDED || (limit != 0 && at_most > limit)) {
        return phrase_format("%" PRIu32 " or more%s, channel %" PRIu32, peak->at_least, of_limit.text, peak->channel);
    }
    return phrase_format("%" PRIu32 "-%" PRIu32 "%s", peak->at_least, at_most, of_limit.text);
}

struct phrase info_text_buffer_peak(const struct info_connection *info, unsigned side) {
    const struct ue_side_totals *totals = info->sides[side].totals;
    return totals->reliable_peak.at_least != 0 ? reliable_peak(totals, info->reliable_limit) : (struct phrase){"-"};
}

static struct phrase bytes_rate(const struct info_connection *info, unsigned side) {
    const struct ue_side_rate *rate = &info->sides[side].totals->rate;
    double mean = (double)rate->whole_bytes / (double)rate->whole_seconds;
    return phrase_format("%.0f, peak %" PRIu64, mean, rate->network.peak_bytes);
}

static void print_losses(struct text_buffer *out, const struct info_connection *info,
                         const struct ue_tracker_counts *up, const struct ue_tracker_counts *down) {
    info_print_row(out, "not acknowledged", not_acked(up), not_acked(down));
    info_print_number_row(out, "  or more by", up->unsure, down->unsure);
    info_print_row(out, info->options->is_part ? "missing in this part" : "missing in the capture",
                   info_text_missing(info, 0), info_text_missing(info, 1));
    info_print_number_row(out, "out of order", up->late, down->late);
    info_print_number_row(out, "duplicates", up->duplicates, down->duplicates);
}

static void print_traffic(struct text_buffer *out, const struct info_connection *info) {
    const struct info_side *client = &info->sides[0], *server = &info->sides[1];
    const struct ue_tracker_counts *up = &client->totals->counts, *down = &server->totals->counts;
    text_style_add_title(out, "  %-24s %24s  %24s", "traffic", "client to server", "server to client");
    info_print_row(out, "datagrams", info_text_number(client->totals->datagrams),
                   info_text_number(server->totals->datagrams));
    info_print_row(out, "bytes", info_text_number(client->bytes), info_text_number(server->bytes));
    if (info->course->implausible == 0 && info->course->last_ns - info->course->first_ns >= INT64_C(1000000000)) {
        info_print_row(out, "bytes/s with headers", bytes_rate(info, 0), bytes_rate(info, 1));
    }
    info_print_number_row(out, "without a bunch", client->totals->empty, server->totals->empty);
    info_print_number_row(out, "malformed", client->totals->malformed, server->totals->malformed);
    if (!info->course->is_replay) {
        print_losses(out, info, up, down);
    }
    info_print_row(out, "reliable bunches", info_text_number(up->reliable), info_text_number(down->reliable));
    if (info->course->is_replay) {
        return;
    }
    info_print_row(out, "resends of them", info_text_resends(info, 0), info_text_resends(info, 1));
    info_print_row(out, "reliable buffer peak", info_text_buffer_peak(info, 0), info_text_buffer_peak(info, 1));
}

/* ---- times ---- */

static void print_percentiles(struct text_buffer *out, const char *label, const struct ue_histogram *histogram,
                              double unit) {
    if (histogram->count == 0) {
        return;
    }
    text_buffer_add_format(out, "    %-22s", label);
    static const double percents[] = {50, 90, 99};
    for (size_t i = 0; i < G_N_ELEMENTS(percents); i++) {
        text_buffer_add_format(out, " %8.1f", (double)ue_histogram_percentile(histogram, percents[i]) / unit);
    }
    text_buffer_add_format(out, " %8.1f %8.1f %9" PRIu64 "\n", (double)histogram->min / unit,
                           (double)histogram->max / unit, histogram->count);
}

static void print_times(struct text_buffer *out, const struct info_connection *info) {
    const struct ue_timing *timing = info->timing;
    int64_t handshake_ns = ue_timing_handshake_ns(timing);
    if (timing->rtt.count + timing->halves[0].count + timing->halves[1].count == 0 && handshake_ns < 0) {
        return;
    }
    text_style_add_title(out, "  %-24s %8s %8s %8s %8s %8s %9s", "times in ms", "p50", "p90", "p99", "least", "most",
                         "samples");
    print_percentiles(out, "round trip", &timing->rtt, 1e6);
    print_percentiles(out, "  here, server, here", &timing->halves[0], 1e6);
    print_percentiles(out, "  here, client, here", &timing->halves[1], 1e6);
    print_percentiles(out, timing->has_clocks ? "server frame" : "server frame (packets)", &timing->frame_time_ms, 1);
    if (timing->frame_time_ms.max == UINT8_MAX) {
        text_buffer_add(out, "    a server frame of 255 ms took 255 ms or longer\n");
    }
    if (handshake_ns >= 0) {
        text_buffer_add_format(out, "    %-22s %8.1f\n", "handshake round trip", phrase_milliseconds(handshake_ns));
    }
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_side_jitter *jitter = &timing->jitter[side];
        if (jitter->samples != 0) {
            text_buffer_add_format(out, "    jitter of the %s       %8.1f now, %.1f at most\n", phrase_side(side),
                                   phrase_milliseconds(jitter->clock.average_ns), phrase_milliseconds(jitter->max_ns));
        }
    }
}

/* ---- pace ---- */

static struct phrase interval_text(int64_t ms) {
    return phrase_format("%" PRId64 " ms%s", ms, ms < UE_SEND_INTERVAL_LIMIT_MS ? "" : " or more");
}

/* Intervals between the frames of a side that sent, and the longest of them. */
static void print_intervals(struct text_buffer *out, const struct info_connection *info, unsigned side) {
    const struct ue_send_pace *pace = &info->timing->pace[side];
    const struct ue_histogram *intervals = &pace->interval_ms;
    if (intervals->count == 0) {
        return;
    }
    int64_t p99_ms = ue_histogram_percentile(intervals, 99);
    text_buffer_add_format(out, "    the %s sends every %s", phrase_side(side),
                           interval_text(ue_histogram_percentile(intervals, 50)).text);
    if (p99_ms < UE_SEND_INTERVAL_LIMIT_MS) {
        text_buffer_add_format(out, ", 99 %% within %" PRId64 " ms", p99_ms);
    }
    text_buffer_add_format(out, ", %s %s", intervals->max < UE_SEND_INTERVAL_LIMIT_MS ? "at most" : "the longest",
                           interval_text(intervals->max).text);
    text_buffer_add_format(out, " (before frame %" PRIu64, pace->longest_frame);
    if (info->course->implausible == 0) {
        text_buffer_add_format(out, ", from %.3f s on", phrase_seconds(pace->longest_ns - info->course->first_ns));
    }
    text_buffer_add(out, "), by its own clock\n");
}

/* A path that always needs equally long is in the fastest acknowledgement, too; queues, jitter and lost
   acknowledgements are not. One alone has nothing to be compared with. */
static void print_ack_delay(struct text_buffer *out, const struct info_connection *info, unsigned side) {
    const struct ue_histogram *half = &info->timing->halves[side];
    if (half->count > 1) {
        text_buffer_add_format(out,
                               "    acknowledgements of the %s come %.1f ms after its fastest one (median), 99 %% "
                               "within %.1f ms: its ticks, "
                               "and what varies or is lost on the way\n",
                               phrase_side(!side), (double)(ue_histogram_percentile(half, 50) - half->min) / 1e6,
                               (double)(ue_histogram_percentile(half, 99) - half->min) / 1e6);
    }
}

static void print_pace(struct text_buffer *out, const struct info_connection *info) {
    const struct ue_timing *timing = info->timing;
    if (timing->halves[0].count <= 1 && timing->halves[1].count <= 1 &&
        timing->pace[0].interval_ms.count + timing->pace[1].interval_ms.count == 0) {
        return;
    }
    text_style_add_title(out,
                         "  pace of both sides: what is sent waits for the next tick, and so does an acknowledgement");
    for (unsigned side = 0; side < 2; side++) {
        print_intervals(out, info, side);
    }
    for (unsigned side = 0; side < 2; side++) {
        print_ack_delay(out, info, !side);
    }
}

/* ---- waits ---- */

#define WAITS_SHOWN 6

struct channel_wait_row {
    uint32_t channel;
    unsigned side;
    const struct ue_channel_waits *waits;
};

static gint by_total(gconstpointer a, gconstpointer b) {
    int64_t x = ((const struct channel_wait_row *)a)->waits->total_ns;
    int64_t y = ((const struct channel_wait_row *)b)->waits->total_ns;
    return (x < y) - (x > y);
}

/* "at least 2 bunches waited at least 70 ms in all, one of them at least 50 ms" */
static void print_spans(struct text_buffer *out, const struct ue_channel_waits *waits) {
    const char *bound = waits->is_at_least ? "at least " : "";
    text_buffer_add_format(out, "%s%s waited %s%s", bound, phrase_count(waits->bunches, "bunch").text, bound,
                           phrase_duration(waits->total_ns).text);
    if (waits->bunches > 1) {
        text_buffer_add_format(out, " in all, %s %s", waits->is_at_least ? "one of them at least" : "at most",
                               phrase_duration(waits->longest.span_ns).text);
    }
}

static void print_wait(struct text_buffer *out, const struct info_connection *info,
                       const struct channel_wait_row *row) {
    const struct ue_channel_wait *longest = &row->waits->longest;
    const struct info_channel *channel = info_channels_find(&info->channels, row->channel);
    text_buffer_add_format(out, "    %s, channel %" PRIu32 " ",
                           row->side == 0 ? "client to server" : "server to client", row->channel);
    text_escape_add_utf8(out,
                         channel != NULL && channel->actor != NULL ? ue_actor_class_name(channel->actor)
                                                                   : info_channels_name(&info->channels, row->channel),
                         TEXT_ESCAPE_PLAIN);
    if (row->waits->bunches == 0) {
        text_buffer_add(out, ": bunches may have waited; the capture does not show whether, or how long\n");
        return;
    }
    text_buffer_add(out, ": ");
    print_spans(out, row->waits);
    text_buffer_add_format(out,
                           ", from frame %" PRIu64 " until ChSequence %" PRIu32 " arrived with frame %" PRIu64 "\n",
                           longest->first_frame, longest->ch_seq, longest->frame);
}

static void print_waits(struct text_buffer *out, const struct info_connection *info) {
    size_t number;
    const struct ue_channel_order *orders = ue_findings_channel_orders(info->detected, &number);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(struct channel_wait_row));
    for (size_t i = 0; i < 2 * number; i++) {
        const struct channel_wait_row row = {orders[i / 2].channel, i % 2, &orders[i / 2].waits[i % 2]};
        if (info_waits_are_possible(row.waits)) {
            g_array_append_val(rows, row);
        }
    }
    g_array_sort(rows, by_total);
    if (rows->len != 0) {
        text_style_add_title(out, "  reliable bunches that arrived, but took effect only after a lost one before them"
                                  " (what was not acknowledged counts as lost; times at the capture point)");
    }
    for (guint i = 0; i < rows->len && i < WAITS_SHOWN; i++) {
        print_wait(out, info, &g_array_index(rows, struct channel_wait_row, i));
    }
    if (rows->len > WAITS_SHOWN) {
        text_buffer_add_format(out, "    and on %u more\n", rows->len - WAITS_SHOWN);
    }
}

/* ---- channels ---- */

static struct phrase moment(const struct info_connection *info, uint64_t frame, int64_t time_ns, uint64_t count) {
    struct phrase words;
    g_strlcpy(words.text, frame != 0 ? "?" : "-", sizeof words.text);
    if (frame != 0 && info->course->implausible == 0) {
        g_snprintf(words.text, sizeof words.text, "%.3f s", phrase_seconds(time_ns - info->course->first_ns));
    }
    if (count > 1) {
        char times[24];
        g_snprintf(times, sizeof times, " (%" PRIu64 ")", count);
        g_strlcat(words.text, times, sizeof words.text);
    }
    return words;
}

static void print_channel(struct text_buffer *out, const struct info_connection *info,
                          const struct info_channel *channel) {
    const char *reason = info_channel_close_reason(channel);
    struct phrase index = channel->index != UINT32_MAX ? info_text_number(channel->index) : (struct phrase){"others"};
    text_buffer_add_format(
        out, "    %7s %-12s %12" PRIu64 " %12" PRIu64 " %9" PRIu64 " %8" PRIu64 "  %-16s %-16s %s", index.text,
        channel->name[0] != '\0' ? channel->name : "-", channel->flows[0].bits / 8, channel->flows[1].bits / 8,
        channel->flows[0].bunches + channel->flows[1].bunches, channel->flows[0].resends + channel->flows[1].resends,
        moment(info, channel->opened_frame, channel->opened_ns, channel->opens).text,
        moment(info, channel->closed_frame, channel->closed_ns, channel->closes).text, reason != NULL ? reason : "");
    if (channel->actor != NULL) {
        text_buffer_add_format(out, "%*s", reason != NULL ? REASON_CHARS - (int)strlen(reason) : REASON_CHARS, "");
        text_escape_add_utf8(out, ue_actor_class_name(channel->actor), TEXT_ESCAPE_PLAIN);
    }
    text_buffer_add_char(out, '\n');
}

static void print_close_reasons(struct text_buffer *out, const struct info_channels *channels) {
    const char *separator = "    closed in all: ";
    uint64_t others = 0;
    for (unsigned reason = 0; reason < INFO_CLOSE_REASONS_MAX; reason++) {
        const char *name = ue_values_name(UE_VALUES_CLOSE_REASON, reason);
        uint64_t count = channels->close_reasons[reason];
        others += name == NULL ? count : 0;
        if (name != NULL && count != 0) {
            text_buffer_add_format(out, "%s%" PRIu64 " %s", separator, count, name);
            separator = ", ";
        }
    }
    if (others != 0) {
        text_buffer_add_format(out, "%s%" PRIu64 " for other reasons", separator, others);
    }
    text_buffer_add(out, channels->closes != 0 ? "\n" : "");
}

static bool has_actors(const GPtrArray *sorted) {
    for (guint i = 0; i < sorted->len && i < CHANNELS_SHOWN; i++) {
        if (((const struct info_channel *)g_ptr_array_index(sorted, i))->actor != NULL) {
            return true;
        }
    }
    return false;
}

static void print_channels(struct text_buffer *out, const struct info_connection *info) {
    g_autoptr(GPtrArray) sorted = info_channels_sorted(&info->channels, INFO_CHANNELS_BY_BITS);
    if (sorted->len != 0) {
        text_style_add_title(out, "  channels, %u", sorted->len);
        text_buffer_add_format(out, "    %7s %-12s %12s %12s %9s %8s  %-16s %-16s %s\n", "index", "name", "c2s bytes",
                               "s2c bytes", "bunches", "resends", "opened", "closed",
                               has_actors(sorted) ? "reason         actor" : "reason");
    }
    for (guint i = 0; i < sorted->len && i < CHANNELS_SHOWN; i++) {
        print_channel(out, info, g_ptr_array_index(sorted, i));
    }
    if (sorted->len > CHANNELS_SHOWN) {
        text_buffer_add_format(out, "    and %u more with less\n", sorted->len - CHANNELS_SHOWN);
    }
    print_close_reasons(out, &info->channels);
}

/* ---- voice ---- */

static void print_talker(struct text_buffer *out, const struct info_connection *info,
                         const struct info_talker *talker) {
    text_buffer_add_format(out, "    %s %12" PRIu64 " %12" PRIu64 " %9" PRIu64 " ",
                           talker->side == 0 ? "client to server" : "server to client", talker->counts.packets,
                           talker->counts.bytes, talker->counts.spurts);
    if (info->course->implausible == 0) {
        text_buffer_add_format(out, "%8.3f s", phrase_seconds(talker->counts.talked_ns));
    } else {
        text_buffer_add_format(out, "%10s", "-");
    }
    text_buffer_add(out, "  ");
    text_escape_add_utf8(out, talker->counts.sender, TEXT_ESCAPE_PLAIN);
    text_buffer_add_char(out, '\n');
}

static void print_talkers(struct text_buffer *out, const struct info_connection *info) {
    const GArray *rows = info->talkers.rows;
    if (rows == NULL) {
        return;
    }
    text_style_add_title(out, "  talkers, %u (a pause of %d ms or more separates spurts)", rows->len,
                         (int)(UE_TALKER_PAUSE_NS / 1000000));
    text_buffer_add_format(out, "    %-16s %12s %12s %9s %10s  %s\n", "direction", "packets", "bytes", "spurts",
                           "talked", "sender");
    for (guint i = 0; i < rows->len && i < TALKERS_SHOWN; i++) {
        print_talker(out, info, &g_array_index(rows, struct info_talker, i));
    }
    if (rows->len > TALKERS_SHOWN) {
        text_buffer_add_format(out, "    and %u more\n", rows->len - TALKERS_SHOWN);
    }
}

/* ---- bits ---- */

static void print_cost_row(struct text_buffer *out, const char *indent, const char *label, const uint64_t bits[2],
                           const uint64_t total[2]) {
    text_buffer_add_format(out, "    %s%-*s", indent, 38 - (int)strlen(indent), label);
    for (unsigned side = 0; side < 2; side++) {
        double percent = total[side] != 0 ? 100.0 * (double)bits[side] / (double)total[side] : 0;
        text_buffer_add_format(out, " %12" PRIu64 " %6.2f %%", bits[side], percent);
    }
    text_buffer_add_char(out, '\n');
}

static bool is_same_group(const struct info_cost_part *a, const struct info_cost_part *b) {
    return strcmp(a->group, b->group) == 0;
}

/* Prints each group with its sum, and its parts below it. */
static void print_cost(struct text_buffer *out, const struct info_cost *cost) {
    g_autoptr(GArray) array = info_cost_parts(cost);
    const struct info_cost_part *parts = (const struct info_cost_part *)array->data, *end = parts + array->len;
    text_style_add_title(out, "  %-40s %21s %21s", "bits", "client to server", "server to client");
    for (const struct info_cost_part *first = parts; first < end;) {
        const struct info_cost_part *next = first;
        uint64_t sums[2] = {0, 0};
        for (; next < end && is_same_group(next, first); next++) {
            sums[0] += next->bits[0];
            sums[1] += next->bits[1];
        }
        print_cost_row(out, "", first->group, sums, cost->total);
        for (; first < next; first++) {
            print_cost_row(out, "  ", first->name, first->bits, cost->total);
        }
    }
    print_cost_row(out, "", "all datagrams", cost->total, cost->total);
    print_cost_row(out, "", "besides: IP and UDP headers", cost->overhead, cost->total);
}

static void print_budgets(struct text_buffer *out, const struct info_connection *info) {
    g_autoptr(GArray) results = info_budget_results(info);
    for (guint i = 0; i < results->len; i++) {
        text_buffer_add(out, "  ");
        info_budget_add_sentence(out, &g_array_index(results, struct info_budget_result, i));
        text_buffer_add_char(out, '\n');
    }
}

void info_print_tables(struct text_buffer *out, const struct info_connection *info) {
    print_traffic(out, info);
    print_times(out, info);
    print_pace(out, info);
    print_waits(out, info);
    print_channels(out, info);
    print_talkers(out, info);
    if (info->cost != NULL) {
        print_cost(out, info->cost);
    }
    if (info->bandwidth != NULL) {
        info_bandwidth_print_text(out, info->bandwidth, &info->options->bandwidth, info->detected);
        print_budgets(out, info);
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/bandwidth_text.h"

#include <inttypes.h>

#include <uerudp/actor_class.h>
#include "tools/info/bandwidth_rows.h"
#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_style.h"

#define PART_CHARS 24
#define RATE_CHARS 16

static double percent(uint64_t part, uint64_t whole) {
    return whole != 0 ? 100 * (double)part / (double)whole : 0;
}

/* ---- kinds ---- */

static const char *kind_label(enum ue_bandwidth_kind kind) {
    static const char *const labels[UE_BANDWIDTH_KIND_COUNT] = {
        [UE_BANDWIDTH_CONTENT] = "content",
        [UE_BANDWIDTH_OPEN] = "opens of channels",
        [UE_BANDWIDTH_EXPORTS] = "exports of net GUIDs",
        [UE_BANDWIDTH_CONTROL] = "control channel",
        [UE_BANDWIDTH_VOICE] = "voice",
        [UE_BANDWIDTH_RETRANSMISSION] = "retransmissions",
        [UE_BANDWIDTH_DUPLICATE] = "duplicate packets",
        [UE_BANDWIDTH_HEADERS] = "packet headers and acks",
        [UE_BANDWIDTH_ACKS] = "packets without bunches",
        [UE_BANDWIDTH_HANDSHAKE] = "handshake",
        [UE_BANDWIDTH_UNREAD] = "not readable",
    };
    return labels[kind];
}

static void print_bits(struct text_buffer *out, const char *label, const uint64_t bits[2], const uint64_t all[2]) {
    text_buffer_add_format(out, "    %-*s", PART_CHARS, label);
    for (unsigned side = 0; side < 2; side++) {
        text_buffer_add_format(out, " %12" PRIu64 " %11.1f %6.2f %%", bits[side], (double)bits[side] / 8,
                               percent(bits[side], all[side]));
    }
    text_buffer_add_char(out, '\n');
}

static void print_kinds(struct text_buffer *out, const struct ue_bandwidth_totals *totals) {
    const struct ue_bandwidth_counts *counts = &totals->counts;
    const uint64_t all[] = {ue_bandwidth_bits(counts, 0), ue_bandwidth_bits(counts, 1)};
    text_style_add_title(out, "  %-26s %12s %11s %8s %12s %11s %8s", "bandwidth by kind", "c2s bits", "c2s bytes",
                         "share", "s2c bits", "s2c bytes", "share");
    for (enum ue_bandwidth_kind kind = 0; kind < UE_BANDWIDTH_KIND_COUNT; kind++) {
        if (counts->bits[kind][0] + counts->bits[kind][1] != 0) {
            print_bits(out, kind_label(kind), counts->bits[kind], all);
        }
    }
    print_bits(out, "all datagrams", all, all);
    print_bits(out, "  headers of bunches", counts->header_bits, all);
    print_bits(out, "besides: IP and UDP", totals->ip_udp_bits, all);
}

/* ---- rows ---- */

static struct phrase rate(double per_s) {
    return per_s >= 0 ? phrase_format("%.1f", per_s) : (struct phrase){"-"};
}

/* "1250 at 12 s" */
static struct phrase peak(const struct ue_bandwidth_counts *counts, bool has_times) {
    struct phrase words = {"-"};
    unsigned side = counts->peak_bits[1] >= counts->peak_bits[0];
    if (has_times && counts->peak_bits[side] != 0) {
        g_snprintf(words.text, sizeof words.text, "%" PRIu64 " at %" PRId64 " s",
                   info_bandwidth_peak_bytes(counts, side), counts->peak_second[side]);
    }
    return words;
}

static void print_name(struct text_buffer *out, enum ue_bandwidth_by by, const struct ue_bandwidth_row *row,
                       size_t more) {
    const char *name = info_bandwidth_class_of(row);
    if (row->is_rest) {
        text_buffer_add_format(out, more != 0 ? "%zu more" : "others", more);
        return;
    }
    if (by == UE_BANDWIDTH_BY_CHANNEL) {
        text_buffer_add_format(out, "%" PRIu32 " ", row->channel);
    }
    if (name != NULL) {
        text_escape_add_utf8(out, ue_actor_class_name(name), TEXT_ESCAPE_PLAIN);
    } else {
        text_buffer_add(out, ue_bandwidth_unnamed(row->is_actor));
    }
    if (by == UE_BANDWIDTH_BY_ACTOR && row->guid != 0) {
        text_buffer_add_format(out, " guid %" PRIu64, row->guid);
    }
    if (by == UE_BANDWIDTH_BY_ACTOR) {
        text_buffer_add_format(out, " channel %" PRIu32, row->channel);
    }
}

static void print_row(struct text_buffer *out, enum ue_bandwidth_by by, const struct ue_bandwidth_row *row, size_t more,
                      uint64_t all, bool has_times) {
    const struct ue_bandwidth_counts *counts = &row->counts;
    const uint64_t *resent = counts->bits[UE_BANDWIDTH_RETRANSMISSION];
    text_buffer_add_format(out, "    %11.1f %11.1f %6.2f %% %*s %8" PRIu64 " %6s %6" PRIu64 " %7" PRIu64 " %11.1f  ",
                           (double)ue_bandwidth_bits(counts, 0) / 8, (double)ue_bandwidth_bits(counts, 1) / 8,
                           percent(info_bandwidth_row_bits(row), all), RATE_CHARS, peak(counts, has_times).text,
                           counts->updates[0] + counts->updates[1],
                           rate(has_times ? info_bandwidth_updates_per_s(row) : -1).text, row->opens, row->dormant,
                           (double)(resent[0] + resent[1]) / 8);
    print_name(out, by, row, more);
    text_buffer_add_char(out, '\n');
}

static void print_rows(struct text_buffer *out, const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by,
                       const struct info_bandwidth_options *options, bool has_times) {
    const struct ue_bandwidth_counts *counts = &ue_bandwidth_totals(bandwidth)->counts;
    uint64_t all = ue_bandwidth_bits(counts, 0) + ue_bandwidth_bits(counts, 1);
    size_t more;
    g_autoptr(GArray) rows = info_bandwidth_rows(
        bandwidth, by, options, options->rows_max != 0 ? options->rows_max : INFO_BANDWIDTH_ROWS_TEXT, &more);
    text_style_add_title(out, "  bandwidth by %s, %zu", info_bandwidth_by_name(by),
                         ue_bandwidth_row_count(bandwidth, by));
    text_buffer_add_format(out, "    %11s %11s %8s %*s %8s %6s %6s %7s %11s\n", "c2s bytes", "s2c bytes", "share",
                           RATE_CHARS, "most in 1 s", "updates", "per s", "opens", "dormant", "resent");
    for (guint i = 0; i < rows->len; i++) {
        print_row(out, by, &g_array_index(rows, struct ue_bandwidth_row, i), more, all, has_times);
    }
}

/* ---- saturation ---- */

static struct phrase latest_rate(const struct ue_saturation *of) {
    return of->packets != 0 ? phrase_format("%" PRId32, of->rate) : (struct phrase){"no packet"};
}

static struct phrase total(const struct ue_saturation *of) {
    return of->spans != 0 ? phrase_format("%s, %s", phrase_duration(of->total_ns).text,
                                          phrase_duration(of->longest.length_ns).text)
                          : (struct phrase){"-"};
}

static struct phrase longest(const struct ue_bandwidth_totals *totals, const struct ue_saturation *of) {
    return of->spans != 0 ? phrase_format("%.3f s, frame %" PRIu64,
                                          phrase_seconds(of->longest.begin_ns - totals->first_ns), of->longest.frame)
                          : (struct phrase){"-"};
}

static struct phrase rate_of_longest(const struct ue_saturation *of) {
    return of->spans != 0 ? phrase_format("%" PRId32, of->longest.rate) : (struct phrase){"-"};
}

static struct phrase queued(const struct ue_saturation *of) {
    return of->peak_frame != 0
               ? phrase_format("%" PRId64 ", %s", of->peak_bits, phrase_duration(ue_saturation_peak_ns(of)).text)
               : (struct phrase){"-"};
}

static void print_waits(struct text_buffer *out, const struct ue_bandwidth *bandwidth) {
    for (size_t i = 0; i < ue_bandwidth_row_count(bandwidth, UE_BANDWIDTH_BY_CHANNEL); i++) {
        const struct ue_bandwidth_row *row = ue_bandwidth_row_at(bandwidth, UE_BANDWIDTH_BY_CHANNEL, i);
        for (unsigned side = 0; side < 2; side++) {
            if (!row->is_rest && row->waits[side] != 0) {
                const char *name = info_bandwidth_class_of(row);
                text_buffer_add_format(out, "    channel %" PRIu32, row->channel);
                text_buffer_add(out, name != NULL ? " (" : "");
                text_escape_add_utf8(out, name != NULL ? ue_actor_class_name(name) : "", TEXT_ESCAPE_PLAIN);
                text_buffer_add_format(
                    out, "%s waited %s while the %s was saturated, up to %s from one message to the next\n",
                    name != NULL ? ")" : "", phrase_times(row->waits[side]).text, phrase_side(side),
                    phrase_duration(row->longest_wait_ns[side]).text);
            }
        }
    }
}

static struct phrase tick(const struct ue_saturation *of) {
    return of->tick_ns != 0 ? phrase_duration(of->tick_ns) : (struct phrase){"-"};
}

static void print_conditions(struct text_buffer *out, const struct ue_saturation *of[2]) {
    text_buffer_add(out,
                    "    counted from the captured packets: a side was saturated longer if packets are missing in the "
                    "capture, or if the server allows less\n");
    if (of[1]->is_from_start) {
        text_buffer_add_format(out,
                               "    the numbers of the server hold if its rate before Netspeed was at most %" PRId32
                               " bytes/s: it keeps up to two ticks of that\n",
                               of[1]->first_rate);
    }
    for (unsigned side = 0; side < 2; side++) {
        if (of[side]->spans != 0 && !of[side]->has_clocks) {
            text_buffer_add_format(out,
                                   "    the times of the %s are those of the capture: packets that waited in the "
                                   "network may add up\n",
                                   phrase_side(side));
        }
    }
}

static void print_saturation(struct text_buffer *out, const struct ue_bandwidth *bandwidth,
                             const struct ue_findings *findings) {
    const struct ue_bandwidth_totals *totals = ue_bandwidth_totals(bandwidth);
    const struct ue_saturation *of[] = {ue_findings_saturation(findings, 0), ue_findings_saturation(findings, 1)};
    if (of[0]->packets + of[1]->packets == 0) {
        return;
    }
    text_style_add_title(out, "  %-28s %24s  %24s", "saturation, at least", "client to server", "server to client");
    text_buffer_add_format(out, "    %-26s %24s  %24s\n", "latest rate, bytes/s", latest_rate(of[0]).text,
                           latest_rate(of[1]).text);
    text_buffer_add_format(out, "    %-26s %24s  %24s\n", "for ticks of at most", tick(of[0]).text, tick(of[1]).text);
    text_buffer_add_format(out, "    %-26s %24s  %24s\n", "in all, longest", total(of[0]).text, total(of[1]).text);
    text_buffer_add_format(out, "    %-26s %24s  %24s\n", "the longest began at", longest(totals, of[0]).text,
                           longest(totals, of[1]).text);
    text_buffer_add_format(out, "    %-26s %24s  %24s\n", "its rate, bytes/s", rate_of_longest(of[0]).text,
                           rate_of_longest(of[1]).text);
    text_buffer_add_format(out, "    %-26s %24s  %24s\n", "most bits above the rate", queued(of[0]).text,
                           queued(of[1]).text);
    print_waits(out, bandwidth);
    print_conditions(out, of);
}

void info_bandwidth_print_text(struct text_buffer *out, const struct ue_bandwidth *bandwidth,
                               const struct info_bandwidth_options *options, const struct ue_findings *findings) {
    bool has_times = ue_findings_course(findings)->implausible == 0;
    print_kinds(out, ue_bandwidth_totals(bandwidth));
    for (enum ue_bandwidth_by by = 0; by < UE_BANDWIDTH_BY_COUNT; by++) {
        if (ue_bandwidth_row_count(bandwidth, by) != 0) {
            print_rows(out, bandwidth, by, options, has_times);
        }
    }
    if (has_times) {
        print_saturation(out, bandwidth, findings);
    }
}

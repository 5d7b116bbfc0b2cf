/* SPDX-License-Identifier: MIT */
#include "tools/info/both_ends_report.h"

#include <inttypes.h>
#include <math.h>
#include <uerudp/time_ns.h>

#include "tools/info/finding_text.h"
#include "tools/info/statistics_text.h"
#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_style.h"

#define PPM 1e6

/* ---- table ---- */

static struct phrase packets_and_bytes(uint64_t packets, uint64_t bytes) {
    return phrase_format("%" PRIu64 ", %" PRIu64 " bytes", packets, bytes);
}

static struct phrase share(uint64_t count, uint64_t of) {
    return phrase_format("%" PRIu64 " (%.1f %%)", count, of != 0 ? 100.0 * (double)count / (double)of : 0.0);
}

static struct phrase dropped(const struct one_way_counts *counts) {
    return counts->dropped_late != 0
               ? phrase_format("%" PRIu64 ", %" PRIu64 " of them late", counts->dropped, counts->dropped_late)
               : share(counts->dropped, counts->arrived);
}

static struct phrase reordered(const struct one_way *way) {
    return way->counts.reordered != 0 ? phrase_format("%" PRIu64 ", by up to %.1f ms", way->counts.reordered,
                                                      phrase_milliseconds(way->reordered_by_ns))
                                      : info_text_number(way->counts.reordered);
}

static struct phrase delays(const struct one_way *way, unsigned first_percent, unsigned second_percent) {
    return way->delays_ns->len == 0
               ? (struct phrase){"-"}
               : phrase_format("%.1f ms, %.1f ms", (double)one_way_delay_ns(way, first_percent) / UE_NS_PER_MS,
                               (double)one_way_delay_ns(way, second_percent) / UE_NS_PER_MS);
}

static struct phrase jitter(const struct one_way *way) {
    return way->counts.arrived > 1 ? phrase_format("%.1f ms", way->jitter_ns / UE_NS_PER_MS) : (struct phrase){"-"};
}

static void print_table(struct text_buffer *out, const struct both_ends_connection *connection) {
    const struct one_way *ways = connection->ways;
    const struct one_way_counts *up = &ways[0].counts, *down = &ways[1].counts;
    info_print_row(out, "sent", packets_and_bytes(up->sent, up->sent_bytes),
                   packets_and_bytes(down->sent, down->sent_bytes));
    info_print_row(out, "arrived", packets_and_bytes(up->arrived, up->arrived_bytes),
                   packets_and_bytes(down->arrived, down->arrived_bytes));
    info_print_row(out, "lost on the way", share(up->lost, up->sent), share(down->lost, down->sent));
    if (up->changed + down->changed != 0) {
        info_print_row(out, "changed on the way", share(up->changed, up->sent), share(down->changed, down->sent));
    }
    if (up->not_captured + down->not_captured != 0) {
        info_print_row(out, "only acknowledged", share(up->not_captured, up->sent),
                       share(down->not_captured, down->sent));
    }
    if (up->dropped + down->dropped != 0) {
        info_print_row(out, "arrived, not accepted", dropped(up), dropped(down));
    }
    info_print_number_row(out, "arrived again", up->copies, down->copies);
    info_print_number_row(out, "not seen leaving", up->unsent, down->unsent);
    info_print_number_row(out, "cannot be compared", up->outside, down->outside);
    info_print_row(out, "out of order", reordered(&ways[0]), reordered(&ways[1]));
    if (connection->fit.result == CLOCK_FIT_KNOWN) {
        info_print_row(out, "delay p50, p99", delays(&ways[0], 50, 99), delays(&ways[1], 50, 99));
        info_print_row(out, "delay least, most", delays(&ways[0], 0, 100), delays(&ways[1], 0, 100));
    }
    info_print_row(out, "jitter", jitter(&ways[0]), jitter(&ways[1]));
}

/* ---- sentences ---- */

static void print_names(struct text_buffer *out, const struct info_connection *info) {
    const struct both_ends_connection *connection = info->both_ends;
    const char *client = info->ends->captures[connection->client_end]->name;
    const char *server = info->ends->captures[!connection->client_end]->name;
    bool is_one_place = connection->order == CLOCK_ORDER_SAME;
    text_buffer_add(out, "    ");
    text_escape_add_utf8(out, client, TEXT_ESCAPE_PLAIN);
    text_buffer_add(out, is_one_place ? " and " : " is the client's end, ");
    text_escape_add_utf8(out, server, TEXT_ESCAPE_PLAIN);
    text_buffer_add(out, is_one_place ? " are in one place: no packet needs time between them" : " the server's");
    text_buffer_add(out, is_one_place                               ? ""
                         : connection->order == CLOCK_ORDER_UNKNOWN ? ", as --vantage says"
                         : connection->is_contradicted
                             ? ": the times contradict --vantage, by which packets would arrive "
                               "before they are sent"
                             : "");
    text_buffer_add_char(out, '\n');
}

static void print_drift(struct text_buffer *out, const struct clock_fit *fit) {
    if (fit->has_drift) {
        text_buffer_add_format(out, ", and %s about %.1f ppm%s\n", fit->drift < 0 ? "loses" : "gains",
                               fabs(fit->drift) * PPM,
                               fit->is_drift_measured ? " by the fastest packets of both directions"
                                                      : ": with none, some packets would arrive before they are sent");
    } else {
        text_buffer_add(out, fit->is_drift_measured ? ", and no drift is seen beside how the delays vary\n"
                                                    : "; these are too few packets to show a drift\n");
    }
    text_buffer_add_format(out,
                           "    if both clocks run evenly, one at most %.0f ppm faster, this offset is right within "
                           "%.3f ms",
                           CLOCK_FIT_DRIFT_MAX * PPM, phrase_milliseconds(fit->bound_ns));
    if (clock_fit_bounds_drift(fit)) {
        text_buffer_add_format(out, " and the drift is between %.1f and %.1f ppm", fit->least_drift * PPM,
                               fit->most_drift * PPM);
    }
    text_buffer_add(out, ":\n    with any other, some packets would arrive before they are sent\n");
}

static void print_offset(struct text_buffer *out, const struct info_connection *info) {
    const struct clock_fit *fit = &info->both_ends->fit;
    text_buffer_add(out, "    the clock of ");
    text_escape_add_utf8(out, info->ends->captures[1]->name, TEXT_ESCAPE_PLAIN);
    text_buffer_add_format(out, " is at the beginning %.3f ms %s that of ", fabs((double)fit->offset_ns) / UE_NS_PER_MS,
                           fit->offset_ns < 0 ? "behind" : "ahead of");
    text_escape_add_utf8(out, info->ends->captures[0]->name, TEXT_ESCAPE_PLAIN);
}

static void print_clock(struct text_buffer *out, const struct info_connection *info) {
    const struct clock_fit *fit = &info->both_ends->fit;
    if (fit->result == CLOCK_FIT_ONE_WAY) {
        text_buffer_add(out,
                        "    delays are not known: the captures have common packets of one side only, and delay and "
                        "clock offset cannot be told apart\n");
    } else if (fit->result == CLOCK_FIT_NOT_LINEAR) {
        text_buffer_add_format(out,
                               "    delays are not known: with any offset, and any drift up to %.0f ppm, some packets "
                               "would arrive before they are sent: a clock was set, or drifts unevenly or by more\n",
                               CLOCK_FIT_DRIFT_MAX * PPM);
    } else {
        print_offset(out, info);
        print_drift(out, fit);
        text_buffer_add(
            out,
            "    offset and delays are right if the drift is and the fastest packets of both directions always needed "
            "equally long; else half of the difference is in the offset:\n    one direction's delays are too long by "
            "it, the other's too short. Their sum at any one time is right in any case\n");
    }
}

/* ---- losses ---- */

static gint by_length(gconstpointer a, gconstpointer b) {
    const struct one_way_loss *one = *(const struct one_way_loss *const *)a,
                              *two = *(const struct one_way_loss *const *)b;
    if (one->count != two->count) {
        return one->count > two->count ? -1 : 1;
    }
    return (one->first_frame > two->first_frame) - (one->first_frame < two->first_frame);
}

static GPtrArray *longest_losses(const struct one_way *way) {
    GPtrArray *sorted = g_ptr_array_new();
    for (guint i = 0; i < way->losses->len; i++) {
        g_ptr_array_add(sorted, &g_array_index(way->losses, struct one_way_loss, i));
    }
    g_ptr_array_sort(sorted, by_length);
    return sorted;
}

static void print_ids(struct text_buffer *out, const struct one_way_loss *loss) {
    if (loss->first_id < 0 || loss->last_id < 0) {
        text_buffer_add_format(out, "%s of the handshake or without an id", phrase_count(loss->count, "packet").text);
    } else if (loss->count == 1) {
        text_buffer_add_format(out, "packet %" PRId64, loss->first_id);
    } else {
        text_buffer_add_format(out, "%u packets in a row, %" PRId64 " to %" PRId64, loss->count, loss->first_id,
                               loss->last_id);
    }
}

static void print_loss(struct text_buffer *out, const struct info_connection *info, unsigned role,
                       const struct one_way_loss *loss) {
    unsigned sender = role == 0 ? info->both_ends->client_end : !info->both_ends->client_end;
    text_buffer_add_format(out, "    lost %s to %s: ", phrase_side(role), phrase_side(!role));
    print_ids(out, loss);
    text_buffer_add_format(out, " (frame%s %" PRIu64, loss->count > 1 ? "s" : "", loss->first_frame);
    if (loss->count > 1) {
        text_buffer_add_format(out, " to %" PRIu64, loss->last_frame);
    }
    text_buffer_add(out, " of ");
    text_escape_add_utf8(out, info->ends->captures[sender]->name, TEXT_ESCAPE_PLAIN);
    text_buffer_add_char(out, ')');
    if (loss->is_own_clock) {
        text_buffer_add(out, " [");
        info_print_time(out, loss->time_ns, "%H:%M:%S", 1);
        text_buffer_add(out, " by its own clock]");
    } else if (info->course->implausible == 0) {
        info_print_moment(out, info, loss->time_ns);
    }
    text_buffer_add_char(out, '\n');
}

static void print_losses(struct text_buffer *out, const struct info_connection *info, unsigned role) {
    g_autoptr(GPtrArray) sorted = longest_losses(&info->both_ends->ways[role]);
    guint shown = MIN(sorted->len, info->findings.per_kind_max);
    for (guint i = 0; i < shown; i++) {
        print_loss(out, info, role, g_ptr_array_index(sorted, i));
    }
    if (sorted->len > shown) {
        text_buffer_add_format(out, "      and %u more %s to %s\n", sorted->len - shown, phrase_side(role),
                               phrase_side(!role));
    }
}

/* ---- the section ---- */

void info_print_both_ends(struct text_buffer *out, const struct info_connection *info) {
    if (info->both_ends == NULL) {
        return;
    }
    text_style_add_title(out, "  %-24s %24s  %24s", "both ends", "client to server", "server to client");
    if (!info->both_ends->has_ends) {
        text_buffer_add(out, "    the times do not show which capture is the client's end: --vantage says it\n");
        return;
    }
    print_table(out, info->both_ends);
    print_names(out, info);
    print_clock(out, info);
    print_losses(out, info, 0);
    print_losses(out, info, 1);
}

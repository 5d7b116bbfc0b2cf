/* SPDX-License-Identifier: MIT */
#include "tools/info/reliable_gaps.h"

#include <inttypes.h>

#include "tools/info/reliable_stalls.h"
#include "tools/print/phrase.h"

/* Limit for one connection; above it the oldest gap is dropped. */
#define GAPS_MAX 64

#define HOLE(gaps, i) (&g_array_index((gaps)->array, struct info_gap, i))

static void report_gap(const struct info_gaps *gaps, const struct info_gap *gap, const struct ue_tracker_event *event) {
    int64_t late_ns = event->time_ns - gap->time_ns;
    if (!info_stall_is_long(late_ns, gaps->rtt)) {
        return;
    }
    struct info_finding finding = {
        .id = UE_FINDING_STALL_SEEN, .weight = (double)late_ns, .frame_count = 2, .frames = {gap->frame, event->frame}};
    info_findings_add(gaps->findings, &finding,
                      "reliable stall of %s on channel %" PRIu32 ", %s (%s): came in frame %" PRIu64
                      ", while later bunches of the channel waited since frame %" PRIu64,
                      phrase_duration(late_ns).text, gap->channel,
                      phrase_ch_sequence(gap->first_seq, gap->last_seq).text, phrase_direction(gap->side), event->frame,
                      gap->frame);
}

static void report_open(const struct info_gaps *gaps, const struct info_gap *gap) {
    struct info_finding finding = {.id = UE_FINDING_GAP, .weight = gap->open, .frame_count = 1, .frames = {gap->frame}};
    info_findings_add(gaps->findings, &finding,
                      "%s of channel %" PRIu32 " before ChSequence %" PRIu32 " in frame %" PRIu64
                      " (%s) missing in the capture",
                      phrase_count(gap->open, "reliable bunch").text, gap->channel, gap->next_seq, gap->frame,
                      phrase_direction(gap->side));
}

static void fill_gap(struct info_gaps *gaps, const struct ue_tracker_event *event) {
    for (guint i = 0; gaps->array != NULL && i < gaps->array->len; i++) {
        struct info_gap *gap = HOLE(gaps, i);
        if (gap->side == event->side && gap->channel == event->bunch->channel && event->reliable_id >= gap->from_id &&
            event->reliable_id <= gap->to_id) {
            gap->open--;
            if (gap->open == 0) {
                report_gap(gaps, gap, event);
                g_array_remove_index(gaps->array, i);
            }
            return;
        }
    }
}

static void open_gap(struct info_gaps *gaps, const struct ue_tracker_event *event, int64_t before) {
    if (gaps->array == NULL) {
        gaps->array = g_array_new(FALSE, FALSE, sizeof(struct info_gap));
    }
    if (gaps->array->len == GAPS_MAX) {
        report_open(gaps, HOLE(gaps, 0));
        g_array_remove_index(gaps->array, 0);
    }
    uint32_t missing = (uint32_t)(event->reliable_id - before - 1);
    uint32_t seq = event->bunch->ch_seq;
    uint32_t bound = gaps->ch_seq_bound;
    struct info_gap gap = {.side = event->side,
                           .channel = event->bunch->channel,
                           .from_id = before + 1,
                           .to_id = event->reliable_id - 1,
                           .first_seq = (seq + bound - missing % bound) % bound,
                           .last_seq = (seq + bound - 1) % bound,
                           .frame = event->frame,
                           .time_ns = event->time_ns,
                           .next_seq = seq,
                           .open = missing};
    g_array_append_val(gaps->array, gap);
}

void info_gaps_on_event(struct info_gaps *gaps, const struct ue_tracker_event *event, int64_t before) {
    if (event->reliable_id < 0 || event->copy != 1 || before < 0 || event->is_jump) {
        return;
    }
    if (event->reliable_id > before + 1) {
        open_gap(gaps, event, before);
    } else if (event->reliable_id <= before) {
        fill_gap(gaps, event);
    }
}

void info_gaps_finish(struct info_gaps *gaps) {
    for (guint i = 0; gaps->array != NULL && i < gaps->array->len; i++) {
        report_open(gaps, HOLE(gaps, i));
    }
    g_clear_pointer(&gaps->array, g_array_unref);
}

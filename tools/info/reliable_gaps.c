/* SPDX-License-Identifier: MIT */
#include "tools/info/reliable_gaps.h"

#include <inttypes.h>

#include "tools/info/reliable_stalls.h"
#include "tools/print/phrase.h"

/* Of a connection at a time; then the oldest is given up. */
#define HOLES_MAX 64

#define HOLE(holes, i) (&g_array_index((holes)->array, struct info_gap, i))

static void report_hole(const struct info_gaps *holes, const struct info_gap *hole, const struct ue_tracker_event *event) {
    int64_t late_ns = event->time_ns - hole->time_ns;
    if (!info_stall_is_long(late_ns, holes->rtt)) {
        return;
    }
    struct info_finding finding = {.kind = INFO_FINDING_STALL,
                                 .severity = INFO_SEVERITY_WARNING,
                                 .weight = (double)late_ns,
                                 .frame_count = 2,
                                 .frames = {hole->frame, event->frame}};
    info_findings_add(holes->findings, &finding,
                    "reliable stall of %s on channel %" PRIu32 ", %s (%s): came in frame %" PRIu64
                    ", while later bunches of the channel waited since frame %" PRIu64,
                    phrase_duration(late_ns).text, hole->channel, phrase_ch_sequence(hole->first_seq, hole->last_seq).text,
                    phrase_direction(hole->side), event->frame, hole->frame);
}

static void report_open(const struct info_gaps *holes, const struct info_gap *hole) {
    struct info_finding finding = {.kind = INFO_FINDING_GAP,
                                 .severity = INFO_SEVERITY_NOTE,
                                 .weight = hole->open,
                                 .frame_count = 1,
                                 .frames = {hole->frame}};
    info_findings_add(holes->findings, &finding,
                    "%s of channel %" PRIu32 " before ChSequence %" PRIu32 " in frame %" PRIu64
                    " (%s) missing in the capture",
                    phrase_count(hole->open, "reliable bunch").text, hole->channel, hole->next_seq, hole->frame,
                    phrase_direction(hole->side));
}

static void fill_hole(struct info_gaps *holes, const struct ue_tracker_event *event) {
    for (guint i = 0; holes->array != NULL && i < holes->array->len; i++) {
        struct info_gap *hole = HOLE(holes, i);
        if (hole->side == event->side && hole->channel == event->bunch->channel &&
            event->reliable_id >= hole->from_id && event->reliable_id <= hole->to_id) {
            hole->open--;
            if (hole->open == 0) {
                report_hole(holes, hole, event);
                g_array_remove_index(holes->array, i);
            }
            return;
        }
    }
}

static void open_hole(struct info_gaps *holes, const struct ue_tracker_event *event, int64_t before) {
    if (holes->array == NULL) {
        holes->array = g_array_new(FALSE, FALSE, sizeof(struct info_gap));
    }
    if (holes->array->len == HOLES_MAX) {
        report_open(holes, HOLE(holes, 0));
        g_array_remove_index(holes->array, 0);
    }
    uint32_t missing = (uint32_t)(event->reliable_id - before - 1);
    uint32_t seq = event->bunch->ch_seq;
    uint32_t bound = holes->ch_seq_bound;
    struct info_gap hole = {.side = event->side,
                           .channel = event->bunch->channel,
                           .from_id = before + 1,
                           .to_id = event->reliable_id - 1,
                           .first_seq = (seq + bound - missing % bound) % bound,
                           .last_seq = (seq + bound - 1) % bound,
                           .frame = event->frame,
                           .time_ns = event->time_ns,
                           .next_seq = seq,
                           .open = missing};
    g_array_append_val(holes->array, hole);
}

void info_gaps_on_event(struct info_gaps *holes, const struct ue_tracker_event *event, int64_t before) {
    if (event->reliable_id < 0 || event->copy != 1 || before < 0 || event->is_jump) {
        return;
    }
    if (event->reliable_id > before + 1) {
        open_hole(holes, event, before);
    } else if (event->reliable_id <= before) {
        fill_hole(holes, event);
    }
}

void info_gaps_finish(struct info_gaps *holes) {
    for (guint i = 0; holes->array != NULL && i < holes->array->len; i++) {
        report_open(holes, HOLE(holes, i));
    }
    g_clear_pointer(&holes->array, g_array_unref);
}

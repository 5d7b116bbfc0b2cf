/* SPDX-License-Identifier: MIT */
#include "tools/info/reliable_gaps.h"

#include "tools/info/reliable_stalls.h"

/* Limit for one connection; above it the oldest gap is dropped. */
#define GAPS_MAX 64

#define HOLE(gaps, i) (&g_array_index((gaps)->array, struct info_gap, i))

static void report_gap(const struct info_gaps *gaps, const struct info_gap *gap, const struct ue_tracker_event *event) {
    int64_t late_ns = event->time_ns - gap->time_ns;
    if (!info_stall_is_long(late_ns, gaps->rtt)) {
        return;
    }
    struct ue_finding finding = ue_finding_of_span(UE_FINDING_STALL_SEEN, gap->side, late_ns, gap->frame, event->frame);
    ue_finding_set(&finding, UE_VALUE_CHANNEL, gap->channel);
    ue_finding_set(&finding, UE_VALUE_FIRST, gap->first_seq);
    ue_finding_set(&finding, UE_VALUE_LAST, gap->last_seq);
    info_findings_add(gaps->findings, &finding);
}

static void report_open(const struct info_gaps *gaps, const struct info_gap *gap) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_GAP, gap->side, gap->open, gap->frame);
    ue_finding_set(&finding, UE_VALUE_CHANNEL, gap->channel);
    ue_finding_set(&finding, UE_VALUE_LAST, gap->next_seq);
    info_findings_add(gaps->findings, &finding);
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

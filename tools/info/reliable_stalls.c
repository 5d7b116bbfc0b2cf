/* SPDX-License-Identifier: MIT */
#include "tools/info/reliable_stalls.h"

#include <string.h>

/* Limit for one connection; above it the oldest are dropped. */
#define IN_FLIGHT_MAX 4096
#define OVERDUE_MAX 256
/* Acknowledged entries are removed in groups of this size. */
#define REPORTED_MIN 32

bool info_stall_is_long(int64_t late_ns, const struct info_histogram *rtt) {
    return late_ns >= ue_finding_threshold_ns(UE_FINDING_STALL) && late_ns / 2 >= info_histogram_percentile(rtt, 50);
}

/* ---- bunches in flight ---- */

static GArray *array_of(GArray **array, size_t element_bytes) {
    if (*array == NULL) {
        *array = g_array_new(FALSE, FALSE, (guint)element_bytes);
    }
    return *array;
}

#define IN_FLIGHT(stalls, side, i) (&g_array_index((stalls)->in_flight[side], struct info_unacked_bunch, i))
#define OVERDUE(stalls, side, i) (&g_array_index((stalls)->overdue[side], struct info_overdue_bunch, i))

static void remove_reported(struct info_stalls *stalls, unsigned side) {
    GArray *in_flight = stalls->in_flight[side];
    guint *first = &stalls->first[side];
    if (in_flight->len - *first >= IN_FLIGHT_MAX) {
        *first += 1;
    }
    if (*first > REPORTED_MIN && *first > in_flight->len / 2) {
        g_array_remove_range(in_flight, 0, *first);
        *first = 0;
    }
}

static void on_sent(struct info_stalls *stalls, const struct ue_tracker_event *event) {
    struct info_unacked_bunch in_flight = {.packet_id = event->packet_id,
                                           .reliable_id = event->reliable_id,
                                           .time_ns = event->time_ns,
                                           .frame = event->frame,
                                           .channel = event->bunch->channel,
                                           .ch_seq = event->bunch->ch_seq};
    GArray *array = array_of(&stalls->in_flight[event->side], sizeof in_flight);
    guint place = array->len;
    while (place > stalls->first[event->side] &&
           IN_FLIGHT(stalls, event->side, place - 1)->packet_id > event->packet_id) {
        place--;
    }
    g_array_insert_val(array, place, in_flight);
    remove_reported(stalls, event->side);
}

/* ---- findings ---- */

static struct ue_finding finding_of(const struct info_overdue_bunch *overdue, enum ue_finding_id id, unsigned side,
                                    int64_t span_ns) {
    struct ue_finding finding = ue_finding_of_span(id, side, span_ns, 0, 0);
    finding.frame_count = MIN(overdue->losses, INFO_STALL_LOSSES_LISTED);
    memcpy(finding.frames, overdue->frames, sizeof overdue->frames);
    ue_finding_set(&finding, UE_VALUE_CHANNEL, overdue->channel);
    ue_finding_set(&finding, UE_VALUE_FIRST, overdue->first_seq);
    ue_finding_set(&finding, UE_VALUE_LAST, overdue->last_seq);
    ue_finding_set(&finding, UE_VALUE_COUNT, overdue->losses);
    return finding;
}

static void report_undelivered(const struct info_stalls *stalls, const struct info_overdue_bunch *overdue,
                               unsigned side, int64_t now_ns) {
    if (now_ns - overdue->last_ns < ue_finding_threshold_ns(UE_FINDING_UNDELIVERED)) {
        return; /* the next transmission may be in flight */
    }
    struct ue_finding finding = finding_of(overdue, UE_FINDING_UNDELIVERED, side, now_ns - overdue->first_ns);
    finding.values[UE_VALUE_SPAN].at_most = INT64_MAX;
    info_findings_add(stalls->findings, &finding);
}

/* ---- transmissions that were not delivered ---- */

static struct info_overdue_bunch *find_overdue(struct info_stalls *stalls, unsigned side,
                                               const struct info_unacked_bunch *in_flight) {
    GArray *overdue = stalls->overdue[side];
    for (guint i = 0; overdue != NULL && i < overdue->len; i++) {
        struct info_overdue_bunch *at = OVERDUE(stalls, side, i);
        if (at->reliable_id == in_flight->reliable_id && at->channel == in_flight->channel) {
            return at;
        }
    }
    return NULL;
}

static void lose(struct info_stalls *stalls, unsigned side, const struct info_unacked_bunch *in_flight,
                 int64_t now_ns) {
    struct info_overdue_bunch *overdue = find_overdue(stalls, side, in_flight);
    if (overdue == NULL) {
        GArray *array = array_of(&stalls->overdue[side], sizeof *overdue);
        if (array->len == OVERDUE_MAX) {
            report_undelivered(stalls, OVERDUE(stalls, side, 0), side, now_ns);
            g_array_remove_index(array, 0);
        }
        struct info_overdue_bunch begun = {.reliable_id = in_flight->reliable_id,
                                           .first_id = in_flight->reliable_id,
                                           .first_ns = in_flight->time_ns,
                                           .first_frame = in_flight->frame,
                                           .channel = in_flight->channel,
                                           .first_seq = in_flight->ch_seq,
                                           .last_seq = in_flight->ch_seq};
        g_array_append_val(array, begun);
        overdue = OVERDUE(stalls, side, array->len - 1);
    }
    if (overdue->losses < INFO_STALL_LOSSES_LISTED) {
        overdue->frames[overdue->losses] = in_flight->frame;
    }
    overdue->losses++;
    overdue->last_ns = now_ns;
}

/* ---- the transmission that arrived ---- */

static void end_group(struct info_stalls *stalls) {
    const struct info_overdue_bunch *group = &stalls->group;
    int64_t late_ns = stalls->arrived_ns - group->first_ns;
    bool is_stall = stalls->has_group && info_stall_is_long(late_ns, stalls->rtt);
    bool is_reported = is_stall || (stalls->has_group && group->losses >= UE_THRESHOLD_REPEATED);
    stalls->has_group = false;
    if (!is_reported) {
        return;
    }
    struct ue_finding finding =
        finding_of(group, is_stall ? UE_FINDING_STALL : UE_FINDING_REPEATED, stalls->group_side, late_ns);
    finding.frames[finding.frame_count++] = stalls->arrived_frame;
    ue_finding_set(&finding, UE_VALUE_OTHERS, group->others);
    info_findings_add(stalls->findings, &finding);
}

/* Of the late bunches in one packet, the one that waited longest makes the finding. */
static void join_group(struct info_stalls *stalls, const struct info_overdue_bunch *overdue) {
    struct info_overdue_bunch *group = &stalls->group;
    bool is_next = overdue->channel == group->channel && overdue->first_frame == group->first_frame &&
                   overdue->reliable_id == group->reliable_id + 1;
    if (is_next) {
        group->reliable_id = overdue->reliable_id;
        group->last_seq = overdue->last_seq;
    } else if (overdue->first_ns < group->first_ns) {
        unsigned others = group->others + 1 + (unsigned)(group->reliable_id - group->first_id);
        *group = *overdue;
        group->others = others;
    } else {
        group->others++;
    }
}

static void arrive(struct info_stalls *stalls, unsigned side, const struct info_unacked_bunch *in_flight) {
    struct info_overdue_bunch *overdue = find_overdue(stalls, side, in_flight);
    if (overdue == NULL) {
        return;
    }
    if (stalls->has_group && stalls->group_side == side && stalls->arrived_frame == in_flight->frame) {
        join_group(stalls, overdue);
    } else {
        end_group(stalls);
        stalls->has_group = true;
        stalls->group_side = side;
        stalls->group = *overdue;
        stalls->arrived_frame = in_flight->frame;
        stalls->arrived_ns = in_flight->time_ns;
    }
    g_array_remove_index(stalls->overdue[side], (guint)(overdue - OVERDUE(stalls, side, 0)));
}

void info_stalls_on_ack(struct info_stalls *stalls, const struct ue_tracker_event *event) {
    unsigned side = !event->side;
    GArray *in_flight = stalls->in_flight[side];
    guint *first = &stalls->first[side];
    while (in_flight != NULL && *first < in_flight->len &&
           IN_FLIGHT(stalls, side, *first)->packet_id <= event->packet_id) {
        const struct info_unacked_bunch reported = *IN_FLIGHT(stalls, side, *first);
        ++*first;
        if (reported.packet_id < event->packet_id) {
            continue; /* that packet was never reported */
        }
        if (event->type == UE_TRACKER_ACK) {
            arrive(stalls, side, &reported);
        } else {
            lose(stalls, side, &reported, event->time_ns);
        }
    }
}

void info_stalls_on_bunch(struct info_stalls *stalls, const struct ue_tracker_event *event) {
    if (event->reliable_id >= 0) {
        on_sent(stalls, event);
    }
}

/* ---- the end ---- */

static void clear(struct info_stalls *stalls) {
    for (unsigned side = 0; side < 2; side++) {
        g_clear_pointer(&stalls->in_flight[side], g_array_unref);
        g_clear_pointer(&stalls->overdue[side], g_array_unref);
    }
}

void info_stalls_finish(struct info_stalls *stalls, int64_t end_ns) {
    end_group(stalls);
    for (unsigned side = 0; side < 2; side++) {
        for (guint i = 0; stalls->overdue[side] != NULL && i < stalls->overdue[side]->len; i++) {
            report_undelivered(stalls, OVERDUE(stalls, side, i), side, end_ns);
        }
    }
    clear(stalls);
}

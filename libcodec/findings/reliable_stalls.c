/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"

/* Limit for one stream; above it the oldest are dropped. */
#define IN_FLIGHT_MAX 4096
#define OVERDUE_MAX 256
/* Up to 4.21 the report of a packet may come after that of later packets: of packets before the last of these none is
   expected. */
#define LATE_REPORT_PACKETS 64

enum bunch_report { BUNCH_UNREPORTED, BUNCH_ARRIVED, BUNCH_NOT_DELIVERED };

/* A reliable bunch in a packet that is not acknowledged yet, or after one of which it is not known. */
struct ue_unacked_bunch {
    int64_t packet_id;
    int64_t reliable_id;
    int64_t time_ns;
    uint64_t frame;
    uint32_t channel;
    uint32_t ch_seq;
    enum bunch_report report;
    bool is_delivered; /* another copy was acknowledged: the report of this one tells nothing */
    bool is_copy;
};

void ue_reliable_stalls_init(struct ue_reliable_stalls *stalls) {
    stalls->unread_ns[0] = stalls->unread_ns[1] = INT64_MIN;
}

bool ue_reliable_stall_is_long(const struct ue_findings *findings, struct ue_finding_value late_ns) {
    return late_ns.at_least >= ue_finding_threshold_ns(UE_FINDING_STALL) &&
           late_ns.at_least / 2 >= ue_histogram_percentile(&findings->timing.rtt, 50);
}

/* ---- bunches in flight ---- */

static const struct ue_unacked_bunch *in_flight_at(const struct ue_reliable_stalls *stalls, unsigned side,
                                                   size_t place) {
    return ue_array_at(&stalls->in_flight[side], place);
}

static struct ue_overdue_bunch *overdue_at(const struct ue_reliable_stalls *stalls, unsigned side, size_t place) {
    return ue_array_at(&stalls->overdue[side], place);
}

static struct ue_reliable_arrival arrival_of(const struct ue_unacked_bunch *in_flight, unsigned side, bool is_unsure) {
    return (struct ue_reliable_arrival){.side = side,
                                        .channel = in_flight->channel,
                                        .ch_seq = in_flight->ch_seq,
                                        .reliable_id = in_flight->reliable_id,
                                        .time_ns = in_flight->time_ns,
                                        .frame = in_flight->frame,
                                        .is_unsure = is_unsure};
}

static struct ue_overdue_bunch *find_overdue(struct ue_reliable_stalls *stalls, unsigned side,
                                             const struct ue_unacked_bunch *in_flight, size_t *place) {
    for (*place = 0; *place < stalls->overdue[side].count; ++*place) {
        struct ue_overdue_bunch *at = overdue_at(stalls, side, *place);
        if (at->reliable_id == in_flight->reliable_id && at->channel == in_flight->channel) {
            return at;
        }
    }
    return NULL;
}

/* A transmission of which no report is known may have ended the delay. */
static void mark_maybe_over(struct ue_reliable_stalls *stalls, unsigned side, const struct ue_unacked_bunch *bunch) {
    size_t place;
    struct ue_overdue_bunch *overdue = find_overdue(stalls, side, bunch, &place);
    if (overdue != NULL) {
        overdue->is_maybe_over = true;
    }
}

/* Passes on which bunches arrived, in the order of sending: up to the first one whose report may still come, unless its
   packet is one up to last_id. */
static void pass_arrivals(struct ue_findings *findings, unsigned side, int64_t last_id) {
    struct ue_reliable_stalls *stalls = &findings->stalls;
    for (size_t *next = &stalls->passed[side]; *next < stalls->first[side]; ++*next) {
        const struct ue_unacked_bunch *bunch = in_flight_at(stalls, side, *next);
        const struct ue_reliable_arrival arrival = arrival_of(bunch, side, bunch->report == BUNCH_UNREPORTED);
        if (arrival.is_unsure && bunch->packet_id > last_id) {
            break;
        }
        if (arrival.is_unsure) {
            mark_maybe_over(stalls, side, bunch);
            ue_head_of_line_on_unreported(findings, &arrival);
        } else if (bunch->report == BUNCH_ARRIVED) {
            ue_head_of_line_on_arrival(findings, &arrival);
        }
    }
}

/* Makes room for an entry before the array grows. */
static void remove_passed(struct ue_findings *findings, unsigned side) {
    struct ue_reliable_stalls *stalls = &findings->stalls;
    struct ue_array *in_flight = &stalls->in_flight[side];
    size_t *first = &stalls->first[side], *passed = &stalls->passed[side];
    if (in_flight->count - *first >= IN_FLIGHT_MAX) {
        *first += 1;
        pass_arrivals(findings, side, INT64_MAX);
    }
    if (in_flight->count == in_flight->capacity && *passed > in_flight->count / 2) {
        ue_array_remove(&findings->memory, in_flight, 0, *passed);
        *first -= *passed;
        *passed = 0;
    }
}

/* ---- findings ---- */

static struct ue_finding finding_of(const struct ue_overdue_bunch *overdue, enum ue_finding_id id, unsigned side,
                                    struct ue_finding_value span_ns) {
    struct ue_finding finding = ue_finding_of_bounded_span(id, side, span_ns, 0, 0);
    ue_finding_set_time(&finding, overdue->first_ns);
    finding.frame_count = overdue->losses < UE_STALL_FRAMES_LISTED ? overdue->losses : UE_STALL_FRAMES_LISTED;
    memcpy(finding.frames, overdue->frames, sizeof overdue->frames);
    ue_finding_set(&finding, UE_VALUE_CHANNEL, overdue->channel);
    ue_finding_set(&finding, UE_VALUE_FIRST_SEQ, overdue->first_seq);
    ue_finding_set(&finding, UE_VALUE_LAST_SEQ, overdue->last_seq);
    ue_finding_set(&finding, UE_VALUE_COUNT, overdue->losses);
    ue_finding_set(&finding, UE_VALUE_MAYBE_REFUSED, overdue->maybe_refused);
    return finding;
}

/* How late a bunch is if a transmission of this time arrived; less, if it was in a packet that was refused. */
static struct ue_finding_value lateness(const struct ue_findings *findings, const struct ue_overdue_bunch *overdue,
                                        int64_t arrived_ns) {
    struct ue_finding_value late_ns = ue_findings_span(findings, overdue->first_ns, arrived_ns);
    if (overdue->maybe_ns < arrived_ns) {
        late_ns.at_least = ue_findings_span(findings, overdue->first_ns, overdue->maybe_ns).at_least;
    }
    return late_ns;
}

static void report_undelivered(const struct ue_findings *findings, const struct ue_overdue_bunch *overdue,
                               unsigned side, int64_t now_ns, enum ue_finding_id id) {
    if (findings->stalls.unread_ns[side] >= overdue->last_ns ||
        findings->stalls.unseen_ids[side] > overdue->packet_id) {
        return; /* one of these may have been the next transmission */
    }
    struct ue_finding finding = finding_of(overdue, id, side, ue_findings_span(findings, overdue->first_ns, now_ns));
    finding.values[UE_VALUE_SPAN].at_most = INT64_MAX;
    ue_findings_report(findings, &finding);
}

/* Else the next transmission may be in flight. */
static bool is_undelivered(const struct ue_findings *findings, const struct ue_overdue_bunch *overdue, int64_t now_ns) {
    return !overdue->is_maybe_over && ue_findings_span(findings, overdue->last_ns, now_ns).at_least >=
                                          ue_finding_threshold_ns(UE_FINDING_UNDELIVERED);
}

/* Of a bunch whose next transmission may be in flight: whether it is a stall by the latest report already. */
static bool is_stall_yet(const struct ue_findings *findings, const struct ue_overdue_bunch *overdue) {
    return !overdue->is_maybe_over && !overdue->lacks_first &&
           ue_reliable_stall_is_long(findings, lateness(findings, overdue, overdue->last_ns));
}

/* ---- transmissions that were not delivered ---- */

static struct ue_overdue_bunch *add_overdue(struct ue_findings *findings, unsigned side,
                                            const struct ue_unacked_bunch *in_flight, int64_t now_ns) {
    struct ue_reliable_stalls *stalls = &findings->stalls;
    struct ue_array *array = &stalls->overdue[side];
    const struct ue_overdue_bunch begun = {.packet_id = in_flight->packet_id,
                                           .reliable_id = in_flight->reliable_id,
                                           .first_id = in_flight->reliable_id,
                                           .first_ns = in_flight->time_ns,
                                           .maybe_ns = INT64_MAX,
                                           .first_frame = in_flight->frame,
                                           .channel = in_flight->channel,
                                           .first_seq = in_flight->ch_seq,
                                           .last_seq = in_flight->ch_seq,
                                           .lacks_first = in_flight->is_copy};
    if (array->count == OVERDUE_MAX) {
        const struct ue_overdue_bunch *oldest = overdue_at(stalls, side, 0);
        if (is_undelivered(findings, oldest, now_ns)) {
            report_undelivered(findings, oldest, side, now_ns, UE_FINDING_UNDELIVERED);
        }
        ue_array_remove(&findings->memory, array, 0, 1);
    }
    bool is_added = ue_array_insert(&findings->memory, array, array->count, &begun);
    return is_added ? overdue_at(stalls, side, array->count - 1) : NULL;
}

/* Adds a frame to the first ones, which are listed in their order: up to 4.21 the report of a packet may come after
   that of a later one. */
static void add_frame(struct ue_overdue_bunch *overdue, uint64_t frame) {
    unsigned place = overdue->losses < UE_STALL_FRAMES_LISTED ? overdue->losses : UE_STALL_FRAMES_LISTED;
    for (; place > 0 && overdue->frames[place - 1] > frame; place--) {
        if (place < UE_STALL_FRAMES_LISTED) {
            overdue->frames[place] = overdue->frames[place - 1];
        }
    }
    if (place < UE_STALL_FRAMES_LISTED) {
        overdue->frames[place] = frame;
    }
}

static void lose(struct ue_findings *findings, unsigned side, const struct ue_unacked_bunch *in_flight,
                 bool may_be_refused, int64_t now_ns) {
    size_t place;
    struct ue_overdue_bunch *overdue = find_overdue(&findings->stalls, side, in_flight, &place);
    if (overdue == NULL) {
        overdue = add_overdue(findings, side, in_flight, now_ns);
    }
    if (overdue == NULL) {
        return;
    }
    add_frame(overdue, in_flight->frame);
    if (in_flight->packet_id < overdue->packet_id) {
        overdue->packet_id = in_flight->packet_id;
        overdue->first_ns = in_flight->time_ns;
        overdue->first_frame = in_flight->frame;
    }
    overdue->lacks_first &= in_flight->is_copy;
    if (may_be_refused) {
        overdue->maybe_refused++;
        overdue->maybe_ns = in_flight->time_ns < overdue->maybe_ns ? in_flight->time_ns : overdue->maybe_ns;
    }
    overdue->losses++;
    overdue->last_ns = now_ns;
}

void ue_reliable_stalls_on_event(struct ue_reliable_stalls *stalls, const struct ue_observed_event *event) {
    if (event->type == UE_OBSERVED_PACKET) {
        stalls->is_refused[event->side] = event->packet.is_refused;
    } else if (event->type == UE_OBSERVED_LOST) {
        stalls->missing_before[event->side] = stalls->missing_ids[event->side];
        stalls->missing_ids[event->side] = event->lost.last_id;
    } else if (event->type == UE_OBSERVED_NOT_LOST) {
        stalls->missing_ids[event->side] = stalls->missing_before[event->side];
    } else if (event->type == UE_OBSERVED_OPAQUE) {
        stalls->unread_ns[event->side] = event->time_ns;
    }
}

void ue_reliable_stalls_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                                  const struct ue_decode_result *result) {
    if (datagram->is_cut || result->fault.status != UE_OK || result->closed_by != UE_HANDLER_NONE) {
        findings->stalls.unread_ns[datagram->role] = findings->course.now_ns;
    }
}

void ue_reliable_stalls_on_bunch(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_reliable_stalls *stalls = &findings->stalls;
    const struct ue_unacked_bunch in_flight = {.packet_id = event->packet_id,
                                               .reliable_id = event->bunch.reliable_id,
                                               .time_ns = event->time_ns,
                                               .frame = event->frame,
                                               .channel = event->bunch.decoded->channel,
                                               .ch_seq = event->bunch.decoded->ch_seq,
                                               .is_delivered = event->bunch.was_delivered,
                                               .is_copy = event->bunch.copy > 1};
    stalls->has_copies[event->side] |= event->bunch.copy > 1;
    if (stalls->is_refused[event->side]) { /* its report came before it */
        if (!in_flight.is_delivered) {
            lose(findings, event->side, &in_flight, false, event->time_ns);
        }
        return;
    }
    remove_passed(findings, event->side);
    size_t place = stalls->in_flight[event->side].count;
    while (place > stalls->passed[event->side] &&
           in_flight_at(stalls, event->side, place - 1)->packet_id > event->packet_id) {
        place--;
    }
    if (ue_array_insert(&findings->memory, &stalls->in_flight[event->side], place, &in_flight)) {
        stalls->first[event->side] += place < stalls->first[event->side];
    }
}

/* ---- the transmission that arrived ---- */

/* What is a stall in any case is worse than what may be one. */
static bool is_worse(const struct ue_findings *findings, struct ue_finding_value late_ns,
                     struct ue_finding_value than_ns) {
    bool is_stall = ue_reliable_stall_is_long(findings, late_ns);
    if (is_stall != ue_reliable_stall_is_long(findings, than_ns)) {
        return is_stall;
    }
    return is_stall ? late_ns.at_least > than_ns.at_least : late_ns.at_most > than_ns.at_most;
}

static void end_group(struct ue_findings *findings) {
    struct ue_reliable_stalls *stalls = &findings->stalls;
    const struct ue_overdue_bunch *group = &stalls->group;
    if (!stalls->has_group) {
        return;
    }
    stalls->has_group = false;
    struct ue_finding_value late_ns = lateness(findings, group, stalls->arrived_ns);
    const struct ue_finding_value latest_ns = UE_EXACTLY(late_ns.at_most);
    bool is_stall = ue_reliable_stall_is_long(findings, late_ns);
    bool may_be_stall = group->maybe_refused != 0 && ue_reliable_stall_is_long(findings, latest_ns);
    if (!is_stall && !may_be_stall && group->losses < UE_THRESHOLD_REPEATED) {
        return;
    }
    struct ue_finding finding = finding_of(group,
                                           is_stall       ? UE_FINDING_STALL
                                           : may_be_stall ? UE_FINDING_STALL_UNSURE
                                                          : UE_FINDING_REPEATED,
                                           stalls->group_side, late_ns);
    finding.frames[finding.frame_count++] = stalls->arrived_frame;
    ue_finding_set(&finding, UE_VALUE_OTHERS, group->others);
    ue_findings_report(findings, &finding);
}

/* Of the late bunches in one packet, the one that waited longest makes the finding. */
static void join_group(struct ue_findings *findings, const struct ue_overdue_bunch *overdue) {
    struct ue_overdue_bunch *group = &findings->stalls.group;
    int64_t arrived_ns = findings->stalls.arrived_ns;
    bool is_next = overdue->channel == group->channel && overdue->first_frame == group->first_frame &&
                   overdue->reliable_id == group->reliable_id + 1;
    if (is_next) {
        group->reliable_id = overdue->reliable_id;
        group->last_seq = overdue->last_seq;
    } else if (is_worse(findings, lateness(findings, overdue, arrived_ns), lateness(findings, group, arrived_ns))) {
        unsigned others = group->others + 1 + (unsigned)(group->reliable_id - group->first_id);
        *group = *overdue;
        group->others = others;
    } else {
        group->others++;
    }
}

/* Whether a transmission before this one may have arrived: it has no report, or was not captured. From 4.22 on a bunch
   that arrived is not sent again. */
static bool is_maybe_over(const struct ue_findings *findings, unsigned side, const struct ue_overdue_bunch *overdue,
                          const struct ue_unacked_bunch *arrived) {
    const struct ue_reliable_stalls *stalls = &findings->stalls;
    int64_t unseen_id = findings->gaps.is_legacy ? stalls->unseen_ids[side] : 0;
    bool is_found = overdue->is_maybe_over || overdue->lacks_first ||
                    (unseen_id > overdue->packet_id && unseen_id < arrived->packet_id);
    for (size_t place = stalls->passed[side]; !is_found && place < stalls->in_flight[side].count; place++) {
        const struct ue_unacked_bunch *other = in_flight_at(stalls, side, place);
        is_found = other->packet_id < arrived->packet_id && other->time_ns > overdue->first_ns &&
                   other->report == BUNCH_UNREPORTED && other->reliable_id == arrived->reliable_id &&
                   other->channel == arrived->channel;
    }
    return is_found;
}

static void arrive(struct ue_findings *findings, unsigned side, const struct ue_unacked_bunch *in_flight) {
    struct ue_reliable_stalls *stalls = &findings->stalls;
    size_t place;
    struct ue_overdue_bunch *overdue = find_overdue(stalls, side, in_flight, &place);
    if (overdue == NULL) {
        return;
    }
    if (is_maybe_over(findings, side, overdue, in_flight)) {
        ue_array_remove(&findings->memory, &stalls->overdue[side], place, 1);
        return; /* when the bunch arrived is not known */
    }
    if (stalls->has_group && stalls->group_side == side && stalls->arrived_frame == in_flight->frame) {
        join_group(findings, overdue);
    } else {
        end_group(findings);
        stalls->has_group = true;
        stalls->group_side = side;
        stalls->group = *overdue;
        stalls->arrived_frame = in_flight->frame;
        stalls->arrived_ns = in_flight->time_ns;
    }
    ue_array_remove(&findings->memory, &stalls->overdue[side], place, 1);
}

/* Further copies may be in flight, from before the ack could be known. */
static void mark_copies(struct ue_reliable_stalls *stalls, unsigned side, const struct ue_unacked_bunch *arrived) {
    size_t end = stalls->has_copies[side] ? stalls->in_flight[side].count : 0;
    for (size_t place = stalls->passed[side]; place < end; place++) {
        struct ue_unacked_bunch *other = ue_array_at(&stalls->in_flight[side], place);
        other->is_delivered |= other->reliable_id == arrived->reliable_id && other->channel == arrived->channel;
    }
}

static void end_flight(struct ue_findings *findings, struct ue_unacked_bunch *bunch,
                       const struct ue_observed_event *event) {
    unsigned side = !event->side;
    bool is_ack = event->type == UE_OBSERVED_ACK;
    bunch->report = is_ack ? BUNCH_ARRIVED : BUNCH_NOT_DELIVERED;
    if (is_ack) {
        arrive(findings, side, bunch);
        mark_copies(&findings->stalls, side, bunch);
    } else if (!bunch->is_delivered) {
        lose(findings, side, bunch, event->ack.may_be_refused, event->time_ns);
    }
}

/* Bunches up to the packet that is reported; those before it that have no report yet may get one later. */
static void end_flights(struct ue_findings *findings, const struct ue_observed_event *event) {
    unsigned side = !event->side;
    struct ue_reliable_stalls *stalls = &findings->stalls;
    struct ue_array *in_flight = &stalls->in_flight[side];
    for (size_t place = stalls->passed[side]; place < in_flight->count; place++) {
        struct ue_unacked_bunch *bunch = ue_array_at(in_flight, place);
        if (bunch->packet_id > event->ack.packet_id) {
            break;
        }
        if (bunch->packet_id == event->ack.packet_id && bunch->report == BUNCH_UNREPORTED) {
            end_flight(findings, bunch, event);
        }
        stalls->first[side] = place + 1 > stalls->first[side] ? place + 1 : stalls->first[side];
    }
    pass_arrivals(findings, side,
                  findings->gaps.is_legacy ? stalls->reported_ids[side] - LATE_REPORT_PACKETS : INT64_MAX);
}

/* Whether a packet that is not in the capture may have arrived: it can have held any bunch. Up to 4.21 a packet without
   a report may have an ack in a packet that was not captured either; else it has a NAK. */
static bool may_have_arrived_unseen(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_reliable_stalls *stalls = &findings->stalls;
    int64_t *reported_id = &stalls->reported_ids[!event->side], last_id = *reported_id;
    int64_t *unseen_id = &stalls->unseen_ids[!event->side], id = event->ack.packet_id;
    bool is_unseen = event->type == UE_OBSERVED_ACK && event->ack.frame == 0;
    bool is_skipped = id > last_id + 1 && stalls->missing_ids[!event->side] > last_id;
    int64_t newest_id = is_unseen ? id : is_skipped && findings->gaps.is_legacy ? id - 1 : 0;
    *unseen_id = newest_id > *unseen_id ? newest_id : *unseen_id;
    *reported_id = id > last_id ? id : last_id;
    return is_unseen || is_skipped;
}

void ue_reliable_stalls_on_report(struct ue_findings *findings, const struct ue_observed_event *event) {
    if (may_have_arrived_unseen(findings, event)) {
        pass_arrivals(findings, !event->side, INT64_MAX);
        ue_head_of_line_forget(findings, !event->side);
    }
    if (!event->ack.is_withdrawn) {
        end_flights(findings, event);
    }
}

/* ---- the end ---- */

void ue_reliable_stalls_clear(struct ue_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        ue_array_clear(&findings->memory, &findings->stalls.in_flight[side]);
        ue_array_clear(&findings->memory, &findings->stalls.overdue[side]);
        findings->stalls.first[side] = findings->stalls.passed[side] = 0;
        findings->stalls.has_copies[side] = false;
        findings->stalls.missing_ids[side] = findings->stalls.missing_before[side] = 0;
        findings->stalls.reported_ids[side] = findings->stalls.unseen_ids[side] = 0;
    }
}

/* What is not reported yet may have arrived. */
static void end_last_flight(struct ue_findings *findings, unsigned side) {
    const struct ue_reliable_stalls *stalls = &findings->stalls;
    pass_arrivals(findings, side, INT64_MAX);
    for (size_t place = stalls->first[side]; place < stalls->in_flight[side].count; place++) {
        const struct ue_reliable_arrival arrival = arrival_of(in_flight_at(stalls, side, place), side, true);
        ue_head_of_line_on_arrival(findings, &arrival);
    }
}

static void finish_overdue(const struct ue_findings *findings, const struct ue_overdue_bunch *overdue, unsigned side) {
    int64_t known_ns = ue_ack_gaps_known_until(findings, side, overdue->last_ns);
    if (is_undelivered(findings, overdue, known_ns)) {
        report_undelivered(findings, overdue, side, known_ns, UE_FINDING_UNDELIVERED);
    } else if (is_stall_yet(findings, overdue)) {
        report_undelivered(findings, overdue, side, known_ns, UE_FINDING_UNDELIVERED_YET);
    }
}

void ue_reliable_stalls_finish(struct ue_findings *findings) {
    end_group(findings);
    for (unsigned side = 0; side < 2; side++) {
        end_last_flight(findings, side);
        for (size_t i = 0; i < findings->stalls.overdue[side].count; i++) {
            finish_overdue(findings, overdue_at(&findings->stalls, side, i), side);
        }
    }
    ue_reliable_stalls_clear(findings);
}

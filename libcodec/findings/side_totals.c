/* SPDX-License-Identifier: MIT */
/* Counts what each side sent, and reports what is wrong with the capture and with bunches. */
#include "libcodec/findings/findings_state.h"

/* A few packets before a handshake may belong to the connection after it, captured out of order. */
#define ALONE_PACKETS_MIN 4

/* ---- datagrams ---- */

static void report_malformed(const struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                             const struct ue_fault *fault) {
    struct ue_finding finding = ue_finding_of_fault(datagram->role, fault, datagram->frame);
    ue_finding_set_time(&finding, datagram->time_ns);
    ue_findings_report(findings, &finding);
}

void ue_side_totals_clear(struct ue_findings *findings) {
    if (findings->contradicted != NULL) {
        ue_limited_allocator_resize(&findings->memory, findings->contradicted, sizeof *findings->contradicted, 0);
        findings->contradicted = NULL;
    }
}

static void add_contradiction(struct ue_findings *findings, const struct ue_detection *detection, uint64_t frame,
                              const struct ue_detection_contradiction *contradiction) {
    struct ue_contradicted_settings *settings =
        ue_limited_allocator_resize(&findings->memory, NULL, 0, sizeof *settings);
    if (settings != NULL) {
        *settings = (struct ue_contradicted_settings){.contradiction = *contradiction, .frame = frame};
        ue_detection_given_text(detection, settings->given);
        ue_detection_other_text(detection, settings->other);
    }
    findings->contradicted = settings;
}

/* The settings that the first contradicted connection of the stream was given. */
static void keep_contradiction(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    const struct ue_detection *detection = &datagram->record.connection->detection;
    struct ue_detection_contradiction contradiction;
    if (findings->contradicted == NULL && ue_detection_contradicts(detection, &contradiction)) {
        add_contradiction(findings, detection, datagram->frame, &contradiction);
    } else if (ue_detection_withdrew_contradiction(detection)) {
        ue_side_totals_clear(findings);
    }
}

void ue_side_totals_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                              const struct ue_decode_result *result) {
    struct ue_side_totals *side = &findings->totals[datagram->role];
    keep_contradiction(findings, datagram);
    bool is_good = result->fault.status == UE_OK && !datagram->is_cut;
    side->cut += datagram->is_cut;
    side->packets += !result->is_handshake;
    side->opaque += result->closed_by != UE_HANDLER_NONE && result->closed_by != UE_HANDLER_UNKNOWN;
    side->unreadable += result->closed_by == UE_HANDLER_UNKNOWN;
    side->unbounded += datagram->record.decode.is_unbounded;
    side->empty += is_good && !result->is_handshake && !result->is_opaque && result->item_count == 0;
    if (!is_good && !datagram->is_cut) {
        side->malformed++;
        report_malformed(findings, datagram, &result->fault);
    }
}

/* ---- events ---- */

void ue_side_totals_on_bunch(struct ue_side_totals *side, const struct ue_observed_event *event) {
    side->jumps += event->bunch.is_jump;
    if (event->bunch.is_partial_error) {
        if (side->partial_errors++ == 0) {
            side->partial_frame = event->frame;
            side->partial_ns = event->time_ns;
        }
    }
    const struct ue_observed_bounds *in_flight = &event->bunch.in_flight;
    if (in_flight->at_most > side->reliable_peak_at_most) {
        side->reliable_peak_at_most = in_flight->at_most;
    }
    if (in_flight->at_least > side->reliable_peak.at_least && in_flight->at_least > side->next_peak.at_least) {
        side->next_peak =
            (struct ue_reliable_peak){in_flight->at_least, event->bunch.decoded->channel, event->frame, event->time_ns};
    }
}

static void report_never_sent(const struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_NEVER_SENT, event->side, 1, event->never_sent.frame);
    finding.frames[1] = event->frame;
    finding.frame_count = 2;
    ue_finding_set(&finding, UE_VALUE_LAST_ID, event->never_sent.last_id);
    ue_findings_report(findings, &finding);
}

/* Packets of the peer that are missing may have acknowledged bunches before this peak. */
static void confirm_peak(struct ue_side_totals *side, bool is_confirmed) {
    if (is_confirmed && side->next_peak.at_least != 0) {
        side->reliable_peak = side->next_peak;
    }
    side->next_peak = (struct ue_reliable_peak){0};
}

void ue_side_totals_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_side_totals *peer = &findings->totals[!event->side];
    if (event->type == UE_OBSERVED_NEVER_SENT) {
        report_never_sent(findings, event);
    } else if (event->type == UE_OBSERVED_OPAQUE) {
        findings->totals[event->side].unidentified++;
        findings->totals[event->side].unplaced++;
    } else if (event->type == UE_OBSERVED_LOST || event->type == UE_OBSERVED_PACKET) {
        confirm_peak(peer, event->type == UE_OBSERVED_PACKET);
        struct ue_side_totals *side = &findings->totals[event->side];
        bool is_old = event->type == UE_OBSERVED_PACKET && (event->packet.is_duplicate || event->packet.is_late);
        side->unplaced = is_old ? side->unplaced : 0;
        bool was_counted = event->type == UE_OBSERVED_PACKET && event->packet.was_acked_unseen;
        side->not_captured -= was_counted && side->not_captured != 0;
    } else if (event->type == UE_OBSERVED_ACK && event->ack.frame == 0 && !event->ack.is_excused &&
               peer->not_captured++ == 0) {
        peer->not_captured_frame = event->frame;
        peer->not_captured_ns = event->time_ns;
    }
}

/* All members of the counts are numbers of one type. */
static struct ue_tracker_counts sum(const struct ue_tracker_counts *a, const struct ue_tracker_counts *b) {
    uint64_t numbers[2][sizeof *a / sizeof(uint64_t)];
    struct ue_tracker_counts total;
    memcpy(numbers[0], a, sizeof *a);
    memcpy(numbers[1], b, sizeof *b);
    for (size_t i = 0; i < sizeof *a / sizeof(uint64_t); i++) {
        numbers[0][i] += numbers[1][i];
    }
    memcpy(&total, numbers[0], sizeof total);
    return total;
}

void ue_findings_on_counts(struct ue_findings *findings, unsigned side, const struct ue_tracker_counts *counts) {
    findings->totals[side].tracked = *counts;
}

void ue_side_totals_end_tracker(struct ue_side_totals *side) {
    side->counts = sum(&side->counts, &side->tracked);
    side->tracked = (struct ue_tracker_counts){0};
}

/* ---- the end ---- */

static void report_count(const struct ue_findings *findings, enum ue_finding_id id, unsigned side, uint64_t count) {
    const struct ue_finding finding = ue_finding_of_count(id, side, count, 0);
    if (count != 0) {
        ue_findings_report(findings, &finding);
    }
}

/* frame, time_ns: the first of those that are counted. */
static void report_count_from(const struct ue_findings *findings, enum ue_finding_id id, unsigned side, uint64_t count,
                              uint64_t frame, int64_t time_ns) {
    struct ue_finding finding = ue_finding_of_count(id, side, count, frame);
    ue_finding_set_time(&finding, time_ns);
    if (count != 0) {
        ue_findings_report(findings, &finding);
    }
}

/* Packets of both sides that are not in the order of their ids: at neither end both are, so that acks that were
   received before a bunch was sent may be captured after it. */
static uint64_t count_late(const struct ue_findings *findings) {
    const struct ue_tracker_counts *client = &findings->totals[0].counts, *server = &findings->totals[1].counts;
    return client->late != 0 && server->late != 0 ? client->late + server->late : 0;
}

static void report_buffer(const struct ue_findings *findings, unsigned side) {
    const struct ue_side_totals *totals = &findings->totals[side];
    uint32_t peak = totals->reliable_peak.at_least, limit = findings->reliable_limit;
    if (peak == 0 || limit == 0 || !ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, peak, limit)) {
        return;
    }
    /* the last place is kept for the close of the channel (endpoint.md 22.1) */
    bool is_full = ue_finding_is_share_reached(UE_FINDING_BUFFER_FULL, (uint64_t)peak + 1, limit);
    struct ue_finding finding = ue_finding_of_count(is_full ? UE_FINDING_BUFFER_FULL : UE_FINDING_BUFFER_HIGH, side,
                                                    peak, totals->reliable_peak.frame);
    ue_finding_set_time(&finding, totals->reliable_peak.time_ns);
    finding.values[UE_VALUE_COUNT].at_most =
        totals->reliable_peak_at_most != UE_OBSERVED_UNBOUNDED ? (int64_t)totals->reliable_peak_at_most : INT64_MAX;
    ue_finding_set(&finding, UE_VALUE_OF, limit);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)count_late(findings));
    ue_finding_set(&finding, UE_VALUE_CHANNEL, totals->reliable_peak.channel);
    ue_findings_report(findings, &finding);
}

static void report_spurious(const struct ue_findings *findings, unsigned side) {
    const struct ue_tracker_counts *counts = &findings->totals[side].counts;
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_SPURIOUS, side, counts->spurious, 0);
    finding.values[UE_VALUE_COUNT].at_most = (int64_t)counts->resends;
    ue_finding_set(&finding, UE_VALUE_OF, (int64_t)counts->resends);
    if (counts->spurious != 0 && ue_finding_is_share_reached(UE_FINDING_SPURIOUS, counts->spurious, counts->reliable)) {
        ue_findings_report(findings, &finding);
    }
}

/* What damages datagrams can damage the id of another one, which then seems to be after those that follow it. */
static void report_reordered(const struct ue_findings *findings, unsigned side) {
    const struct ue_side_totals *totals = &findings->totals[side];
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_REORDERED, side, totals->counts.late, 0);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)totals->malformed);
    if (totals->counts.late != 0) {
        ue_findings_report(findings, &finding);
    }
}

/* Of both sides together, if the datagrams contradict what the caller gave. */
static void report_unreadable(const struct ue_findings *findings, unsigned side) {
    const struct ue_contradicted_settings *settings = findings->contradicted;
    const struct ue_side_totals *totals = &findings->totals[side];
    uint64_t unreadable = totals->unreadable - totals->unbounded;
    if (settings == NULL) {
        report_count(findings, UE_FINDING_UNREADABLE, side, unreadable);
    } else if (side == 0) {
        bool has_other = settings->other[0] != '\0';
        uint64_t count = unreadable + findings->totals[1].unreadable;
        struct ue_finding finding = ue_finding_of_count(
            has_other ? UE_FINDING_CONTRADICTED : UE_FINDING_CONTRADICTED_ONLY, side, count, settings->frame);
        ue_finding_set(&finding, UE_VALUE_OTHERS, settings->contradiction.missed);
        ue_finding_set(&finding, UE_VALUE_OF, settings->contradiction.datagrams);
        finding.text = settings->given;
        finding.other_text = settings->other;
        ue_findings_report(findings, &finding);
    }
}

static void report_cut(const struct ue_findings *findings) {
    const struct ue_side_totals *sides = findings->totals;
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_CUT, 0, sides[0].cut + sides[1].cut, 0);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)(sides[0].unbounded + sides[1].unbounded));
    if (sides[0].cut + sides[1].cut != 0) {
        ue_findings_report(findings, &finding);
    }
}

void ue_side_totals_finish(struct ue_findings *findings, unsigned side) {
    struct ue_side_totals *totals = &findings->totals[side];
    bool is_alone = totals->packets >= ALONE_PACKETS_MIN + totals->counts.duplicates &&
                    findings->totals[!side].datagrams == 0 && !findings->course.is_replay;
    confirm_peak(totals, true);
    report_buffer(findings, side);
    report_spurious(findings, side);
    report_count(findings, UE_FINDING_RELIABLE_JUMP, side, totals->jumps);
    report_count_from(findings, UE_FINDING_PARTIAL_ERROR, side, totals->partial_errors, totals->partial_frame,
                      totals->partial_ns);
    report_reordered(findings, side);
    report_count(findings, UE_FINDING_DUPLICATES, side, totals->counts.duplicates);
    bool has_not_captured = totals->datagrams != 0 && totals->not_captured > totals->unidentified;
    uint64_t not_captured = has_not_captured ? totals->not_captured - totals->unidentified : 0;
    report_count_from(findings, UE_FINDING_INCOMPLETE, side, not_captured, totals->not_captured_frame,
                      totals->not_captured_ns);
    report_count(findings, UE_FINDING_ONE_WAY, side, is_alone ? totals->datagrams : 0);
    report_count(findings, UE_FINDING_OPAQUE, side, totals->opaque);
    report_unreadable(findings, side);
    if (side == 0) {
        report_cut(findings);
    }
}

/* SPDX-License-Identifier: MIT */
/* Gaps between the acks of a side's packets, while the other side sent. */
#include "libcodec/findings/findings_state.h"

static void begin_wait(struct ue_ack_wait *wait, const struct ue_observed_event *event) {
    *wait = (struct ue_ack_wait){.is_waiting = wait->is_waiting,
                                 .has_reported = wait->has_reported,
                                 .newest_id = wait->newest_id,
                                 .waiting_id = wait->waiting_id,
                                 .hole_ns = wait->hole_ns,
                                 .begin_ns = event->time_ns,
                                 .begin_frame = event->frame,
                                 .known_from_ns = event->time_ns};
}

/* Starts waiting for an ack when a packet is sent. One that comes late may be reported already, and one whose ack was
   captured before it is. */
static void on_sent(struct ue_ack_wait *wait, const struct ue_observed_event *event) {
    wait->newest_id = event->packet_id > wait->newest_id ? event->packet_id : wait->newest_id;
    if (wait->has_hole && wait->sent_frame == 0 && event->packet_id > wait->hole_id) {
        wait->sent_frame = event->frame;
        wait->sent_ns = event->time_ns;
    }
    if (!wait->is_waiting && !event->packet.is_late && !event->packet.was_acked_unseen) {
        wait->is_waiting = true;
        wait->waiting_id = event->packet_id;
        begin_wait(wait, event);
    }
}

/* A packet of `side` that was not captured, or could not be read, may have an ack. */
static void skip_packet(struct ue_findings *findings, unsigned side) {
    struct ue_ack_wait *wait = &findings->ack_waits[!side];
    if (!wait->is_unread || wait->is_read_again) {
        wait->is_unread = true;
        wait->is_read_again = false;
        wait->unread_ns = findings->silence[side].last.time_ns;
    }
}

/* For how long it is known that the packet with this id, or one before it that waited longer, was not reported. What
   was sent before a hole may have been reported in it. */
static int64_t known_ns(const struct ue_findings *findings, const struct ue_ack_wait *wait, int64_t packet_id,
                        int64_t end_ns) {
    bool is_after_hole = wait->has_hole && packet_id > wait->hole_id;
    int64_t from_ns = !is_after_hole ? wait->known_from_ns : wait->sent_frame != 0 ? wait->sent_ns : end_ns;
    int64_t span_ns = ue_findings_span(findings, from_ns, end_ns).at_least;
    return span_ns > wait->known_ns ? span_ns : wait->known_ns;
}

/* From 4.22 on each packet has all acks, so that one without a new ack shows that those before it had none. Up to 4.21
   what a packet had that cannot be read need not be repeated: it is a hole. A packet whose report comes after the hole
   was not reported in it. */
static void on_readable(const struct ue_findings *findings, struct ue_ack_wait *wait, int64_t now_ns) {
    if (!wait->is_unread) {
        return;
    }
    if (findings->gaps.is_legacy) {
        wait->known_ns = known_ns(findings, wait, wait->newest_id, wait->unread_ns);
        wait->known_from_ns = now_ns;
        wait->has_hole = true;
        wait->hole_ns = now_ns;
        wait->hole_id = wait->newest_id;
        wait->sent_frame = 0;
    }
    wait->is_unread = !findings->gaps.is_legacy && !wait->is_read_again;
    wait->is_read_again = wait->is_unread;
}

/* Time in which the other side sent nothing is a silence of it. */
static void add_silence(struct ue_ack_wait *wait, int64_t before_ns, int64_t now_ns) {
    int64_t span_ns = ue_time_ns_since(now_ns, before_ns > wait->begin_ns ? before_ns : wait->begin_ns);
    wait->silent_ns += span_ns >= ue_finding_threshold_ns(UE_FINDING_SILENCE) ? span_ns : 0;
}

/* After a close engines acknowledge nothing. */
static void on_peer_packet(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_ack_wait *wait = &findings->ack_waits[!event->side];
    if (findings->course.is_closed) {
        return;
    }
    add_silence(wait, findings->silence[event->side].last.time_ns, event->time_ns);
    if (event->type == UE_OBSERVED_OPAQUE) {
        skip_packet(findings, event->side);
    } else if (!event->packet.is_late) {
        on_readable(findings, wait, event->time_ns);
    }
    wait->peer_packets++;
}

/* The time since the wait began. Less may be known: a packet that was not captured or could not be read may have had
   the report. */
static struct ue_finding_value waited_ns(const struct ue_findings *findings, const struct ue_ack_wait *wait,
                                         int64_t packet_id, int64_t end_ns) {
    struct ue_finding_value span_ns = ue_findings_span(findings, wait->begin_ns, end_ns);
    int64_t least_ns = known_ns(findings, wait, packet_id, wait->is_unread ? wait->unread_ns : end_ns);
    span_ns.at_least = least_ns < span_ns.at_most ? least_ns : span_ns.at_most; /* the clock may be set back */
    return span_ns;
}

int64_t ue_ack_gaps_known_until(const struct ue_findings *findings, unsigned side, int64_t from_ns) {
    const struct ue_ack_wait *wait = &findings->ack_waits[side];
    int64_t last_ns = ue_findings_last_packet(findings, !side)->time_ns;
    bool is_unread = wait->is_unread && !wait->is_read_again;
    int64_t known_ns = is_unread && wait->unread_ns < last_ns ? wait->unread_ns : last_ns;
    return wait->hole_ns > from_ns ? from_ns : known_ns;
}

/* Up to 4.21 the report of a packet may come after that of a later one. */
static void end_wait(struct ue_ack_wait *wait, int64_t packet_id) {
    wait->waiting_id = packet_id + 1 > wait->waiting_id ? packet_id + 1 : wait->waiting_id;
    wait->is_waiting = wait->waiting_id <= wait->newest_id;
    wait->has_reported = true;
}

/* The sequence of a packet was damaged: the newest packet is the one before. */
static void retract_newest(struct ue_ack_wait *wait, int64_t newest_id) {
    wait->newest_id = newest_id;
    wait->is_waiting &= wait->waiting_id <= newest_id;
    wait->waiting_id = wait->waiting_id > newest_id ? newest_id + 1 : wait->waiting_id;
}

static void on_report(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_ack_gap *gap = &findings->ack_gaps[!event->side];
    struct ue_ack_wait *wait = &findings->ack_waits[!event->side];
    struct ue_finding_value span_ns = waited_ns(findings, wait, event->ack.packet_id, event->time_ns);
    uint64_t others = wait->peer_packets - (wait->peer_packets != 0); /* the last one has the ack */
    if (wait->is_waiting &&
        ue_time_ns_since(span_ns.at_least, wait->silent_ns) >= ue_finding_threshold_ns(UE_FINDING_ACK_GAP) &&
        others >= UE_PEER_PACKETS_MIN) {
        *gap = (struct ue_ack_gap){span_ns, wait->begin_ns, wait->begin_frame, event->frame, others, 0};
    }
    gap->nacked += event->type == UE_OBSERVED_NAK;
    end_wait(wait, event->ack.packet_id);
    begin_wait(wait, event);
}

/* ---- reports ---- */

static void report_gap(const struct ue_findings *findings, unsigned side, struct ue_ack_gap *gap) {
    struct ue_finding finding =
        ue_finding_of_bounded_span(UE_FINDING_ACK_GAP, side, gap->span_ns, gap->begin_frame, gap->frame);
    ue_finding_set_time(&finding, gap->begin_ns);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)gap->nacked);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)gap->others);
    gap->frame = 0;
    ue_findings_report(findings, &finding);
}

/* Reports a gap when all reports of the packet that ends it are known. */
static void end_gaps(struct ue_findings *findings, uint64_t frame) {
    for (unsigned side = 0; side < 2; side++) {
        struct ue_ack_gap *gap = &findings->ack_gaps[side];
        if (gap->frame != 0 && gap->frame != frame) {
            report_gap(findings, side, gap);
        }
    }
}

/* ---- events ---- */

void ue_ack_gaps_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    end_gaps(findings, event->frame);
    switch (event->type) {
    case UE_OBSERVED_LOST: skip_packet(findings, event->side); break;
    case UE_OBSERVED_NOT_LOST: retract_newest(&findings->ack_waits[event->side], event->lost.first_id - 1); break;
    case UE_OBSERVED_OPAQUE: on_peer_packet(findings, event); break;
    case UE_OBSERVED_PACKET:
        if (!event->packet.is_duplicate) {
            on_peer_packet(findings, event);
            on_sent(&findings->ack_waits[event->side], event);
        }
        break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK:
        if (!event->ack.is_withdrawn) {
            on_report(findings, event);
        }
        break;
    default: break;
    }
}

/* A packet without an event, or one that is cut: up to 4.21 an ack may be beyond the cut. */
void ue_ack_gaps_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                           const struct ue_decode_result *result) {
    bool is_event = findings->silence[datagram->role].captured_frame == datagram->frame;
    if (datagram->is_cut && is_event) {
        findings->ack_waits[!datagram->role].is_waiting &= !findings->gaps.is_legacy;
    } else if (!result->is_handshake && !is_event) {
        skip_packet(findings, datagram->role);
    }
}

void ue_ack_gaps_begin_tracker(struct ue_findings *findings) {
    end_gaps(findings, 0);
    for (unsigned side = 0; side < 2; side++) {
        findings->ack_waits[side] = (struct ue_ack_wait){0};
    }
}

/* Whether reports need not follow the last packets of a side, because it may have closed the connection with its last
   one, and what passed before that is no gap. */
static bool may_have_closed(const struct ue_findings *findings, unsigned side) {
    const struct ue_ack_wait *wait = &findings->ack_waits[side];
    const struct ue_last_packet *last = ue_findings_last_packet(findings, side);
    int64_t span_ns = waited_ns(findings, wait, INT64_MAX, last->time_ns).at_least;
    return last->is_unread &&
           ue_time_ns_since(span_ns, wait->silent_ns) < ue_finding_threshold_ns(UE_FINDING_LAST_ACK_GAP);
}

/* Reports stopped, until the last packet of the other side or the close. */
static void report_last_gap(struct ue_findings *findings, unsigned side) {
    struct ue_ack_wait *wait = &findings->ack_waits[side];
    const struct ue_last_packet *last = ue_findings_last_packet(findings, !side);
    struct ue_finding_value span_ns = waited_ns(findings, wait, INT64_MAX, last->time_ns); /* none was reported */
    if (!wait->has_reported || !wait->is_waiting || wait->peer_packets < UE_PEER_PACKETS_MIN ||
        may_have_closed(findings, side) ||
        ue_time_ns_since(span_ns.at_least, wait->silent_ns) < ue_finding_threshold_ns(UE_FINDING_LAST_ACK_GAP)) {
        return;
    }
    struct ue_finding finding =
        ue_finding_of_bounded_span(UE_FINDING_LAST_ACK_GAP, side, span_ns, wait->begin_frame, last->frame);
    ue_finding_set_time(&finding, wait->begin_ns);
    ue_finding_set(&finding, UE_VALUE_COUNT, wait->newest_id - wait->waiting_id + 1);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)wait->peer_packets);
    ue_findings_report(findings, &finding);
}

void ue_ack_gaps_finish(struct ue_findings *findings) {
    end_gaps(findings, 0);
    report_last_gap(findings, 0);
    report_last_gap(findings, 1);
}

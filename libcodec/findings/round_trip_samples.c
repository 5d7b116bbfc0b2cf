/* SPDX-License-Identifier: MIT */
/* Round trips. A half is the time from a packet to its first ack; with the newest half of the other direction it is a
   round trip. Whether an ack after missing packets is the first is known when these are reported: until then halves
   wait, so that they are added in the order of their acks. */
#include <uerudp/time_ns.h>
#include "libcodec/findings/findings_state.h"

/* More than are acknowledged during a round trip. */
#define WAITING_MAX 1024

struct waiting_half {
    int64_t packet_id; /* that was acknowledged */
    int64_t acked_ns;
    int64_t span_ns;
    uint8_t side; /* of that packet */
    bool is_decided;
};

static struct waiting_half *half_at(const struct ue_findings *findings, size_t place) {
    return ue_array_at(&findings->waiting_halves, place);
}

static void add(struct ue_findings *findings, const struct waiting_half *half) {
    struct ue_timing *timing = &findings->timing;
    ue_histogram_add(&findings->memory, &timing->halves[half->side], half->span_ns);
    timing->last_half_ns[half->side] = half->span_ns;
    if (timing->halves[!half->side].count == 0) {
        return;
    }
    int64_t rtt_ns = ue_time_ns_add(timing->last_half_ns[0], timing->last_half_ns[1]);
    ue_histogram_add(&findings->memory, &timing->rtt, rtt_ns);
    if (findings->callbacks->round_trip != NULL) {
        findings->callbacks->round_trip(findings->callbacks->user, half->acked_ns, rtt_ns);
    }
}

/* Adds the halves before the first one that must wait longer. skipped: of those that must, this number no longer do. */
static void add_waiting(struct ue_findings *findings, size_t skipped) {
    size_t count = 0;
    for (; count < findings->waiting_halves.count; count++) {
        const struct waiting_half *half = half_at(findings, count);
        if (half->is_decided) {
            add(findings, half);
        } else if (skipped-- == 0) {
            break;
        }
    }
    ue_array_remove(&findings->memory, &findings->waiting_halves, 0, count);
}

static void on_ack(struct ue_findings *findings, const struct ue_observed_event *event) {
    const struct ue_observed_ack *ack = &event->ack;
    const struct waiting_half half = {.packet_id = ack->packet_id,
                                      .acked_ns = event->time_ns,
                                      .span_ns = ack->span_ns,
                                      .side = !event->side,
                                      .is_decided = !ack->may_be_repeated};
    if (ack->frame == 0 || ack->span_ns < 0 || (ack->may_be_repeated && !ack->is_undecided)) {
        return;
    }
    int64_t sent_ns = ue_time_ns_add(event->time_ns, -ack->span_ns);
    if (ue_findings_span(findings, sent_ns, event->time_ns).at_least < ack->span_ns) {
        return; /* the clock may have been set meanwhile */
    }
    if (findings->waiting_halves.count == WAITING_MAX) {
        add_waiting(findings, 1);
    }
    if (half.is_decided && findings->waiting_halves.count == 0) {
        add(findings, &half);
    } else {
        ue_array_insert(&findings->memory, &findings->waiting_halves, findings->waiting_halves.count, &half);
    }
}

static void on_first_ack(struct ue_findings *findings, const struct ue_observed_event *event) {
    for (size_t i = 0; i < findings->waiting_halves.count; i++) {
        struct waiting_half *half = half_at(findings, i);
        if (half->is_decided || half->side != event->side || half->packet_id != event->first_ack.acked_id) {
            continue;
        }
        half->is_decided = true;
        if (event->first_ack.span_ns < 0) {
            ue_array_remove(&findings->memory, &findings->waiting_halves, i, 1);
        }
        break;
    }
    add_waiting(findings, 0);
}

void ue_round_trip_samples_clear(struct ue_findings *findings) {
    ue_array_clear(&findings->memory, &findings->waiting_halves);
}

void ue_round_trip_samples_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    if (event->type == UE_OBSERVED_ACK) {
        on_ack(findings, event);
    } else if (event->type == UE_OBSERVED_FIRST_ACK) {
        on_first_ack(findings, event);
    }
}

void ue_round_trip_samples_end_tracker(struct ue_findings *findings) {
    add_waiting(findings, findings->waiting_halves.count);
}

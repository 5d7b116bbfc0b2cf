/* SPDX-License-Identifier: MIT */
#include "tools/generate/datagram_outcome.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY_MIN 64

void datagram_outcome_ring_clear(struct datagram_outcome_ring *outcomes) {
    g_free(outcomes->ring);
    *outcomes = (struct datagram_outcome_ring){0};
}

static struct datagram_outcome *slot(const struct datagram_outcome_ring *outcomes, uint64_t number) {
    return &outcomes->ring[number & (outcomes->capacity - 1)];
}

struct datagram_outcome *datagram_outcome_ring_at(const struct datagram_outcome_ring *outcomes, uint64_t number) {
    return slot(outcomes, number);
}

static void grow(struct datagram_outcome_ring *outcomes) {
    struct datagram_outcome_ring old = *outcomes;
    outcomes->capacity = old.capacity != 0 ? 2 * old.capacity : CAPACITY_MIN;
    outcomes->ring = g_new(struct datagram_outcome, outcomes->capacity);
    for (uint64_t number = old.first; number < old.next; number++) {
        *slot(outcomes, number) = *slot(&old, number);
    }
    g_free(old.ring);
}

static struct datagram_outcome *begin(struct datagram_outcome_ring *outcomes, const struct sim_datagram *datagram) {
    if (outcomes->next - outcomes->first == outcomes->capacity) {
        grow(outcomes);
    }
    struct datagram_outcome *outcome = slot(outcomes, outcomes->next++);
    *outcome = (struct datagram_outcome){.sent_ns = datagram->report->now_ns,
                                         .size_bytes = (uint32_t)datagram->report->size_bytes,
                                         .address = datagram->report->address,
                                         .packet_id = datagram->packet_id,
                                         .has_queued_bits = datagram->has_queued_bits,
                                         .queued_bits = datagram->queued_bits,
                                         .copies_in_link = 1};
    return outcome;
}

static void arrive(struct datagram_outcome_ring *outcomes, struct datagram_outcome *outcome,
                   const struct sim_link_report *report) {
    if (outcome->arrived_count < DATAGRAM_OUTCOME_COPIES_MAX) {
        outcome->arrived_ns[outcome->arrived_count++] = report->now_ns;
    }
    uint64_t overtaken = outcomes->highest > outcomes->first ? outcomes->highest : outcomes->first;
    for (; overtaken < report->number; overtaken++) {
        slot(outcomes, overtaken)->overtaken_ns = report->now_ns;
    }
    outcomes->highest = report->number >= outcomes->highest ? report->number + 1 : outcomes->highest;
}

struct datagram_outcome *datagram_outcome_ring_update(struct datagram_outcome_ring *outcomes,
                                                      const struct sim_datagram *datagram) {
    const struct sim_link_report *report = datagram->report;
    struct datagram_outcome *outcome =
        report->event == SIM_DATAGRAM_SENT ? begin(outcomes, datagram) : slot(outcomes, report->number);
    outcome->events |= 1u << report->event;
    switch (report->event) {
    case SIM_DATAGRAM_DUPLICATED: outcome->copies_in_link++; break;
    case SIM_DATAGRAM_CORRUPTED: outcome->corrupted_bit = report->corrupted_bit; break;
    case SIM_DATAGRAM_ARRIVED:
        arrive(outcomes, outcome, report);
        outcome->copies_in_link--;
        break;
    case SIM_DATAGRAM_LOST:
    case SIM_DATAGRAM_OVERFLOWED: outcome->copies_in_link--; break;
    default: break;
    }
    return outcome;
}

void datagram_outcome_ring_drop(struct datagram_outcome_ring *outcomes) {
    while (outcomes->first < outcomes->next && slot(outcomes, outcomes->first)->copies_in_link == 0 &&
           slot(outcomes, outcomes->first)->frames == 0) {
        outcomes->first++;
    }
}

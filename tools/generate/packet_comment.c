/* SPDX-License-Identifier: MIT */
#include "tools/generate/packet_comment.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY_MIN 64
#define NS_PER_MS 1e6

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

/* ---- comments ---- */

static void append(char *text, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void append(char *text, const char *format, ...) {
    size_t used = strlen(text);
    if (used != 0) {
        used += (size_t)snprintf(text + used, DATAGRAM_OUTCOME_COMMENT_BYTES - used, "; ");
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, DATAGRAM_OUTCOME_COMMENT_BYTES - used, format, arguments);
    va_end(arguments);
}

static void append_delay(char *text, const struct datagram_outcome *outcome, uint64_t now_ns) {
    if (outcome->overtaken_ns == 0 || now_ns < outcome->overtaken_ns) {
        return;
    }
    uint64_t late_ns = now_ns - outcome->overtaken_ns;
    if (late_ns != 0) {
        append(text, "late by %.3g ms: overtaken", (double)late_ns / NS_PER_MS);
    } else {
        append(text, "overtaken");
    }
}

static void comment_sent(const struct datagram_outcome *outcome, char *text) {
    bool has_arrived = outcome->arrived_count > 0;
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_LOST)) {
        append(text, has_arrived ? "one copy lost behind this point" : "lost behind this point");
    }
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_OVERFLOWED)) {
        append(text, has_arrived ? "one copy did not fit into a queue behind this point"
                                 : "lost in a full queue behind this point");
    }
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_DUPLICATED)) {
        append(text, "duplicated behind this point");
    }
    if (datagram_outcome_has(outcome, SIM_DATAGRAM_CORRUPTED)) {
        append(text, "corrupted at bit %u behind this point", outcome->corrupted_bit);
    }
    if (has_arrived) {
        append_delay(text, outcome, outcome->arrived_ns[0]);
    }
}

static void comment_arrived(const struct datagram_outcome *outcome, uint32_t copy, bool is_corrupted, uint64_t now_ns,
                            char *text) {
    if (copy != 0) {
        append(text, "duplicate");
    }
    if (is_corrupted) {
        append(text, "corrupted at bit %u", outcome->corrupted_bit);
    }
    append_delay(text, outcome, now_ns);
}

void datagram_outcome_comment(const struct datagram_outcome *outcome, bool at_sender, uint32_t copy, bool is_corrupted,
                              uint64_t now_ns, char text[DATAGRAM_OUTCOME_COMMENT_BYTES]) {
    text[0] = '\0';
    if (at_sender) {
        comment_sent(outcome, text);
    } else {
        comment_arrived(outcome, copy, is_corrupted, now_ns, text);
    }
}

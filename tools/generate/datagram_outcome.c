/* SPDX-License-Identifier: MIT */
#include "tools/generate/datagram_outcome.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY_MIN 64
#define NS_PER_MS 1e6

void datagram_outcome_ring_clear(struct datagram_outcome_ring *journeys) {
    g_free(journeys->ring);
    *journeys = (struct datagram_outcome_ring){0};
}

static struct datagram_outcome *slot(const struct datagram_outcome_ring *journeys, uint64_t number) {
    return &journeys->ring[number & (journeys->capacity - 1)];
}

struct datagram_outcome *datagram_outcome_ring_at(const struct datagram_outcome_ring *journeys, uint64_t number) {
    return slot(journeys, number);
}

static void grow(struct datagram_outcome_ring *journeys) {
    struct datagram_outcome_ring old = *journeys;
    journeys->capacity = old.capacity != 0 ? 2 * old.capacity : CAPACITY_MIN;
    journeys->ring = g_new(struct datagram_outcome, journeys->capacity);
    for (uint64_t number = old.first; number < old.next; number++) {
        *slot(journeys, number) = *slot(&old, number);
    }
    g_free(old.ring);
}

static struct datagram_outcome *begin(struct datagram_outcome_ring *journeys, const struct sim_datagram *datagram) {
    if (journeys->next - journeys->first == journeys->capacity) {
        grow(journeys);
    }
    struct datagram_outcome *journey = slot(journeys, journeys->next++);
    *journey = (struct datagram_outcome){.sent_ns = datagram->report->now_ns,
                                   .size_bytes = (uint32_t)datagram->report->size_bytes,
                                   .address = datagram->report->address,
                                   .packet_id = datagram->packet_id,
                                   .flying = 1};
    return journey;
}

static void arrive(struct datagram_outcome_ring *journeys, struct datagram_outcome *journey, const struct sim_link_report *report) {
    if (journey->arrived_count < DATAGRAM_OUTCOME_COPIES_MAX) {
        journey->arrived_ns[journey->arrived_count++] = report->now_ns;
    }
    uint64_t overtaken = journeys->highest > journeys->first ? journeys->highest : journeys->first;
    for (; overtaken < report->number; overtaken++) {
        slot(journeys, overtaken)->overtaken_ns = report->now_ns;
    }
    journeys->highest = report->number >= journeys->highest ? report->number + 1 : journeys->highest;
}

struct datagram_outcome *datagram_outcome_ring_update(struct datagram_outcome_ring *journeys, const struct sim_datagram *datagram) {
    const struct sim_link_report *report = datagram->report;
    struct datagram_outcome *journey =
        report->fate == SIM_DATAGRAM_SENT ? begin(journeys, datagram) : slot(journeys, report->number);
    journey->fates |= 1u << report->fate;
    switch (report->fate) {
    case SIM_DATAGRAM_DUPLICATED: journey->flying++; break;
    case SIM_DATAGRAM_CORRUPTED: journey->corrupted_bit = report->corrupted_bit; break;
    case SIM_DATAGRAM_ARRIVED:
        arrive(journeys, journey, report);
        journey->flying--;
        break;
    case SIM_DATAGRAM_LOST:
    case SIM_DATAGRAM_OVERFLOWED: journey->flying--; break;
    default: break;
    }
    return journey;
}

void datagram_outcome_ring_drop(struct datagram_outcome_ring *journeys) {
    while (journeys->first < journeys->next && slot(journeys, journeys->first)->flying == 0 &&
           slot(journeys, journeys->first)->frames == 0) {
        journeys->first++;
    }
}

/* ---- remarks ---- */

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

static void append_delay(char *text, const struct datagram_outcome *journey, uint64_t now_ns) {
    if (journey->overtaken_ns == 0 || now_ns < journey->overtaken_ns) {
        return;
    }
    uint64_t late_ns = now_ns - journey->overtaken_ns;
    if (late_ns != 0) {
        append(text, "late by %.3g ms: overtaken", (double)late_ns / NS_PER_MS);
    } else {
        append(text, "overtaken");
    }
}

static void remark_sent(const struct datagram_outcome *journey, char *text) {
    bool has_arrived = journey->arrived_count > 0;
    if (datagram_outcome_has(journey, SIM_DATAGRAM_LOST)) {
        append(text, has_arrived ? "one copy lost behind this point" : "lost behind this point");
    }
    if (datagram_outcome_has(journey, SIM_DATAGRAM_OVERFLOWED)) {
        append(text, has_arrived ? "one copy did not fit into a queue behind this point"
                                 : "lost in a full queue behind this point");
    }
    if (datagram_outcome_has(journey, SIM_DATAGRAM_DUPLICATED)) {
        append(text, "duplicated behind this point");
    }
    if (datagram_outcome_has(journey, SIM_DATAGRAM_CORRUPTED)) {
        append(text, "corrupted at bit %u behind this point", journey->corrupted_bit);
    }
    if (has_arrived) {
        append_delay(text, journey, journey->arrived_ns[0]);
    }
}

static void remark_arrived(const struct datagram_outcome *journey, uint32_t copy, bool is_corrupted, uint64_t now_ns,
                           char *text) {
    if (copy != 0) {
        append(text, "duplicate");
    }
    if (is_corrupted) {
        append(text, "corrupted at bit %u", journey->corrupted_bit);
    }
    append_delay(text, journey, now_ns);
}

void datagram_outcome_comment(const struct datagram_outcome *journey, bool at_sender, uint32_t copy, bool is_corrupted,
                       uint64_t now_ns, char text[DATAGRAM_OUTCOME_COMMENT_BYTES]) {
    text[0] = '\0';
    if (at_sender) {
        remark_sent(journey, text);
    } else {
        remark_arrived(journey, copy, is_corrupted, now_ns, text);
    }
}

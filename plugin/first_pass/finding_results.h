/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The findings of each stream (uerudp/findings.h), on the datagram that each names first: a stall on the packet
   that was lost. The first pass writes them; later passes only read. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_FINDING_RESULTS_H
#define UERUDP_PLUGIN_FIRST_PASS_FINDING_RESULTS_H

#include "plugin/compat.h"

#include <uerudp/findings.h>

struct uerudp_frame_state;

/* A finding to be shown; in file scope. */
struct uerudp_finding_result {
    enum ue_finding_id id;
    const char *sentence;
    int64_t span_ns; /* that the finding is about */
};

/* The span of a finding that has a field for it; -1: there is none. */
int64_t uerudp_finding_results_span(const struct uerudp_finding_result *finding);

void uerudp_finding_results_register(void);

/* Handle a datagram, then each of its events but those of messages, then its end with the items that the tracker
   decoded. Nothing happens without memory. */
void uerudp_finding_results_begin(const struct ue_observed_datagram *datagram, struct uerudp_frame_state *state);
void uerudp_finding_results_add_event(const struct ue_observed_event *event);
void uerudp_finding_results_end(const struct ue_observed_items *items);

/* Adds what is known only at the end of the capture. */
void uerudp_finding_results_finish(int64_t end_ns);

/* The finding with this number, which a result of type FINDING has. */
const struct uerudp_finding_result *uerudp_finding_results_at(uint32_t number);

#endif

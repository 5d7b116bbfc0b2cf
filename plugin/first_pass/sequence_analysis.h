/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the events of the packet tracker into analysis results of the current datagram and of the datagrams that it
   refers to. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_SEQUENCE_ANALYSIS_H
#define UERUDP_PLUGIN_FIRST_PASS_SEQUENCE_ANALYSIS_H

#include "plugin/compat.h"

#include <uerudp/clock_jitter.h>
#include <uerudp/reassembly.h>

struct uerudp_frame_state;

/* Of one stream. */
struct uerudp_sequence_analysis {
    struct ue_clock_jitter jitter[2];
};

/* Adds the results of one event. problem: what the event revealed in a reassembly. */
void uerudp_sequence_analysis_add_event(struct uerudp_sequence_analysis *analysis, struct uerudp_frame_state *state,
                                        const struct ue_context *context, const struct ue_observed_event *event,
                                        enum ue_reassembly_problem problem);

/* Another datagram of the same stream. packet_id tells datagrams of one frame apart (tunnels); NULL: not known. */
struct uerudp_frame_state *uerudp_sequence_analysis_find_datagram(const struct uerudp_frame_state *state,
                                                                  uint64_t frame, const int64_t *packet_id);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns what the tracker tells into notes: of the datagram in hand, and of those that it speaks of. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_SEQUENCE_ANALYSIS_H
#define UERUDP_PLUGIN_FIRST_PASS_SEQUENCE_ANALYSIS_H

#include "plugin/compat.h"

#include <uerudp/clock_jitter.h>
#include <uerudp/reassembly.h>

struct uerudp_frame_state;

/* Of one stream. A side of which datagrams were cut is not blamed for what the capture does not hold. */
struct uerudp_sequence_analysis {
    uint32_t cut[2]; /* datagrams of a side since its last whole one */
    bool has_cut[2]; /* ever */
    struct ue_clock_jitter jitter[2];
};

/* Notes one event of a datagram. problem: what it proved of fragments. */
void uerudp_sequence_analysis_add_event(struct uerudp_sequence_analysis *findings, struct uerudp_frame_state *visit, const struct ue_context *context,
                      const struct ue_tracker_event *event, enum ue_reassembly_problem problem);

/* Another datagram of the same stream; packet_id: NULL where it is not known. A frame has one, but in tunnels. */
struct uerudp_frame_state *uerudp_sequence_analysis_find_datagram(const struct uerudp_frame_state *visit, uint64_t frame, const int64_t *packet_id);

/* A datagram of this side is not whole. */
void uerudp_sequence_analysis_add_cut(struct uerudp_sequence_analysis *findings, unsigned side);

#endif

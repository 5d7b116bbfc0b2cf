/* SPDX-License-Identifier: MIT */
/* What really happened in a run, kept for the sidecar: messages, packets and what they carried, verdicts of the
   endpoints, and what of it a capture shows. It comes from the simulator alone, so that a reader of the capture can be
   checked against it. */
#ifndef UERUDP_TOOLS_GENERATE_RUN_LOG_H
#define UERUDP_TOOLS_GENERATE_RUN_LOG_H

#include <glib.h>

#include "tools/sim/sim.h"

struct ue_truth_message {
    struct ue_sim_saying said;
    bool is_delivered;
    uint64_t delivered_ns;
};

/* A datagram that was captured. */
struct ue_truth_sight {
    enum ue_role from;
    uint64_t number;  /* of the datagram in its link */
    uint64_t time_ns; /* of capture */
    size_t size_bytes;
    bool is_corrupted;
};

/* What a capture shows of one direction. */
struct ue_truth_figures {
    uint64_t packets;   /* datagrams */
    uint64_t bytes;     /* of UDP payload */
    uint64_t not_acked; /* packets that the other side reported as not delivered */
    uint64_t missing;   /* packets that never were captured, though later ones were */
    uint64_t resends;   /* copies of reliable bunches, beyond the first that was captured */
};

struct ue_truth;

struct ue_truth *ue_truth_new(void);
void ue_truth_free(struct ue_truth *truth);

/* What the simulator tells (sim.h). */
void ue_truth_sent(struct ue_truth *truth, const struct ue_sim_datagram *datagram);
void ue_truth_said(struct ue_truth *truth, const struct ue_sim_saying *saying);
void ue_truth_delivered(struct ue_truth *truth, const struct ue_sim_delivery *delivery);
void ue_truth_verdict(struct ue_truth *truth, enum ue_role side, int64_t packet_id, bool delivered);
void ue_truth_closed(struct ue_truth *truth, enum ue_role side, enum ue_close_reason reason);
/* The next datagram of the capture. */
void ue_truth_captured(struct ue_truth *truth, const struct ue_truth_sight *sight);

/* At the end. */
void ue_truth_figures(const struct ue_truth *truth, enum ue_role from, struct ue_truth_figures *figures);
/* Loop time, nearest rank, percent above 0; false: nothing was measured. */
bool ue_truth_rtt_ms(const struct ue_truth *truth, unsigned percent, double *ms);
/* client, server, timeout or none. */
const char *ue_truth_closed_by(const struct ue_truth *truth);
/* struct ue_truth_message, in the order in which they were said. */
const GArray *ue_truth_messages(const struct ue_truth *truth);

#endif

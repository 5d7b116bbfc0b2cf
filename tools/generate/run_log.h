/* SPDX-License-Identifier: MIT */
/* What really happened in a run, kept for the sidecar: messages, packets and what they carried, verdicts of the
   endpoints, and what of it a capture shows. It comes from the simulator alone, so that a reader of the capture can be
   checked against it. */
#ifndef UERUDP_TOOLS_GENERATE_RUN_LOG_H
#define UERUDP_TOOLS_GENERATE_RUN_LOG_H

#include <glib.h>

#include "tools/sim/sim.h"

struct run_log_message {
    struct sim_message said;
    bool is_delivered;
    uint64_t delivered_ns;
};

/* A datagram that was captured. */
struct run_log_frame {
    enum ue_role from;
    uint64_t number;  /* of the datagram in its link */
    uint64_t time_ns; /* of capture */
    size_t size_bytes;
    bool is_corrupted;
};

/* What a capture shows of one direction. */
struct run_log_figures {
    uint64_t packets;   /* datagrams */
    uint64_t bytes;     /* of UDP payload */
    uint64_t not_acked; /* packets that the other side reported as not delivered */
    uint64_t missing;   /* packets that never were captured, though later ones were */
    uint64_t resends;   /* copies of reliable bunches, beyond the first that was captured */
};

struct run_log;

struct run_log *run_log_new(void);
void run_log_free(struct run_log *truth);

/* What the simulator tells (sim.h). */
void run_log_add_datagram(struct run_log *truth, const struct sim_datagram *datagram);
void run_log_add_message(struct run_log *truth, const struct sim_message *saying);
void run_log_add_delivery(struct run_log *truth, const struct sim_delivery *delivery);
void run_log_add_ack(struct run_log *truth, enum ue_role side, int64_t packet_id, bool delivered);
void run_log_add_close(struct run_log *truth, enum ue_role side, enum ue_close_reason reason);
/* The next datagram of the capture. */
void run_log_add_frame(struct run_log *truth, const struct run_log_frame *sight);

/* At the end. */
void run_log_figures(const struct run_log *truth, enum ue_role from, struct run_log_figures *figures);
/* Loop time, nearest rank, percent above 0; false: nothing was measured. */
bool run_log_rtt_ms(const struct run_log *truth, unsigned percent, double *ms);
/* client, server, timeout or none. */
const char *run_log_closed_by(const struct run_log *truth);
/* struct run_log_message, in the order in which they were said. */
const GArray *run_log_messages(const struct run_log *truth);

#endif

/* SPDX-License-Identifier: MIT */
/* The run log records what happened in a run, for FILE.sent.json: messages, packets with their content,
   acknowledgements, and what a capture shows of it. Its only source is the simulator, so that readers of the capture
   can be tested against it. */
#ifndef UERUDP_TOOLS_GENERATE_RUN_LOG_H
#define UERUDP_TOOLS_GENERATE_RUN_LOG_H

#include <glib.h>

#include "tools/sim/sim.h"

struct run_log_message {
    struct sim_message sent;
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
    uint64_t missing;   /* packets that were never captured, though later ones were */
    uint64_t resends;   /* copies of reliable bunches after the first captured one */
};

struct run_log;

struct run_log *run_log_new(void);
void run_log_free(struct run_log *run_log);

/* Events of the simulator (sim.h). */
void run_log_add_datagram(struct run_log *run_log, const struct sim_datagram *datagram);
void run_log_add_message(struct run_log *run_log, const struct sim_message *sent);
void run_log_add_delivery(struct run_log *run_log, const struct sim_delivery *delivery);
void run_log_add_ack(struct run_log *run_log, enum ue_role side, int64_t packet_id, bool delivered);
void run_log_add_close(struct run_log *run_log, enum ue_role side, enum ue_close_reason reason);
/* The next datagram of the capture. */
void run_log_add_frame(struct run_log *run_log, const struct run_log_frame *captured);

/* Call it at the end. */
void run_log_compute_figures(const struct run_log *run_log, enum ue_role from, struct run_log_figures *figures);
/* Percentile of the round-trip times (nearest rank, percent above 0). False: none was measured. */
bool run_log_rtt_ms(const struct run_log *run_log, unsigned percent, double *ms);
/* Whether a packet was reported to its sender, and then, as what. */
bool run_log_is_reported(const struct run_log *run_log, enum ue_role from, int64_t packet_id, bool *is_delivered);

/* client, server, timeout or none. */
const char *run_log_closed_by(const struct run_log *run_log);
/* struct run_log_message, in the order in which they were sent. */
const GArray *run_log_messages(const struct run_log *run_log);

#endif

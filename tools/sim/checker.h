/* SPDX-License-Identifier: MIT */
/* Everything that is checked inside a run: the ledger of messages, the witness of packets, states, memory, and
   progress. */
#ifndef UERUDP_TOOLS_SIM_CHECKER_H
#define UERUDP_TOOLS_SIM_CHECKER_H

#include "tools/sim/delivery_checker.h"
#include "tools/sim/packet_checker.h"

struct sim_checker {
    const struct sim_scenario *scenario;
    struct sim_failure failure;
    struct delivery_checker ledger;
    struct packet_checker witness;
    size_t idle_bytes[2];   /* memory in use before anything was said */
    int64_t most_flying[2]; /* packets without verdict */
};

/* False: no memory. The scenario must outlive it. */
bool sim_checker_init(struct sim_checker *checker, const struct sim_scenario *scenario);
void sim_checker_free(struct sim_checker *checker);

/* A side is connected. */
void sim_checker_connect(struct sim_checker *checker, enum ue_role side, const struct ue_conn *conn);
/* The verdict event of a side. */
void sim_checker_ack(struct sim_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_event *packet);
/* After each tick of a side. */
void sim_checker_tick(struct sim_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_conn *conn);
/* After a quiet time at the end: both ends agree, and hold nothing any more. */
void sim_checker_finish(struct sim_checker *checker, uint64_t now_ns, struct ue_conn *const conns[2]);

#endif

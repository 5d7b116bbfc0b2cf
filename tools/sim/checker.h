/* SPDX-License-Identifier: MIT */
/* Everything that is checked inside a run: the ledger of messages, the witness of packets, states, memory, and
   progress. */
#ifndef UERUDP_TOOLS_SIM_CHECKER_H
#define UERUDP_TOOLS_SIM_CHECKER_H

#include "tools/sim/delivery_checker.h"
#include "tools/sim/packet_checker.h"

struct ue_checker {
    const struct ue_scenario *scenario;
    struct ue_failure failure;
    struct ue_ledger ledger;
    struct ue_witness witness;
    size_t idle_bytes[2];   /* memory in use before anything was said */
    int64_t most_flying[2]; /* packets without verdict */
};

/* False: no memory. The scenario must outlive it. */
bool ue_checker_init(struct ue_checker *checker, const struct ue_scenario *scenario);
void ue_checker_free(struct ue_checker *checker);

/* A side is connected. */
void ue_checker_connect(struct ue_checker *checker, enum ue_role side, const struct ue_conn *conn);
/* The verdict event of a side. */
void ue_checker_verdict(struct ue_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_event *packet);
/* After each tick of a side. */
void ue_checker_tick(struct ue_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_conn *conn);
/* After a quiet time at the end: both ends agree, and hold nothing any more. */
void ue_checker_settled(struct ue_checker *checker, uint64_t now_ns, struct ue_conn *const conns[2]);

#endif

/* SPDX-License-Identifier: MIT */
/* All checks of a run: delivery of messages, packets on the wire, connection states, memory and progress. */
#ifndef UERUDP_TOOLS_SIM_CHECKER_H
#define UERUDP_TOOLS_SIM_CHECKER_H

#include "tools/sim/delivery_checker.h"
#include "tools/sim/packet_checker.h"

struct sim_checker {
    const struct sim_scenario *scenario;
    struct sim_failure failure;
    struct delivery_checker delivery;
    struct packet_checker packets;
    size_t idle_bytes[2];      /* memory in use before the first message */
    int64_t most_in_flight[2]; /* most packets in flight */
};

/* False: no memory. The scenario must outlive the checker. */
bool sim_checker_init(struct sim_checker *checker, const struct sim_scenario *scenario);
void sim_checker_free(struct sim_checker *checker);

/* A side is connected. */
void sim_checker_connect(struct sim_checker *checker, enum ue_role side, const struct ue_conn *conn);
/* A side's event about one of its packets: acknowledged or not. */
void sim_checker_ack(struct sim_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_event *packet);
/* Call it after each tick of a side. */
void sim_checker_tick(struct sim_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_conn *conn);
/* Call it after the quiet time at the end: both endpoints must agree on what was delivered, and hold no messages. */
void sim_checker_finish(struct sim_checker *checker, uint64_t now_ns, struct ue_conn *const conns[2]);

#endif

/* SPDX-License-Identifier: MIT */
/* What the wire proves about packets, read by decoding every datagram that leaves: each packet has the next
   number; none is acknowledged that did not arrive; each gets one verdict, in order, and "delivered" only when it
   arrived. */
#ifndef UERUDP_TOOLS_SIM_PACKET_CHECKER_H
#define UERUDP_TOOLS_SIM_PACKET_CHECKER_H

#include <uerudp/endpoint.h>
#include "tools/sim/failure.h"
#include "tools/sim/link.h"

#define PACKET_CHECKER_IDS 16384     /* as many as there are sequence numbers */
#define PACKET_CHECKER_NUMBERS 65536 /* datagrams that may be on their way, with those that come and go meanwhile */

/* One side as a sender. */
struct packet_checker_side {
    const struct ue_context *context; /* how its datagrams are written; NULL: not yet connected */
    bool is_sealed;                   /* encrypted: numbers are taken for granted */
    bool has_id;
    int64_t first_id;
    int64_t next_id;
    int64_t next_verdict;
    int64_t arrived_id;      /* newest that arrived, first_id - 1: none */
    int64_t acked_id;        /* newest that the peer's headers acknowledged */
    int64_t unacked_at_send; /* arrived and not yet acknowledged in the newest header of the peer */
    int64_t *ids;            /* of datagrams by number; -1: not a packet */
    int64_t *arrived;        /* ids by their low bits */
};

struct packet_checker {
    struct packet_checker_side sides[2];
    struct ue_item *items;
    struct ue_datagram newest; /* what left last, where has_newest */
    bool has_newest;
    struct sim_failure *failure;
    bool hostile; /* damaged datagrams may pass for whole ones */
};

/* False: no memory. */
bool packet_checker_init(struct packet_checker *witness, struct sim_failure *failure, bool hostile);
void packet_checker_free(struct packet_checker *witness);

/* A side is connected; the context must outlive the witness. */
void packet_checker_connect(struct packet_checker *witness, enum ue_role side, const struct ue_context *context);
/* From now on datagrams of both sides may be encrypted. */
void packet_checker_allow_encryption(struct packet_checker *witness);

/* Sees what happens to a datagram; returns its packet's number, -1: not a packet. */
int64_t packet_checker_datagram(struct packet_checker *witness, enum ue_role from, const struct sim_link_report *report);
void packet_checker_ack(struct packet_checker *witness, enum ue_role side, uint64_t now_ns, int64_t packet_id,
                        bool delivered);

/* At the end of a quiet time: whether the newest headers acknowledge everything. */
void packet_checker_finish(struct packet_checker *witness, uint64_t now_ns);
/* Packets of a side without verdict. */
int64_t packet_checker_in_flight(const struct packet_checker *witness, enum ue_role side);

#endif

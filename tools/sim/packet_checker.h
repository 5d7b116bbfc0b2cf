/* SPDX-License-Identifier: MIT */
/* What the wire proves about packets, read by decoding every datagram that leaves: each packet has the next
   number; none is acknowledged that did not arrive; each gets one verdict, in order, and "delivered" only when it
   arrived. */
#ifndef UERUDP_TOOLS_SIM_PACKET_CHECKER_H
#define UERUDP_TOOLS_SIM_PACKET_CHECKER_H

#include <uerudp/endpoint.h>
#include "tools/sim/failure.h"
#include "tools/sim/link.h"

#define UE_WITNESS_IDS 16384     /* as many as there are sequence numbers */
#define UE_WITNESS_NUMBERS 65536 /* datagrams that may be on their way, with those that come and go meanwhile */

/* One side as a sender. */
struct ue_witness_side {
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

struct ue_witness {
    struct ue_witness_side sides[2];
    struct ue_item *items;
    struct ue_datagram newest; /* what left last, where has_newest */
    bool has_newest;
    struct ue_failure *failure;
    bool hostile; /* damaged datagrams may pass for whole ones */
};

/* False: no memory. */
bool ue_witness_init(struct ue_witness *witness, struct ue_failure *failure, bool hostile);
void ue_witness_free(struct ue_witness *witness);

/* A side is connected; the context must outlive the witness. */
void ue_witness_connect(struct ue_witness *witness, enum ue_role side, const struct ue_context *context);
/* From now on datagrams of both sides may be encrypted. */
void ue_witness_seal(struct ue_witness *witness);

/* Sees what happens to a datagram; returns its packet's number, -1: not a packet. */
int64_t ue_witness_report(struct ue_witness *witness, enum ue_role from, const struct ue_link_report *report);
void ue_witness_verdict(struct ue_witness *witness, enum ue_role side, uint64_t now_ns, int64_t packet_id,
                        bool delivered);

/* At the end of a quiet time: whether the newest headers acknowledge everything. */
void ue_witness_agree(struct ue_witness *witness, uint64_t now_ns);
/* Packets of a side without verdict. */
int64_t ue_witness_in_flight(const struct ue_witness *witness, enum ue_role side);

#endif

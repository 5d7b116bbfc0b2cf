/* SPDX-License-Identifier: MIT */
/* The packet checker decodes every datagram that leaves. Each packet has the next id; no header acknowledges a packet
   that did not arrive; the sender gets one report for each packet, in order, and "delivered" only when it arrived. */
#ifndef UERUDP_TOOLS_SIM_PACKET_CHECKER_H
#define UERUDP_TOOLS_SIM_PACKET_CHECKER_H

#include <uerudp/endpoint.h>
#include "tools/sim/failure.h"
#include "tools/sim/link.h"

#define PACKET_CHECKER_IDS 16384     /* one for each sequence number */
#define PACKET_CHECKER_NUMBERS 65536 /* datagrams that may be in the link at a time */

/* One side as a sender. */
struct packet_checker_side {
    const struct ue_context *context; /* in which its datagrams are encoded; NULL: not connected yet */
    bool is_encrypted;                /* encrypted: packet ids are counted instead of read */
    bool has_id;
    int64_t first_id;
    int64_t next_id;
    int64_t next_reported;
    int64_t arrived_id;      /* newest that arrived; first_id - 1: none */
    int64_t acked_id;        /* newest that the peer's headers acknowledge */
    int64_t unacked_at_send; /* arrived, and not yet acknowledged by the peer's newest header */
    int64_t *ids;            /* [datagram number]; -1: not a packet */
    int64_t *arrived;        /* ids, by their low bits */
};

struct packet_checker {
    struct packet_checker_side sides[2];
    struct ue_item *items;
    struct ue_datagram newest; /* the newest datagram that left, where has_newest */
    bool has_newest;
    struct sim_failure *failure;
    bool hostile; /* corrupted datagrams may be accepted as valid */
};

/* False: no memory. */
bool packet_checker_init(struct packet_checker *checker, struct sim_failure *failure, bool hostile);
void packet_checker_free(struct packet_checker *checker);

/* A side is connected; the context must outlive the checker. */
void packet_checker_connect(struct packet_checker *checker, enum ue_role side, const struct ue_context *context);
/* The id of the side's first packet, where that cannot be read from the packet. */
void packet_checker_set_first(struct packet_checker *checker, enum ue_role side, int64_t packet_id);
/* From now on datagrams of both sides may be encrypted or compressed. */
void packet_checker_allow_encryption(struct packet_checker *checker);

/* An event of a datagram. Returns its packet id; -1: not a packet. */
int64_t packet_checker_datagram(struct packet_checker *checker, enum ue_role from,
                                const struct sim_link_report *report);
void packet_checker_ack(struct packet_checker *checker, enum ue_role side, uint64_t now_ns, int64_t packet_id,
                        bool delivered);

/* Call it after the quiet time at the end: the newest headers must acknowledge everything. */
void packet_checker_finish(struct packet_checker *checker, uint64_t now_ns);
/* Packets of a side that were not reported yet. */
int64_t packet_checker_in_flight(const struct packet_checker *checker, enum ue_role side);

#endif

/* SPDX-License-Identifier: MIT */
/* Traffic of a client that tries to make a server keep as much memory as possible. */
#ifndef UERUDP_TESTS_SUPPORT_HOSTILE_H
#define UERUDP_TESTS_SUPPORT_HOSTILE_H

#include "tools/endpoint/core/connection.h"

enum hostile_traffic {
    HOSTILE_PARTS,   /* partial bunches that add up to 63,000 bytes and lack the final one */
    HOSTILE_EARLY,   /* reliable bunches that wait for a missing one */
    HOSTILE_CHANNELS /* a new channel with each bunch */
};

/* Appends the number-th bunch to the send buffer, on voice channels, which clients may open. It is never
   retransmitted. */
void hostile_send(struct ue_conn *c, uint64_t now_ns, enum hostile_traffic traffic, uint32_t number, bool reliable);

/* Number of bunches on one channel. */
uint32_t hostile_per_channel(enum hostile_traffic traffic);

#endif

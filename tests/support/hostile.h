/* SPDX-License-Identifier: MIT */
/* What a client sends who wants a server to keep as much as it will. */
#ifndef UERUDP_TESTS_SUPPORT_HOSTILE_H
#define UERUDP_TESTS_SUPPORT_HOSTILE_H

#include "tools/endpoint/connection.h"

enum hostility {
    HOSTILE_PARTS,   /* partial bunches of 63,000 bytes without their last part */
    HOSTILE_EARLY,   /* reliable bunches that wait for one that never comes */
    HOSTILE_CHANNELS /* one channel after the other */
};

/* Writes the number-th bunch, on voice channels, which clients may open; it is never sent again. */
void hostile_put(struct ue_conn *c, uint64_t now_ns, enum hostility how, uint32_t number, bool reliable);

/* How many bunches one channel takes. */
uint32_t hostile_per_channel(enum hostility how);

#endif

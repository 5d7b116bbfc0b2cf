/* SPDX-License-Identifier: MIT */
/* Packets that arrived early wait here for the missing ones until the tick ends (the engine's PacketOrderCache;
   endpoint.md 16.3). Knows distances only; what a packet is, the caller knows. */
#ifndef UERUDP_REORDER_H
#define UERUDP_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uerudp/pool.h>

#define UE_REORDER_SLOTS 32
#define UE_REORDER_GAP_MAX 3 /* missing packets that an empty cache waits for */

struct ue_early {
    uint32_t size_bytes;
    uint8_t bytes[];
};

/* A ring of packets; slot 0 counted from start is for the sequence behind the newest processed one. */
struct ue_reorder {
    struct ue_early **slots; /* NULL until the cache is needed */
    uint32_t start;
    uint32_t count;
    bool is_overdue; /* the last slot was reached: nothing waits any longer */
    struct ue_share *share;
};

void ue_reorder_init(struct ue_reorder *r, struct ue_share *share);
void ue_reorder_free(struct ue_reorder *r);

/* Creates the ring; false when there is no memory. */
bool ue_reorder_create(struct ue_reorder *r);
static inline bool ue_reorder_exists(const struct ue_reorder *r) {
    return r->slots != NULL;
}

enum ue_reorder_result {
    UE_REORDER_PROCESS, /* not a packet to wait with */
    UE_REORDER_KEPT,
    UE_REORDER_DUPLICATE, /* its slot is taken */
    UE_REORDER_FULL       /* no memory: drop it, it counts as lost */
};

/* Decides on a packet `delta` (>= 1) ahead of the newest processed one, and keeps a copy where it is to wait. */
enum ue_reorder_result ue_reorder_push(struct ue_reorder *r, uint32_t delta, const uint8_t *bytes, size_t size_bytes);

/* Takes the next packet in order, which the caller processes and gives back to the share; NULL when a hole comes first
   and not whole, or the cache is empty. A packet in the last slot makes every take whole until the cache is empty. */
struct ue_early *ue_reorder_pop(struct ue_reorder *r, bool whole);

#endif

/* SPDX-License-Identifier: MIT */
/* The order cache: packets that arrive early wait for missing ones until the tick ends (the engine's PacketOrderCache;
   endpoint.md 9). It uses distances only; the bytes of packets belong to the caller. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_ORDER_CACHE_H
#define UERUDP_TOOLS_ENDPOINT_CORE_ORDER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/endpoint/base/memory_share.h"

#define UE_ORDER_CACHE_SLOTS 32
#define UE_ORDER_CACHE_GAP_MAX 3 /* missing packets that an empty cache waits for */

struct ue_early_packet {
    uint32_t size_bytes;
    uint8_t bytes[];
};

/* A ring of packets; slot 0 from start is for the sequence after the newest processed one. */
struct ue_order_cache {
    struct ue_early_packet **slots; /* NULL until the cache is needed */
    uint32_t start;
    uint32_t count;
    bool is_overdue; /* the last slot is in use: nothing waits any longer */
    struct ue_share *share;
};

void ue_order_cache_init(struct ue_order_cache *r, struct ue_share *share);
void ue_order_cache_free(struct ue_order_cache *r);

/* Creates the ring. False: no memory. */
bool ue_order_cache_create(struct ue_order_cache *r);
static inline bool ue_order_cache_exists(const struct ue_order_cache *r) {
    return r->slots != NULL;
}

enum ue_order_cache_result {
    UE_ORDER_CACHE_PROCESS, /* the packet does not wait */
    UE_ORDER_CACHE_KEPT,
    UE_ORDER_CACHE_DUPLICATE, /* its slot is in use */
    UE_ORDER_CACHE_FULL       /* no memory: drop the packet, it counts as lost */
};

/* Decides about a packet `delta` (>= 1) ahead of the newest processed one, and stores a copy if it must wait. */
enum ue_order_cache_result ue_order_cache_push(struct ue_order_cache *r, uint32_t delta, const uint8_t *bytes,
                                               size_t size_bytes);

/* Removes the next packet in order, which the caller processes and frees in the share. NULL: a gap comes first and
   whole is false, or the cache is empty. After a packet in the last slot gaps are skipped until the cache is empty. */
struct ue_early_packet *ue_order_cache_pop(struct ue_order_cache *r, bool whole);

#endif

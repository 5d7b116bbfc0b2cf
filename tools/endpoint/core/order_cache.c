/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/order_cache.h"

#include <string.h>

#define SLOT_LAST (UE_ORDER_CACHE_SLOTS - 1)

static struct ue_early_packet **slot_at(const struct ue_order_cache *r, uint32_t distance) {
    return &r->slots[(r->start + distance) % UE_ORDER_CACHE_SLOTS];
}

void ue_order_cache_init(struct ue_order_cache *r, struct ue_share *share) {
    *r = (struct ue_order_cache){.share = share};
}

void ue_order_cache_free(struct ue_order_cache *r) {
    for (uint32_t i = 0; ue_order_cache_exists(r) && i < UE_ORDER_CACHE_SLOTS; i++) {
        ue_share_free_block(r->share, r->slots[i]);
    }
    ue_share_free_block(r->share, r->slots);
    ue_order_cache_init(r, r->share);
}

/* endpoint.md 9.1. */
bool ue_order_cache_create(struct ue_order_cache *r) {
    if (ue_order_cache_exists(r)) {
        return true;
    }
    size_t size_bytes = UE_ORDER_CACHE_SLOTS * sizeof(struct ue_early_packet *);
    r->slots = ue_share_alloc(r->share, size_bytes);
    if (r->slots == NULL) {
        return false;
    }
    memset(r->slots, 0, size_bytes);
    return true;
}

/* While a packet waits every other one waits, even the missing one (endpoint.md 9.2, 9.3). */
static bool is_to_wait(const struct ue_order_cache *r, uint32_t delta) {
    uint32_t missing = delta - 1;
    return ue_order_cache_exists(r) && (r->count > 0 || (missing >= 1 && missing <= UE_ORDER_CACHE_GAP_MAX));
}

/* endpoint.md 9.3. */
enum ue_order_cache_result ue_order_cache_push(struct ue_order_cache *r, uint32_t delta, const uint8_t *bytes,
                                               size_t size_bytes) {
    if (!is_to_wait(r, delta)) {
        return UE_ORDER_CACHE_PROCESS;
    }
    uint32_t distance = delta - 1 < SLOT_LAST ? delta - 1 : SLOT_LAST;
    struct ue_early_packet **slot = slot_at(r, distance);
    if (*slot != NULL) {
        return UE_ORDER_CACHE_DUPLICATE;
    }
    struct ue_early_packet *early =
        size_bytes <= UINT32_MAX ? ue_share_alloc(r->share, sizeof *early + size_bytes) : NULL;
    if (early == NULL) {
        return UE_ORDER_CACHE_FULL;
    }
    early->size_bytes = (uint32_t)size_bytes;
    memcpy(early->bytes, bytes, size_bytes);
    *slot = early;
    r->count++;
    r->is_overdue |= distance == SLOT_LAST;
    return UE_ORDER_CACHE_KEPT;
}

/* endpoint.md 9.4, 9.5. */
struct ue_early_packet *ue_order_cache_pop(struct ue_order_cache *r, bool whole) {
    if (r->count == 0) {
        return NULL;
    }
    while (*slot_at(r, 0) == NULL) {
        if (!whole && !r->is_overdue) {
            return NULL;
        }
        r->start++;
    }
    struct ue_early_packet **slot = slot_at(r, 0);
    struct ue_early_packet *early = *slot;
    *slot = NULL;
    r->start++;
    r->count--;
    r->is_overdue = r->is_overdue && r->count > 0;
    return early;
}

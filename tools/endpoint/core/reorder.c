/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/reorder.h"

#include <string.h>

#define SLOT_LAST (UE_REORDER_SLOTS - 1)

static struct ue_early **slot_at(const struct ue_reorder *r, uint32_t distance) {
    return &r->slots[(r->start + distance) % UE_REORDER_SLOTS];
}

void ue_reorder_init(struct ue_reorder *r, struct ue_share *share) {
    *r = (struct ue_reorder){.share = share};
}

void ue_reorder_free(struct ue_reorder *r) {
    for (uint32_t i = 0; ue_reorder_exists(r) && i < UE_REORDER_SLOTS; i++) {
        ue_share_free_block(r->share, r->slots[i]);
    }
    ue_share_free_block(r->share, r->slots);
    ue_reorder_init(r, r->share);
}

/* endpoint.md 9.1. */
bool ue_reorder_create(struct ue_reorder *r) {
    if (ue_reorder_exists(r)) {
        return true;
    }
    size_t size_bytes = UE_REORDER_SLOTS * sizeof(struct ue_early *);
    r->slots = ue_share_alloc(r->share, size_bytes);
    if (r->slots == NULL) {
        return false;
    }
    memset(r->slots, 0, size_bytes);
    return true;
}

/* While something waits every packet takes its turn, even the one that fills the hole (endpoint.md 9.2, 9.3). */
static bool is_to_wait(const struct ue_reorder *r, uint32_t delta) {
    uint32_t missing = delta - 1;
    return ue_reorder_exists(r) && (r->count > 0 || (missing >= 1 && missing <= UE_REORDER_GAP_MAX));
}

/* endpoint.md 9.3. */
enum ue_reorder_result ue_reorder_push(struct ue_reorder *r, uint32_t delta, const uint8_t *bytes, size_t size_bytes) {
    if (!is_to_wait(r, delta)) {
        return UE_REORDER_PROCESS;
    }
    uint32_t distance = delta - 1 < SLOT_LAST ? delta - 1 : SLOT_LAST;
    struct ue_early **slot = slot_at(r, distance);
    if (*slot != NULL) {
        return UE_REORDER_DUPLICATE;
    }
    struct ue_early *early = size_bytes <= UINT32_MAX ? ue_share_alloc(r->share, sizeof *early + size_bytes) : NULL;
    if (early == NULL) {
        return UE_REORDER_FULL;
    }
    early->size_bytes = (uint32_t)size_bytes;
    memcpy(early->bytes, bytes, size_bytes);
    *slot = early;
    r->count++;
    r->is_overdue |= distance == SLOT_LAST;
    return UE_REORDER_KEPT;
}

/* endpoint.md 9.4, 9.5. */
struct ue_early *ue_reorder_pop(struct ue_reorder *r, bool whole) {
    if (r->count == 0) {
        return NULL;
    }
    while (*slot_at(r, 0) == NULL) {
        if (!whole && !r->is_overdue) {
            return NULL;
        }
        r->start++;
    }
    struct ue_early **slot = slot_at(r, 0);
    struct ue_early *early = *slot;
    *slot = NULL;
    r->start++;
    r->count--;
    r->is_overdue = r->is_overdue && r->count > 0;
    return early;
}

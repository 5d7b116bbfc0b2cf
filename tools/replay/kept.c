/* SPDX-License-Identifier: MIT */
#include "tools/replay/kept.h"

#include <glib.h>
#include <string.h>

#include "libcodec/seq.h"

#define WORD_BITS 32

void ue_kept_init(struct ue_kept_ring *ring, struct ue_kept_budget *budget) {
    memset(ring, 0, sizeof *ring);
    ring->budget = budget;
}

static void drop_slot(struct ue_kept_ring *ring, int64_t id) {
    struct ue_kept **slot = &ring->slots[id & (UE_KEPT_MAX - 1)];
    if (*slot != NULL) {
        ring->budget->used_bytes -= sizeof **slot + (*slot)->size_bytes;
        g_free(*slot);
        *slot = NULL;
    }
}

void ue_kept_free(struct ue_kept_ring *ring) {
    for (int64_t i = 0; i < UE_KEPT_MAX; i++) {
        drop_slot(ring, i);
    }
}

struct ue_kept *ue_kept_add(struct ue_kept_ring *ring, int64_t id, const uint8_t *bytes, size_t size_bytes) {
    struct ue_kept *kept;
    drop_slot(ring, id);
    size_t all_bytes = sizeof *kept + size_bytes;
    if (ring->budget->used_bytes + all_bytes > ring->budget->max_bytes) {
        return NULL;
    }
    ring->budget->used_bytes += all_bytes;
    kept = g_malloc(all_bytes);
    *kept = (struct ue_kept){.id = id, .size_bytes = size_bytes};
    memcpy(kept->bytes, bytes, size_bytes);
    ring->slots[id & (UE_KEPT_MAX - 1)] = kept;
    return kept;
}

void ue_kept_drop(struct ue_kept_ring *ring, int64_t before) {
    int64_t begin = before - ring->oldest > UE_KEPT_MAX ? before - UE_KEPT_MAX : ring->oldest;
    for (int64_t id = begin; id < before; id++) {
        if (ue_kept_find(ring, id) != NULL) {
            drop_slot(ring, id);
        }
    }
    ring->oldest = before > ring->oldest ? before : ring->oldest;
}

static int legacy_claim(const struct ue_kept *kept, int64_t packet_id) {
    for (unsigned i = 0; i < kept->ack_count; i++) {
        if (kept->acks[i] == ue_seq_of(packet_id)) {
            return 1;
        }
    }
    return -1;
}

int ue_kept_claim(const struct ue_kept *kept, int64_t packet_id) {
    if (kept->words == 0) {
        return legacy_claim(kept, packet_id);
    }
    int64_t age = kept->judged - packet_id;
    if (age < 0) {
        return packet_id <= kept->ack ? 0 : -1;
    }
    return age < kept->words * WORD_BITS ? (int)(kept->history[age / WORD_BITS] >> age % WORD_BITS & 1) : -1;
}

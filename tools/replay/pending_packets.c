/* SPDX-License-Identifier: MIT */
#include "tools/replay/pending_packets.h"

#include <glib.h>
#include <string.h>

#include <uerudp/seq.h>

#define WORD_BITS 32

void replay_packet_ring_init(struct replay_packet_ring *ring, struct replay_packet_memory *budget) {
    memset(ring, 0, sizeof *ring);
    ring->budget = budget;
}

static size_t above_reserve(const struct replay_packet_ring *ring, size_t used_bytes) {
    return used_bytes > ring->budget->reserve_bytes ? used_bytes - ring->budget->reserve_bytes : 0;
}

/* Adds to the memory in use. False: no memory, nothing changed. */
static bool account(struct replay_packet_ring *ring, size_t used_bytes) {
    struct replay_packet_memory *budget = ring->budget;
    size_t shared_bytes =
        budget->shared_bytes - above_reserve(ring, ring->used_bytes) + above_reserve(ring, used_bytes);
    bool is_too_much = used_bytes > budget->max_bytes || shared_bytes > budget->shared_max_bytes;
    if (is_too_much && used_bytes > ring->used_bytes) {
        return false;
    }
    budget->shared_bytes = shared_bytes;
    ring->used_bytes = used_bytes;
    return true;
}

static size_t memory_of(size_t size_bytes, uint32_t ack_count) {
    return sizeof(struct replay_packet) + size_bytes + size_bytes % 2 + ack_count * sizeof(uint16_t);
}

static void drop_slot(struct replay_packet_ring *ring, int64_t id) {
    struct replay_packet **slot = &ring->slots[id & (REPLAY_PACKETS_MAX - 1)];
    if (*slot != NULL) {
        account(ring, ring->used_bytes - memory_of((*slot)->size_bytes, (*slot)->ack_count));
        g_free(*slot);
        *slot = NULL;
    }
}

void replay_packet_ring_remove(struct replay_packet_ring *ring, int64_t id) {
    if (replay_packet_ring_find(ring, id) != NULL) {
        drop_slot(ring, id);
    }
}

void replay_packet_ring_free(struct replay_packet_ring *ring) {
    for (int64_t i = 0; i < REPLAY_PACKETS_MAX; i++) {
        drop_slot(ring, i);
    }
}

struct replay_packet *replay_packet_ring_insert(struct replay_packet_ring *ring, int64_t id, const uint8_t *bytes,
                                                size_t size_bytes, const uint16_t *acks, uint32_t ack_count) {
    struct replay_packet **slot = &ring->slots[id & (REPLAY_PACKETS_MAX - 1)];
    size_t all_bytes = memory_of(size_bytes, ack_count);
    if (*slot != NULL || !account(ring, ring->used_bytes + all_bytes)) {
        return NULL;
    }
    struct replay_packet *packet = g_malloc(all_bytes);
    *packet = (struct replay_packet){.id = id, .size_bytes = size_bytes, .ack_count = ack_count};
    memcpy(packet->bytes, bytes, size_bytes);
    packet->acks = (uint16_t *)(void *)(packet->bytes + size_bytes + size_bytes % 2);
    if (ack_count != 0) {
        memcpy(packet->acks, acks, ack_count * sizeof *acks);
    }
    *slot = packet;
    return packet;
}

void replay_packet_ring_drop(struct replay_packet_ring *ring, int64_t before) {
    int64_t start_side = before - ring->oldest > REPLAY_PACKETS_MAX ? before - REPLAY_PACKETS_MAX : ring->oldest;
    for (int64_t id = start_side; id < before; id++) {
        const struct replay_packet *packet = ring->slots[id & (REPLAY_PACKETS_MAX - 1)];
        if (packet != NULL && packet->id < before) {
            drop_slot(ring, id);
        }
    }
    ring->oldest = before > ring->oldest ? before : ring->oldest;
}

static int legacy_claim(const struct replay_packet *packet, int64_t packet_id) {
    for (uint32_t i = 0; i < packet->ack_count; i++) {
        if (packet->acks[i] == ue_seq_of(packet_id)) {
            return 1;
        }
    }
    return -1;
}

int replay_packet_acknowledges(const struct replay_packet *packet, int64_t packet_id) {
    if (packet->words == 0) {
        return legacy_claim(packet, packet_id);
    }
    int64_t age = packet->reported - packet_id;
    if (age < 0) {
        return packet_id <= packet->ack ? 0 : -1;
    }
    return age < packet->words * WORD_BITS ? (int)(packet->history[age / WORD_BITS] >> age % WORD_BITS & 1) : -1;
}

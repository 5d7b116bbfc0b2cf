/* SPDX-License-Identifier: MIT */
#include "tools/sim/number_queue.h"

#include <stdlib.h>

#define CAPACITY_FIRST 16

void sim_queue_free(struct sim_queue *queue) {
    free(queue->ring);
    *queue = (struct sim_queue){0};
}

static bool grow(struct sim_queue *queue) {
    uint32_t capacity = queue->capacity != 0 ? queue->capacity * 2 : CAPACITY_FIRST;
    uint64_t *ring = malloc(capacity * sizeof *ring);
    if (ring == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < queue->count; i++) {
        ring[i] = sim_queue_at(queue, i);
    }
    free(queue->ring);
    *queue = (struct sim_queue){.ring = ring, .capacity = capacity, .count = queue->count};
    return true;
}

bool sim_queue_push(struct sim_queue *queue, uint64_t number) {
    if (queue->count == queue->capacity && !grow(queue)) {
        return false;
    }
    queue->ring[(queue->begin + queue->count++) & (queue->capacity - 1)] = number;
    return true;
}

uint64_t sim_queue_at(const struct sim_queue *queue, uint32_t i) {
    return queue->ring[(queue->begin + i) & (queue->capacity - 1)];
}

void sim_queue_drop(struct sim_queue *queue, uint32_t count) {
    queue->begin += count;
    queue->count -= count;
}

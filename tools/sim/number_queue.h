/* SPDX-License-Identifier: MIT */
/* A queue of numbers: a ring that grows by doubling. */
#ifndef UERUDP_TOOLS_SIM_NUMBER_QUEUE_H
#define UERUDP_TOOLS_SIM_NUMBER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_queue {
    uint64_t *ring;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t begin;
    uint32_t count;
};

void sim_queue_free(struct sim_queue *queue);
/* False: no memory. */
bool sim_queue_push(struct sim_queue *queue, uint64_t number);
/* The i-th from the front, which must exist. */
uint64_t sim_queue_at(const struct sim_queue *queue, uint32_t i);
/* Removes `count` numbers from the front, which must exist. */
void sim_queue_drop(struct sim_queue *queue, uint32_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* A queue of outputs, datagrams or events: blocks in order, each of which lives until the next input after it was
   popped. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_OUTPUT_QUEUE_H
#define UERUDP_TOOLS_ENDPOINT_CORE_OUTPUT_QUEUE_H

#include <stdbool.h>

#include "tools/endpoint/base/memory_share.h"

struct ue_output_block {
    struct ue_output_block *next;
    size_t size_bytes;
    uint8_t bytes[];
};

struct ue_output_queue {
    struct ue_output_block *first;
    struct ue_output_block *last;
    struct ue_output_block *popped; /* popped since the last input */
    uint32_t count;
    uint32_t limit;
    struct ue_spares spares; /* blocks for the next outputs */
    struct ue_share *share;
};

/* spares_max: blocks that it keeps for its next outputs, instead of freeing them and allocating others. */
void ue_output_queue_init(struct ue_output_queue *queue, struct ue_share *share, uint32_t limit, uint32_t spares_max);
void ue_output_queue_free(struct ue_output_queue *queue);
/* A block to fill, not yet in the queue: push it, or free it in the share. NULL: the queue is full, or memory is
   short. */
struct ue_output_block *ue_output_queue_alloc(struct ue_output_queue *queue, size_t size_bytes);
void ue_output_queue_push(struct ue_output_queue *queue, struct ue_output_block *block);
/* Pushes a copy of bytes; false: the queue is full, or memory is short. */
bool ue_output_queue_push_copy(struct ue_output_queue *queue, const uint8_t *bytes, size_t size_bytes);
/* The next block; NULL when there is none. */
const struct ue_output_block *ue_output_queue_pop(struct ue_output_queue *queue);
/* Frees what was popped. */
void ue_output_queue_free_popped(struct ue_output_queue *queue);
void ue_output_queue_tick(struct ue_output_queue *queue);
/* An input begins. */
static inline void ue_output_queue_begin_input(struct ue_output_queue *queue) {
    if (queue->popped != NULL) {
        ue_output_queue_free_popped(queue);
    }
}

#endif

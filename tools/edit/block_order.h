/* SPDX-License-Identifier: MIT */
/* The output order of blocks: input order, except for blocks that rules delay, reorder or drop. Memory is bounded. */
#ifndef UERUDP_TOOLS_EDIT_BLOCK_ORDER_H
#define UERUDP_TOOLS_EDIT_BLOCK_ORDER_H

#include "tools/edit/block_writer.h"
#include "tools/rules/rules.h"

struct edit_output_queue;

/* The writer must outlive the queue. */
struct edit_output_queue *edit_output_queue_new(struct edit_writer *writer);
void edit_output_queue_free(struct edit_output_queue *queue);

/* Pushes a block, which the queue then owns. Returns false if writing fails; the writer has the reason. */
bool edit_output_queue_push(struct edit_output_queue *queue, struct edited_block *edited);

/* Pushes the datagram of a connection with the outcome of the rules, which its comment then describes. */
bool edit_output_queue_push_outcome(struct edit_output_queue *queue, struct edited_block *edited,
                                    const struct rules_outcome *outcome, uint32_t stream, enum ue_direction direction);

/* Writes everything that is waiting. */
bool edit_output_queue_finish(struct edit_output_queue *queue);

#endif

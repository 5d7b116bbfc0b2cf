/* SPDX-License-Identifier: MIT */
/* The order in which parcels go out: as they come, but for those that rules delay, reorder or drop. In bounded
   memory. */
#ifndef UERUDP_TOOLS_EDIT_OUTPUT_QUEUE_H
#define UERUDP_TOOLS_EDIT_OUTPUT_QUEUE_H

#include "tools/edit/writer.h"
#include "tools/rules/rules.h"

struct edit_output_queue;

/* The writer must outlive the line. */
struct edit_output_queue *edit_output_queue_new(struct edit_writer *writer);
void edit_output_queue_free(struct edit_output_queue *line);

/* Lets a parcel go its way; it is the line's now. False: the writer says why. */
bool edit_output_queue_push(struct edit_output_queue *line, struct edited_block *parcel);

/* The same for the datagram of a connection with what rules have decided about it, which the parcel then says. */
bool edit_output_queue_push_outcome(struct edit_output_queue *line, struct edited_block *parcel, const struct rules_outcome *outcome,
                         uint32_t stream, enum ue_direction direction);

/* Nothing more will come. */
bool edit_output_queue_finish(struct edit_output_queue *line);

#endif

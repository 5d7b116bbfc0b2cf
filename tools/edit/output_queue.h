/* SPDX-License-Identifier: MIT */
/* The order in which parcels go out: as they come, but for those that rules delay, reorder or drop. In bounded
   memory. */
#ifndef UERUDP_TOOLS_EDIT_OUTPUT_QUEUE_H
#define UERUDP_TOOLS_EDIT_OUTPUT_QUEUE_H

#include "tools/edit/writer.h"
#include "tools/rules/rules.h"

struct ue_edit_line;

/* The writer must outlive the line. */
struct ue_edit_line *ue_edit_line_new(struct ue_edit_writer *writer);
void ue_edit_line_free(struct ue_edit_line *line);

/* Lets a parcel go its way; it is the line's now. False: the writer says why. */
bool ue_edit_line_put(struct ue_edit_line *line, struct ue_parcel *parcel);

/* The same for the datagram of a connection with what rules have decided about it, which the parcel then says. */
bool ue_edit_line_judged(struct ue_edit_line *line, struct ue_parcel *parcel, const struct ue_outcome *outcome,
                         uint32_t stream, enum ue_direction direction);

/* Nothing more will come. */
bool ue_edit_line_end(struct ue_edit_line *line);

#endif

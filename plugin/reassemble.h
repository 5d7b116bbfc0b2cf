/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts messages together on the first pass: gives what the tracker tells to the reassembly of the stream, keeps chains,
   and notes them on the datagrams of their fragments. */
#ifndef UE_REASSEMBLE_H
#define UE_REASSEMBLE_H

#include "plugin/compat.h"

#include "libcodec/assembly.h"

struct ue_visit;

/* Takes an event of a datagram. What it proved broken, if anything: the problem. */
enum ue_assembly_problem ue_reassemble_take(struct ue_assembly *assembly, struct ue_visit *visit,
                                            const struct ue_context *context, const struct ue_track_event *event);

/* Behind the last event of a datagram. */
void ue_reassemble_end(struct ue_assembly *assembly, struct ue_visit *visit, const struct ue_context *context);

#endif

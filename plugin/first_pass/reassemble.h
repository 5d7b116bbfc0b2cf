/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts messages together on the first pass: gives what the tracker tells to the reassembly of the stream, keeps chains,
   and notes them on the datagrams of their fragments. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_REASSEMBLE_H
#define UERUDP_PLUGIN_FIRST_PASS_REASSEMBLE_H

#include "plugin/compat.h"

#include "plugin/first_pass/knowledge.h"

struct ue_visit;

/* Where what one datagram tells goes to. */
struct ue_reassembly {
    struct ue_assembly *assembly;
    struct ue_knowledge *knowledge; /* of the stream */
    struct ue_visit *visit;
    const struct ue_context *context;
};

/* Takes an event of a datagram. What it proved broken, if anything: the problem. */
enum ue_assembly_problem ue_reassemble_take(const struct ue_reassembly *to, const struct ue_track_event *event);

/* Behind the last event of a datagram. */
void ue_reassemble_end(const struct ue_reassembly *to);

#endif

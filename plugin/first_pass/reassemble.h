/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts messages together on the first pass: gives what the tracker tells to the reassembly of the stream, keeps chains,
   and notes them on the datagrams of their fragments. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_REASSEMBLE_H
#define UERUDP_PLUGIN_FIRST_PASS_REASSEMBLE_H

#include "plugin/compat.h"

#include "plugin/first_pass/knowledge.h"

struct uerudp_frame_state;

/* Where what one datagram tells goes to. */
struct uerudp_reassemble_target {
    struct ue_reassembly *assembly;
    struct uerudp_knowledge *knowledge; /* of the stream */
    struct uerudp_frame_state *visit;
    const struct ue_context *context;
};

/* Takes an event of a datagram. What it proved broken, if anything: the problem. */
enum ue_reassembly_problem uerudp_reassemble_event(const struct uerudp_reassemble_target *to, const struct ue_tracker_event *event);

/* Behind the last event of a datagram. */
void uerudp_reassemble_end(const struct uerudp_reassemble_target *to);

#endif

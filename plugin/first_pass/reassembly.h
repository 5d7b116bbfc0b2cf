/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reassembles messages on the first pass, and adds results to the datagrams of their fragments. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_REASSEMBLY_H
#define UERUDP_PLUGIN_FIRST_PASS_REASSEMBLY_H

#include "plugin/compat.h"

#include "plugin/first_pass/known_objects.h"

struct uerudp_frame_state;

/* Where the events of one datagram go. */
struct uerudp_reassembly_target {
    struct ue_reassembly *assembly;
    struct uerudp_known_objects *objects; /* of the stream */
    struct uerudp_frame_state *state;
    const struct ue_context *context;
};

/* Handles an event of a datagram. Returns the problem that it revealed in a reassembly. */
enum ue_reassembly_problem uerudp_reassembly_on_event(const struct uerudp_reassembly_target *to,
                                                      const struct ue_tracker_event *event);

/* Call it after the last event of a datagram. */
void uerudp_reassembly_end_datagram(const struct uerudp_reassembly_target *to);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reassembled messages, and fragments that were given up. The first pass stores them in file scope, with the datagram
   that completes the message or reveals the problem. No fragment is stored twice, so the total is smaller than the
   capture file. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_REASSEMBLY_RESULTS_H
#define UERUDP_PLUGIN_FIRST_PASS_REASSEMBLY_RESULTS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/reassembly.h>

struct uerudp_frame_state;

struct uerudp_reassembly_result {
    const struct uerudp_reassembly_result *next; /* of the same datagram; NULL: none */
    uint32_t item;                               /* the bunch that completes the message, or reveals the problem */
    uint32_t channel;
    bool is_whole;
    bool is_kind_guessed;
    enum ue_reassembly_problem problem; /* of a whole message: TOO_LARGE or none */
    struct ue_content content;          /* of a whole message; begins at bit 0, padded with zero bits */
    uint32_t fragment_count;
    struct ue_fragment fragments[];
};

void uerudp_reassembly_results_register(void);

/* Stores a MESSAGE of several fragments, or ABANDONED. */
void uerudp_reassembly_results_add(struct uerudp_frame_state *state, const struct ue_observed_event *event);

/* The results of a datagram in the order in which they were added; NULL: none. */
const struct uerudp_reassembly_result *uerudp_reassembly_results_of_datagram(const struct uerudp_frame_state *state);

/* The message, not custom exports, that a bunch completes; NULL: none. */
const struct uerudp_reassembly_result *uerudp_reassembly_results_find_message(const struct uerudp_frame_state *state,
                                                                              uint32_t item);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages that were put together from fragments, and fragments that were given up: kept on the first pass with the
   datagram that told, in the scope of the capture file. No fragment is kept twice, so that all of them together are
   smaller than the file. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_REASSEMBLY_RESULTS_H
#define UERUDP_PLUGIN_FIRST_PASS_REASSEMBLY_RESULTS_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/reassembly.h>

struct uerudp_frame_state;

struct uerudp_reassembly_result {
    const struct uerudp_reassembly_result *next; /* of the same datagram; NULL: none */
    uint32_t item;               /* the bunch that completed it, or proved it broken */
    uint32_t channel;
    bool is_whole;
    bool is_kind_guessed;
    enum ue_reassembly_problem problem; /* TOO_LARGE, where it is whole */
    struct ue_content content;        /* of a whole one; data begins at bit 0, zeros behind it */
    uint32_t fragment_count;
    struct ue_fragment fragments[];
};

void uerudp_reassembly_results_register(void);

/* Keeps what an event tells: WHOLE that is joined, or GIVEN_UP. */
void uerudp_reassembly_results_add(struct uerudp_frame_state *visit, const struct ue_reassembly_event *event);

/* The chains that a datagram told of, in their order; NULL: none. */
const struct uerudp_reassembly_result *uerudp_reassembly_results_of_datagram(const struct uerudp_frame_state *visit);

/* The message, no custom exports, that a bunch completed; NULL: none. */
const struct uerudp_reassembly_result *uerudp_reassembly_results_find_message(const struct uerudp_frame_state *visit, uint32_t item);

#endif

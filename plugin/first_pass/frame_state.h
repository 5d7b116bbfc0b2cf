/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of each datagram from the first pass over a capture to the later ones. Found by the number of its frame:
   Wireshark's own data of a frame would cost ten times the instructions, and twice the memory. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_FRAME_STATE_H
#define UERUDP_PLUGIN_FIRST_PASS_FRAME_STATE_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/detection.h>

struct uerudp_connection;

/* What is kept of one datagram. */
struct uerudp_frame_state {
    struct uerudp_connection *connection;
    struct ue_decode_state frame;
    uint32_t number;       /* of the frame that it came in */
    uint32_t layer;        /* in a tunnel, one frame has several datagrams */
    uint32_t notes;        /* where notes.h keeps them; 0: none */
    uint32_t chains;       /* where chains.h keeps them; 0: none */
    struct uerudp_frame_state *next; /* of the same frame; NULL: none */
};

void uerudp_frame_state_register(void);

/* A visit for the present datagram, to be filled; lives until the capture is closed. */
struct uerudp_frame_state *uerudp_frame_state_add(const packet_info *pinfo);

/* What was kept of the present datagram; NULL when nothing was. */
struct uerudp_frame_state *uerudp_frame_state_find(const packet_info *pinfo);

/* The first visit of a frame, see next; NULL when nothing was kept of it. */
struct uerudp_frame_state *uerudp_frame_state_of_frame(uint32_t number);

/* Whether generation and bounds are settled for the datagram. Before that, on the first pass, it is decoded with the
   choice that fits best so far, and a fault may be the fault of that choice. */
bool uerudp_frame_state_is_final(const struct uerudp_frame_state *visit, const packet_info *pinfo);

#endif

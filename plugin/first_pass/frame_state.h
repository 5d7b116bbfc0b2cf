/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of each datagram that the first pass leaves to later passes, found by frame number. Wireshark's per-frame data
   (p_add_proto_data) costs ten times as many instructions and twice as much memory. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_FRAME_STATE_H
#define UERUDP_PLUGIN_FIRST_PASS_FRAME_STATE_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/observer.h>

/* Whether a datagram is of another protocol, once the observer returned it; it never decides again. */
enum uerudp_frame_protocol {
    UERUDP_FRAME_UNDECIDED, /* it waits until its generation is certain */
    UERUDP_FRAME_OURS,
    UERUDP_FRAME_FOREIGN
};

/* State of one datagram. */
struct uerudp_frame_state {
    const struct ue_observed_connection *connection;
    struct ue_decode_state decode;
    uint32_t frame_number;
    uint32_t layer : 29;             /* a frame of a tunnel may hold several datagrams */
    uint32_t protocol : 2;           /* enum uerudp_frame_protocol */
    uint32_t is_other_view : 1;      /* another interface captured this packet before, with its analysis */
    uint32_t results;                /* position of its analysis results; 0: none */
    uint32_t reassemblies;           /* index of its reassembly results, from 1; 0: none */
    struct uerudp_frame_state *next; /* of another datagram in the same frame; NULL: none */
};

void uerudp_frame_state_register(void);

/* Allocates the state of the current datagram in file scope. The caller fills connection and decode. */
struct uerudp_frame_state *uerudp_frame_state_add(const packet_info *pinfo);

/* The state of the current datagram with its final packet ids; NULL: none. */
struct uerudp_frame_state *uerudp_frame_state_find(const packet_info *pinfo);

/* The state of the datagram in a layer of a frame; NULL: none. */
struct uerudp_frame_state *uerudp_frame_state_of_layer(uint32_t frame_number, uint32_t layer);

/* The first state of a frame, see next; NULL: none. */
struct uerudp_frame_state *uerudp_frame_state_of_frame(uint32_t frame_number);

/* Whether a datagram belongs to another protocol and is left to other dissectors: the decision of the observer, or what
   seems so while it is undecided (ue_detection_is_foreign). */
bool uerudp_frame_state_is_foreign(const struct uerudp_frame_state *state, const uint8_t *bytes, size_t size_bytes,
                                   bool is_cut);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps each datagram to its connection on the first pass. Later passes only read. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_CONVERSATION_H
#define UERUDP_PLUGIN_FIRST_PASS_CONVERSATION_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/detection.h>
#include "plugin/decryption_keys.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/tree/field_items.h"

/* One connection. A pair of addresses with ports may have several, one after another. */
struct uerudp_connection {
    struct ue_detection detection;
    struct ue_cipher_session *session; /* NULL: its traffic cannot be decrypted */
    uint32_t stream;                   /* of the connection that this one continues, once that is known */
    uint32_t first_frame;              /* frame number of its first datagram */
    struct uerudp_observer *observer;  /* shared with the connections that it continues; NULL: not analysed */
    bool is_proven;     /* a port, the table of servers or its handshake shows that it is this protocol */
    bool is_moving;     /* has begun a restart handshake that has not yet named the earlier connection */
    bool has_moved;     /* the restart handshake has named it */
    bool is_unanswered; /* began with packets from one side, and waits for an answer, which may be a restart
                           handshake */
};

void uerudp_conversation_register(void);

/* Assigns a datagram to its connection; call it once for each datagram, in capture order. is_ours: a port or the table
   of servers selects this protocol. NULL: not this protocol, or not yet proven. */
const struct uerudp_frame_state *uerudp_conversation_observe(const packet_info *pinfo,
                                                             const struct uerudp_captured_bytes *bytes, bool is_ours);

/* Whether some peers began like this protocol, so that a packet may prove it. */
bool uerudp_conversation_any_is_pending(void);

/* The state that the first pass stored for this datagram, with its final packet ids; NULL: none. */
const struct uerudp_frame_state *uerudp_conversation_find_frame_state(const packet_info *pinfo);

/* One more than the greatest stream number. */
uint32_t uerudp_conversation_stream_count(void);

/* The connection with this stream number; NULL: none, or it continues an earlier one. */
const struct uerudp_connection *uerudp_conversation_of_stream(uint32_t stream);

/* Whether a datagram belongs to another protocol and is left to other dissectors (ue_detection_is_foreign). */
bool uerudp_conversation_is_foreign(const struct uerudp_frame_state *state, const struct uerudp_captured_bytes *bytes);

#endif

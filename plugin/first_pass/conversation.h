/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is learned of connections on the first pass. Later passes only read. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_CONVERSATION_H
#define UERUDP_PLUGIN_FIRST_PASS_CONVERSATION_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include <uerudp/detection.h>
#include "plugin/decryption.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/tree/tree_items.h"

/* One connection; a conversation (a pair of addresses with ports) may see several, one after the other. */
struct uerudp_connection {
    struct ue_detection flow;
    struct ue_cipher_session *session; /* NULL: nothing of its traffic can be decrypted */
    uint32_t stream;      /* that of the connection which this one continues on other addresses, once that is known */
    uint32_t first_frame; /* number of the frame with its first datagram */
    struct uerudp_observer *observer; /* shared by connections that continue one another; NULL: nothing was analysed */
    bool is_proven;               /* a port, the table of servers, or its handshake says that it is ours */
    bool is_moving;               /* a restart handshake has not told so far which connection this one continues */
    bool has_moved;               /* it has */
    bool is_unanswered;           /* the first side began in the middle and waits, perhaps for a restart handshake */
};

void uerudp_conversation_register(void);

/* Observes a datagram, once, in capture order. is_ours: because of a port or the table of servers. NULL when it is not
   ours, and cannot prove that its conversation is. */
const struct uerudp_frame_state *uerudp_conversation_observe(const packet_info *pinfo, const struct uerudp_captured_bytes *bytes, bool is_ours);

/* Whether some conversation began like ours, so that ordinary packets, too, may prove one. */
bool uerudp_conversation_any_is_pending(void);

/* On a later pass: what was kept of the datagram, with its numbers as they are known by now; NULL: nothing. */
const struct uerudp_frame_state *uerudp_conversation_find_frame_state(const packet_info *pinfo);

/* Connections shown so far: their numbers are below it. */
uint32_t uerudp_conversation_stream_count(void);

/* The connection that has this number; NULL: none, or the one that had it continues an earlier one. */
const struct uerudp_connection *uerudp_conversation_of_stream(uint32_t stream);

/* Whether a datagram is left to other dissectors (ue_detection_is_foreign). */
bool uerudp_conversation_is_foreign(const struct uerudp_frame_state *visit, const struct uerudp_captured_bytes *bytes);

#endif

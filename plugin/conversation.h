/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is learned on the first pass: connections, and what is kept of each datagram. Later passes only read. */
#ifndef UE_CONVERSATION_H
#define UE_CONVERSATION_H

#include "plugin/compat.h"

#include <epan/packet_info.h>

#include "libcodec/flow.h"

/* One connection; a conversation (a pair of addresses with ports) may see several, one after the other. */
struct ue_connection {
    struct ue_flow flow;
    uint32_t number;         /* in the order of first datagrams */
    uint32_t earlier_number; /* of the connection that this one continues on other addresses */
    bool is_moved;           /* it is known that it does */
    uint32_t first_frame;    /* number of the frame with its first datagram */
    bool is_proven;          /* a port, the table of servers, or its handshake says that it is ours */
};

/* What is kept of one datagram. */
struct ue_visit {
    struct ue_connection *connection;
    bool is_moved; /* what was known of the connection at this datagram, so that every pass shows the same */
    struct ue_frame frame;
};

/* The bytes of a datagram as far as they were captured. */
struct ue_bytes {
    const uint8_t *base;
    size_t size;
    bool is_cut; /* there were more */
};

void ue_conversation_register(void);

/* Observes a datagram, once, in capture order. is_ours: because of a port or the table of servers. NULL when it is not
   ours and is no handshake either. */
const struct ue_visit *ue_conversation_observe(packet_info *pinfo, const struct ue_bytes *bytes, bool is_ours);

/* What was kept of a datagram; NULL when nothing was. */
const struct ue_visit *ue_conversation_recall(packet_info *pinfo);

/* The stream as users see it. */
uint32_t ue_visit_stream(const struct ue_visit *visit);

/* Whether the generation of this datagram rests on nothing: then an undecodable datagram is somebody else's. */
bool ue_visit_is_doubtful(const struct ue_visit *visit);

#endif

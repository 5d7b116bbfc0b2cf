/* SPDX-License-Identifier: MIT */
/* The facts about one datagram that rules test: from the datagram itself and from the tracker of its connection. */
#ifndef UERUDP_TOOLS_RULES_DATAGRAM_FACTS_H
#define UERUDP_TOOLS_RULES_DATAGRAM_FACTS_H

#include <glib.h>

#include <uerudp/packet_tracker.h>
#include "tools/rules/datagram_kind.h"

struct bunch_facts {
    uint32_t item;  /* index of the item in the packet, from 0 */
    uint32_t kinds; /* a mask, see tools/rules/datagram_kind.h */
    uint32_t channel;
    uint32_t ch_seq;   /* as on the wire */
    uint32_t copy;     /* reliable: 1 for the first transmission, 2 for the first retransmission; 0: unknown */
    uint64_t messages; /* a bit for each control message type below 64 in it */
};

/* Read only, except begun_ns, which the caller sets. */
struct datagram_facts {
    int64_t begun_ns; /* zero of the condition `time` */

    const struct ue_context *context; /* NULL: the datagram is not recognised */
    const uint8_t *bytes;
    size_t size_bytes;
    uint32_t stream;
    uint64_t frame;
    int64_t time_ns;
    enum ue_direction direction;
    bool has_seq;
    uint16_t seq; /* of a packet, as on the wire */
    bool has_id;
    int64_t packet_id; /* the full number of seq */
    uint32_t kinds;    /* of the datagram, without the kinds of its bunches */
    GArray *bunches;   /* struct bunch_facts, in wire order */
    guint tracked;     /* number of bunches that the tracker has reported */
};

/* Initialises facts about nothing. */
void datagram_facts_init(struct datagram_facts *facts);
void datagram_facts_clear(struct datagram_facts *facts);

/* Reads a datagram, whose context and bytes must outlive the facts. If it is malformed, the facts have the bunches
   before the fault. With context NULL, side (0: client) gives the direction. */
void datagram_facts_read(struct datagram_facts *facts, uint32_t stream, const struct ue_tracker_datagram *datagram);

/* The event function of a track sink whose user is the facts: feed the same datagram to the connection's tracker
   after datagram_facts_read. Without it transmission counts are unknown, and packet ids are known only if the
   datagram's packet_ids have them. */
void datagram_facts_on_event(void *user, const struct ue_observed_event *event);

#endif

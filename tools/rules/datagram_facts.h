/* SPDX-License-Identifier: MIT */
/* What rules ask about one datagram: what it says by itself, and what the tracker of its connection knows of it. */
#ifndef UERUDP_TOOLS_RULES_DATAGRAM_FACTS_H
#define UERUDP_TOOLS_RULES_DATAGRAM_FACTS_H

#include <glib.h>

#include <uerudp/packet_tracker.h>
#include "tools/rules/datagram_kind.h"

/* One bunch. */
struct bunch_facts {
    uint32_t item;  /* its place in the packet, from 0 */
    uint32_t kinds; /* mask, see tools/rules/datagram_kind.h */
    uint32_t channel;
    uint32_t ch_seq;   /* as on the wire */
    uint32_t copy;     /* reliable: 1 the first, 2 sent again for the first time; 0: not known */
    uint64_t messages; /* control messages in it: a bit for each type below 64 */
};

/* The members are for reading; begun_ns is the caller's, all others are set by datagram_facts_read and datagram_facts_on_event. */
struct datagram_facts {
    int64_t begun_ns; /* where `time` counts from */

    const struct ue_context *context; /* NULL: of no known form */
    const uint8_t *bytes;
    size_t size_bytes;
    uint32_t stream;
    uint64_t frame;
    int64_t time_ns;
    enum ue_direction direction;
    bool has_seq;
    uint16_t seq; /* packets: as on the wire */
    bool has_id;
    int64_t packet_id; /* full number of seq */
    uint32_t kinds;    /* of the datagram, without those of its bunches */
    GArray *bunches;   /* struct bunch_facts, in wire order */
    guint tracked;     /* of them, those that the tracker has told about */
};

/* Starts with nothing known. */
void datagram_facts_init(struct datagram_facts *facts);
void datagram_facts_clear(struct datagram_facts *facts);

/* Reads a datagram, whose context and bytes must outlive the use of the facts. A malformed one gives the bunches before
   its fault; with a context NULL side still tells the direction: 0 is the client. */
void datagram_facts_read(struct datagram_facts *facts, uint32_t stream, const struct ue_tracker_datagram *datagram);

/* The event function of a ue_tracker_callbacks whose user is the facts: feed the same datagram to the connection's tracker
   after datagram_facts_read. Without it copies are not known, and ids only as far as the datagram's links say. */
void datagram_facts_on_event(void *user, const struct ue_tracker_event *event);

#endif

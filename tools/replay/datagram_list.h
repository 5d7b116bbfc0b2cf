/* SPDX-License-Identifier: MIT */
/* The datagrams of one direction of a capture, all in memory, so that only the schedule delays them. */
#ifndef UERUDP_TOOLS_REPLAY_DATAGRAM_LIST_H
#define UERUDP_TOOLS_REPLAY_DATAGRAM_LIST_H

#include "tools/replay/replay.h"

/* limit of all together */
#define DATAGRAM_LIST_BYTES_MAX (1u << 30)

struct datagram_list_item {
    uint64_t time_ns; /* since the first; where capture times decrease, the time of the one before */
    size_t offset;    /* in bytes */
    uint32_t size_bytes;
    uint32_t sender; /* from 0: connections in the order of their first datagrams */
};

struct datagram_list {
    GArray *list; /* struct datagram_list_item */
    GByteArray *bytes;
    uint32_t senders;
    uint64_t skipped; /* cut by a snap length, or of another protocol */
};

/* Reads what the user selects; without a direction, the datagrams of clients. False, with a message: there are none, or
   too many. Clear it in any case. */
bool datagram_list_read(struct datagram_list *datagrams, struct replay_command *replay);
void datagram_list_clear(struct datagram_list *datagrams);

#endif

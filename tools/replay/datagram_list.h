/* SPDX-License-Identifier: MIT */
/* The datagrams of one direction of a capture, all in memory, so that nothing but the clock holds them back. */
#ifndef UERUDP_TOOLS_REPLAY_DATAGRAM_LIST_H
#define UERUDP_TOOLS_REPLAY_DATAGRAM_LIST_H

#include "tools/replay/replay.h"

/* More is refused. */
#define DATAGRAM_LIST_BYTES_MAX (1u << 30)

struct datagram_list_item {
    uint64_t time_ns; /* since the first; one that was captured out of order counts as captured with it */
    size_t offset;    /* into bytes */
    uint32_t size_bytes;
    uint32_t sender; /* from 0: connections in the order of their first shots */
};

struct datagram_list {
    GArray *list; /* struct datagram_list_item */
    GByteArray *bytes;
    uint32_t senders;
    uint64_t skipped; /* cut by a snap length, or foreign */
};

/* Reads what the user selects; without a direction, what clients sent. False, with a message, when that is nothing or
   too much. Clear it in any case. */
bool datagram_list_read(struct datagram_list *shots, struct replay_command *replay);
void datagram_list_clear(struct datagram_list *shots);

#endif

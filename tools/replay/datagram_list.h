/* SPDX-License-Identifier: MIT */
/* The datagrams of one direction of a capture, all in memory, so that nothing but the clock holds them back. */
#ifndef UERUDP_TOOLS_REPLAY_DATAGRAM_LIST_H
#define UERUDP_TOOLS_REPLAY_DATAGRAM_LIST_H

#include "tools/replay/replay.h"

/* More is refused. */
#define UE_SHOTS_BYTES_MAX (1u << 30)

struct ue_shot {
    uint64_t time_ns; /* since the first; one that was captured out of order counts as captured with it */
    size_t offset;    /* into bytes */
    uint32_t size_bytes;
    uint32_t sender; /* from 0: connections in the order of their first shots */
};

struct ue_shots {
    GArray *list; /* struct ue_shot */
    GByteArray *bytes;
    uint32_t senders;
    uint64_t skipped; /* cut by a snap length, or foreign */
};

/* Reads what the user selects; without a direction, what clients sent. False, with a message, when that is nothing or
   too much. Clear it in any case. */
bool ue_shots_read(struct ue_shots *shots, struct ue_replay *replay);
void ue_shots_clear(struct ue_shots *shots);

#endif

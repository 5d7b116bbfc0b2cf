/* SPDX-License-Identifier: MIT */
/* Whether the sequence of a packet fits its place in the capture. A sender counts up by one, so a sequence that is far
   from those before and after it, or that another packet has, too, was changed. */
#ifndef UERUDP_TOOLS_REPLAY_PACKET_PLACEMENT_H
#define UERUDP_TOOLS_REPLAY_PACKET_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#define PACKET_PLACEMENT_ARRIVALS 1024 /* newest ids of which arrivals are known */

struct placement_arrival {
    int64_t id;
    int64_t previous_id; /* captured before it */
    uint64_t frame;
    uint32_t hash; /* of its bytes */
};

struct packet_placement {
    int64_t last_id;   /* captured last; 0: none */
    int64_t newest_id; /* of those that fit; */
    bool has_doubtful; /* ... unless one that is far from them does, which the next packet shows */
    struct placement_arrival doubtful;
    struct placement_arrival arrivals[PACKET_PLACEMENT_ARRIVALS]; /* by id */
};

/* A packet whose sequence does not fit. */
struct misplaced_packet {
    uint64_t frame;       /* 0: none */
    int64_t id;           /* that it claims */
    int64_t expected_id;  /* 0: unknown */
    uint64_t other_frame; /* has the same sequence, and it is unknown which of both is right; 0: none */
    bool was_accepted;    /* it was stored under its id */
    bool is_this;         /* it is the packet that was just captured */
};

/* The next packet, with its full id; first_id is that of the first packet of the connection, 0: unknown. Returns false
   if it is a duplicate. */
bool packet_placement_add(struct packet_placement *placement, const struct placement_arrival *arrival, int64_t first_id,
                          struct misplaced_packet *misplaced);

#endif

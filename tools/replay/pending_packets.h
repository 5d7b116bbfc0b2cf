/* SPDX-License-Identifier: MIT */
/* Packets of one side that somebody has still to look at, by id. */
#ifndef UERUDP_TOOLS_REPLAY_PENDING_PACKETS_H
#define UERUDP_TOOLS_REPLAY_PENDING_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uerudp/packet.h>

#define REPLAY_PACKETS_MAX 4096 /* packets of a side; an older one gives way */

struct replay_packet {
    uint64_t frame;
    int64_t time_ns;
    int64_t id;
    int64_t judged;      /* modern headers: the newest packet of the other side with a verdict in the history; */
    int64_t ack;         /* ... the newest acknowledged at all */
    int64_t peer_newest; /* the newest packet of the other side when this one was captured */
    bool is_premature;   /* of a server, before the client said anything */
    uint8_t words;       /* 0: a legacy packet, */
    uint16_t *acks;      /* ... which acknowledges these; behind the bytes */
    uint32_t ack_count;
    uint32_t history[UE_HISTORY_WORDS_MAX];
    size_t size_bytes;
    uint8_t bytes[];
};

/* Memory of all rings together: each has a reserve that no other ring can use, and what a ring uses above its reserve
   counts here. */
struct replay_packet_memory {
    size_t shared_bytes;
    size_t shared_max_bytes;
    size_t reserve_bytes; /* of a ring; */
    size_t max_bytes;     /* ... and the most that it may use */
};

struct replay_packet_ring {
    struct replay_packet *slots[REPLAY_PACKETS_MAX];
    struct replay_packet_memory *budget;
    size_t used_bytes;
    int64_t oldest; /* none before it is left */
};

void replay_packet_ring_init(struct replay_packet_ring *ring, struct replay_packet_memory *budget);
void replay_packet_ring_free(struct replay_packet_ring *ring);

/* A copy of a legacy packet's acks, or NULL and 0, and of its bytes; members but id, sizes and copies are zero. NULL:
   there is no memory for it, or an older packet that is still kept has its place. */
struct replay_packet *replay_packet_ring_insert(struct replay_packet_ring *ring, int64_t id, const uint8_t *bytes, size_t size_bytes,
                            const uint16_t *acks, uint32_t ack_count);

/* NULL: it is not there. */
static inline struct replay_packet *replay_packet_ring_find(const struct replay_packet_ring *ring, int64_t id) {
    struct replay_packet *kept = ring->slots[id & (REPLAY_PACKETS_MAX - 1)];
    return kept != NULL && kept->id == id ? kept : NULL;
}

/* Drops all before this id. */
void replay_packet_ring_drop(struct replay_packet_ring *ring, int64_t before);

/* What a header says of a packet of the other side: 1 delivered, 0 not, -1 nothing. */
int replay_packet_acknowledges(const struct replay_packet *kept, int64_t packet_id);

#endif

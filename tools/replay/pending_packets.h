/* SPDX-License-Identifier: MIT */
/* A ring of one side's packets that are still to be compared or reported, by id. */
#ifndef UERUDP_TOOLS_REPLAY_PENDING_PACKETS_H
#define UERUDP_TOOLS_REPLAY_PENDING_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uerudp/packet.h>

#define REPLAY_PACKETS_MAX 4096 /* packets of a side; a newer one replaces the oldest */

struct replay_packet {
    uint64_t frame;
    int64_t time_ns;
    int64_t id;
    int64_t reported;     /* headers with history: the newest packet of the other side that the history reports; */
    int64_t ack;          /* ... and the newest one that is acknowledged */
    int64_t peer_newest;  /* the newest packet of the other side when this one was captured */
    bool is_out_of_place; /* it was not captured after the packet with the id before it */
    bool is_premature;    /* of a server, before the client sent anything */
    uint8_t session_id, client_id;
    uint8_t words;  /* 0: a legacy packet, */
    uint16_t *acks; /* ... which acknowledges these; stored after bytes */
    uint32_t ack_count;
    uint32_t history[UE_HISTORY_WORDS_MAX];
    size_t size_bytes;
    uint8_t bytes[];
};

/* Memory of all rings: each has a reserve of its own, and what rings use above their reserves counts here. */
struct replay_packet_memory {
    size_t shared_bytes;
    size_t shared_max_bytes;
    size_t reserve_bytes; /* of a ring; */
    size_t max_bytes;     /* ... and its limit */
};

struct replay_packet_ring {
    struct replay_packet *slots[REPLAY_PACKETS_MAX];
    struct replay_packet_memory *budget;
    size_t used_bytes;
    int64_t oldest; /* no older packet is left */
};

void replay_packet_ring_init(struct replay_packet_ring *ring, struct replay_packet_memory *budget);
void replay_packet_ring_free(struct replay_packet_ring *ring);

/* Copies a packet and its legacy acks (or NULL and 0); all other members but id and sizes are zero. NULL: no memory, or
   the ring holds an older packet in its place. */
struct replay_packet *replay_packet_ring_insert(struct replay_packet_ring *ring, int64_t id, const uint8_t *bytes,
                                                size_t size_bytes, const uint16_t *acks, uint32_t ack_count);

/* NULL: not found. */
static inline struct replay_packet *replay_packet_ring_find(const struct replay_packet_ring *ring, int64_t id) {
    struct replay_packet *packet = ring->slots[id & (REPLAY_PACKETS_MAX - 1)];
    return packet != NULL && packet->id == id ? packet : NULL;
}

void replay_packet_ring_remove(struct replay_packet_ring *ring, int64_t id);

/* Drops all packets before this id. */
void replay_packet_ring_drop(struct replay_packet_ring *ring, int64_t before);

/* What a header reports of a packet of the other side: 1 delivered, 0 not, -1 nothing. */
int replay_packet_acknowledges(const struct replay_packet *packet, int64_t packet_id);

#endif

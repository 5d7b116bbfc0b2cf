/* SPDX-License-Identifier: MIT */
/* The passive tracker: what the two ends of a connection did, as far as a capture shows it. Full packet and channel
   sequence numbers, gaps, reordering, acknowledgements, resends, channels and handshakes (protocol.md 6, 9;
   endpoint.md 15 to 20; the words are those of `analysis.*` in fields.def). Datagrams of both ends go in, in capture
   order; events come out.

   "Not acknowledged" and "lost" are kept apart: NACKED is what a receiver reports, MISSING what the capture shows. */
#ifndef UERUDP_PACKET_TRACKER_H
#define UERUDP_PACKET_TRACKER_H

#include <uerudp/allocator.h>
#include <uerudp/datagram.h>

/* What one tracker holds at most, whatever a capture says: bytes, all tables together. */
#define UE_TRACKER_BYTES_MAX (4u << 20)

enum ue_tracker_event_type {
    UE_TRACKER_HANDSHAKE, /* a handshake message; span_ns: since the message that it answers, -1 unknown */
    UE_TRACKER_PACKET,    /* an ordinary packet; is_duplicate, is_late, span_ns: since the packet before of this side */
    UE_TRACKER_LOST,   /* packet_id to last_id were not seen before this packet; they may still come (is_late) */
    UE_TRACKER_NOT_LOST, /* ... and none of that was true: the number of the packet in other_frame is damaged */
    UE_TRACKER_ACK,  /* this packet reports packet_id of the other side as delivered; other_frame, span_ns: since it */
    UE_TRACKER_NAK, /* ... as not delivered. Up to 4.21 also of one that was ACKED, where both acks are known to be
                        lost: its sender learned of a loss. The later verdict holds */
    UE_TRACKER_BUNCH,  /* a bunch in this packet; members below */
    UE_TRACKER_CHANNEL_OPENED, /* the bunch opens its channel */
    UE_TRACKER_CHANNEL_CLOSED, /* the bunch closes it, for close_reason; channel 0: the connection. span_ns: it was open */
    UE_TRACKER_RESTARTED   /* a restart handshake is over: the connection goes on, perhaps from other addresses */
};

/* Members that a type does not name are zero; they live during the call. span_ns is -1 where it is not known. */
struct ue_tracker_event {
    enum ue_tracker_event_type type;
    uint64_t frame;
    int64_t time_ns;
    unsigned side;        /* who sent the datagram: 0 or 1 */
    int64_t packet_id;    /* PACKET, BUNCH, OPENED, CLOSED: full number of this packet; all others: what they tell of */
    int64_t last_id;      /* MISSING, DISPROVED */
    uint64_t other_frame; /* ACKED, NACKED: where that packet was seen, 0: nowhere (ack of unseen). DISPROVED; 0:
                             forgotten. BUNCH, a copy: the frame of the copy before */
    uint32_t other_item;  /* BUNCH, a copy: the place of the copy before among the items of its packet */
    uint64_t first_frame; /* BUNCH, a copy: the frame of the first */
    int64_t span_ns;

    const struct ue_datagram *datagram; /* HANDSHAKE, PACKET: head and, for HANDSHAKE, the message; no items */
    bool is_duplicate; /* PACKET: this id was seen before, in other_frame; nothing else is told of it */
    bool is_late;      /* PACKET, no duplicate: one with a higher id came before it */

    const struct ue_bunch *bunch; /* BUNCH, OPENED, CLOSED */
    uint32_t item;                /* BUNCH: its place among the items of the packet, from 0 */
    int64_t reliable_id;          /* BUNCH: full channel sequence of a reliable one; else -1 */
    uint32_t copy;                /* BUNCH, reliable: 1 the first, 2 sent again for the first time, ...; 2 without
                                     first_frame: of one that is forgotten */
    bool is_spurious;             /* BUNCH, a copy: the first, or the one before, had been reported as delivered */
    bool is_gap;                  /* BUNCH, reliable: reliable ones before it on this channel were never seen */
    bool is_jump;                 /* ... with this one more than a reliable buffer holds: impossible */
    bool is_partial_error;        /* BUNCH: does not continue, or begin, what its flags say (protocol.md 10.2) */
    bool is_withdrawn;            /* NACKED: it had been ACKED; not this packet says so, but what became of the acks */
    uint8_t close_reason;         /* CLOSED */
    uint32_t packets_in_flight;   /* PACKET: of this side, sent and without verdict, this one included; 0 where nothing
                                     of the other side was seen */
    uint32_t reliable_in_flight;  /* BUNCH, reliable: of this side on this channel, from the oldest without verdict to
                                     this one: what the reliable buffer holds (NumOutRec) */
};

struct ue_tracker_callbacks {
    void (*event)(void *user, const struct ue_tracker_event *event);
    void *user;
    /* NULL, or told of bunches of a packet some time before their events, to send for the memory that these need. */
    void (*prefetch)(void *user, const struct ue_item *items, size_t count);
};

/* The items of a datagram, for callers who need them, too. Views point into its bytes. */
#define UE_TRACKER_ITEMS_MAX 16
struct ue_tracker_items {
    struct ue_item items[UE_TRACKER_ITEMS_MAX];
    size_t count;
    bool is_whole; /* they are all that it has, and there is no fault; else they mean nothing */
};

/* One datagram of the connection, whole and decodable. */
struct ue_tracker_datagram {
    uint64_t frame;
    int64_t time_ns;
    unsigned side;
    const struct ue_context *context; /* knows the direction */
    const struct ue_packet_ids *links;     /* as the flow found them */
    const uint8_t *bytes;
    size_t size_bytes;
    struct ue_tracker_items *reading; /* to be filled; NULL: not wanted */
};

struct ue_tracker;

/* NULL: no memory. The memory's user must outlive it. */
struct ue_tracker *ue_tracker_new(const struct ue_allocator *memory);
void ue_tracker_free(struct ue_tracker *track);

/* Takes a datagram and tells what follows from it, in this order: HANDSHAKE or DISPROVED, MISSING, PACKET, then
   verdicts in the order of their ids, then bunches in wire order, each followed by its OPENED and CLOSED (of a copy:
   none). Legacy packets: ack items and bunches in wire order. A malformed datagram tells what comes before its fault.
   Nothing is told of a packet without links.has_id (encrypted and not opened, of a replay, or not believed). */
void ue_tracker_feed(struct ue_tracker *track, const struct ue_tracker_datagram *datagram, const struct ue_tracker_callbacks *sink);

/* What it holds now. */
size_t ue_tracker_bytes(const struct ue_tracker *track);

/* What a packet of this side is known to be, while it is remembered (at least the newest 1,024). */
enum ue_tracker_packet_state { UE_TRACKER_PACKET_UNKNOWN, UE_TRACKER_PACKET_PENDING, UE_TRACKER_PACKET_DELIVERED, UE_TRACKER_PACKET_NOT_DELIVERED };
enum ue_tracker_packet_state ue_tracker_packet_state(const struct ue_tracker *track, unsigned side, int64_t packet_id);

struct ue_tracker_counts {
    uint64_t packets, handshakes, duplicates, late;
    uint64_t missing; /* ids never seen so far: late ones are taken off again */
    uint64_t acked, nacked;
    uint64_t unsure;   /* up to 4.21, of acked: whether an ack reached the sender is not known; else a nack, too */
    uint64_t reliable; /* bunches, first copies */
    uint64_t resends;  /* copies of reliable bunches */
    uint64_t spurious;
    uint64_t untracked; /* bunches and packets for which there was no memory */
};
/* Of what a side sent; acked and nacked: of its packets, as the other side reports them. */
const struct ue_tracker_counts *ue_tracker_counts(const struct ue_tracker *track, unsigned side);

#endif

/* SPDX-License-Identifier: MIT */
/* The passive tracker of one connection: full packet ids and channel sequences, loss, reordering, acks,
   retransmissions, channels and handshakes, as far as a capture shows them (protocol.md 6, 9; endpoint.md 15 to 20).
   The caller feeds the datagrams of both sides in capture order; the tracker emits events.

   A nak and a loss are different events: NAK is what a receiver reports, LOST is what is missing in the capture.

   A packet that was captured but whose header cannot be read is opaque: it is compressed, encrypted without a key, or
   cut within its header. It has one of the ids between the packets around it, so that fewer packets are missing there;
   the acks and bunches in it are not known. */
#ifndef UERUDP_PACKET_TRACKER_H
#define UERUDP_PACKET_TRACKER_H

#include <uerudp/allocator.h>
#include <uerudp/datagram.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory limit of one tracker, in bytes, for all tables together. */
#define UE_TRACKER_BYTES_MAX (4u << 20)

/* A number of which the capture shows only bounds. */
#define UE_TRACKER_UNBOUNDED UINT32_MAX
struct ue_tracker_bounds {
    uint32_t at_least;
    uint32_t at_most; /* UE_TRACKER_UNBOUNDED: no bound is known */
};

enum ue_tracker_event_type {
    UE_TRACKER_HANDSHAKE, /* a handshake message. span_ns: since the message that it answers, -1 unknown */
    UE_TRACKER_PACKET,    /* a packet. is_duplicate, is_late; span_ns: since the previous packet of this side */
    UE_TRACKER_OPAQUE,    /* an opaque packet, whose id is not known. span_ns as of PACKET */
    UE_TRACKER_LOST,      /* packets packet_id to last_id were not captured before this packet, except opaque ones; they
                             can still follow (is_late). missing */
    UE_TRACKER_NOT_LOST,  /* retracts an earlier LOST: the sequence of the packet in other_frame was damaged */
    UE_TRACKER_ACK,       /* this packet reports packet_id of the other side as delivered. other_frame; span_ns: since
                             that packet */
    UE_TRACKER_NAK,       /* the same for not delivered. Up to 4.21 a NAK can follow an ACK, when both acks are known to
                             be lost, so that the sender assumes a loss; the later event is valid */
    UE_TRACKER_BUNCH,     /* a bunch of this packet; members below */
    UE_TRACKER_CHANNEL_OPENED, /* the bunch opens its channel */
    UE_TRACKER_CHANNEL_CLOSED, /* the bunch closes its channel with close_reason; channel 0 closes the connection.
                                  span_ns: how long the channel was open */
    UE_TRACKER_RESTARTED       /* a restart handshake is complete: the connection continues, possibly with other
                                  addresses */
};

/* An event. Members that the type does not use are zero; span_ns is -1 when it is not known. Valid during the call. */
struct ue_tracker_event {
    enum ue_tracker_event_type type;
    uint64_t frame;
    int64_t time_ns;
    unsigned side;        /* sender of the datagram: 0 or 1 */
    int64_t packet_id;    /* PACKET, BUNCH, CHANNEL_*: id of this packet; others: the packet that the event is about */
    int64_t last_id;      /* LOST, NOT_LOST */
    uint32_t missing;     /* LOST: how many of these ids no captured packet has; at least 1 */
    uint64_t other_frame; /* ACK, NAK: frame of that packet, 0: not captured. NOT_LOST: 0: not known any more. BUNCH, a
                             retransmission: frame of the previous transmission */
    uint32_t other_item;  /* BUNCH, a retransmission: index of the previous transmission in its packet */
    uint64_t first_frame; /* BUNCH, a retransmission: frame of the first transmission */
    int64_t span_ns;

    const struct ue_datagram *datagram; /* HANDSHAKE, PACKET: the decoded head, without items */
    bool is_opaque;                     /* ACK, NAK, with other_frame 0: an opaque packet may have this id */
    bool is_duplicate; /* PACKET: the id was captured before, in other_frame; no further events for this packet */
    bool is_late;      /* PACKET, no duplicate: a packet with a higher id was captured before it */

    const struct ue_bunch *bunch; /* BUNCH, CHANNEL_* */
    bool is_cut;                  /* BUNCH: the datagram ends within the payload, whose other bits are zero */
    uint32_t item;                /* BUNCH: index among the items of the packet, from 0 */
    int64_t reliable_id;          /* BUNCH: full channel sequence of a reliable bunch; else -1 */
    uint32_t copy;                /* BUNCH, reliable: number of the transmission, 1 the first; 2 without first_frame: a
                                     retransmission of a bunch that is no longer remembered */
    bool is_spurious;             /* BUNCH, a retransmission: an earlier transmission was acknowledged before */
    bool is_gap;                  /* BUNCH, reliable: reliable bunches before it on this channel were not captured, and
                                     no opaque or cut packet can have held them */
    bool is_jump;                 /* BUNCH, reliable: the gap is larger than the reliable buffer, which is impossible */
    bool is_partial_error;        /* BUNCH: its partial flags contradict the fragment before it (protocol.md 10.2) */
    bool is_withdrawn;            /* NAK: retracts an earlier ACK, because the acks were lost */
    uint8_t close_reason;         /* CHANNEL_CLOSED */
    uint32_t packets_in_flight;   /* PACKET: packets of this side without ack or nak, this one included; 0
                                     when nothing of the other side was captured */
    struct ue_tracker_bounds reliable_in_flight; /* BUNCH, reliable: bunches of this side on this channel from the
                                     oldest that is not acknowledged to this one: the content of the reliable buffer
                                     (NumOutRec). An ack that was captured may be lost on its way to this side, or on
                                     its way still: at_least assumes that all captured acks have arrived, at_most only
                                     those that are shown to have arrived */
};

struct ue_tracker_callbacks {
    void (*event)(void *user, const struct ue_tracker_event *event);
    void *user;
};

/* The decoded items of a datagram, for callers that need them, too. Views point into its bytes. */
#define UE_TRACKER_ITEMS_MAX 16
struct ue_tracker_items {
    struct ue_item items[UE_TRACKER_ITEMS_MAX];
    size_t count;
    bool is_whole; /* these are all items, and there was no fault; else the array is undefined */
};

/* One datagram of the connection; the tracker ignores one that does not decode. */
struct ue_tracker_datagram {
    uint64_t frame;
    int64_t time_ns;
    unsigned side;
    const struct ue_context *context;       /* with the direction, if it is known */
    const struct ue_packet_ids *packet_ids; /* from ue_detection_packet_ids */
    const uint8_t *bytes;
    size_t size_bytes;
    bool is_cut;           /* by the snap length: after captured_bytes there are zeros, and a terminator at the end */
    size_t captured_bytes; /* of a cut datagram */
    struct ue_tracker_items *reading; /* receives the items; NULL: not wanted */
};

struct ue_tracker;

/* Allocates a tracker; NULL when there is no memory. The tracker copies the allocator, whose user must outlive it. */
struct ue_tracker *ue_tracker_new(const struct ue_allocator *allocator);
void ue_tracker_free(struct ue_tracker *tracker);

/* Processes a datagram and emits its events in this order: HANDSHAKE (and RESTARTED), or NOT_LOST, LOST, PACKET, then
   ACK and NAK in the order of packet ids, then BUNCH in wire order, each followed by its CHANNEL_OPENED and
   CHANNEL_CLOSED (except after retransmissions). In legacy packets ACK, NAK and BUNCH follow the wire order. A
   malformed datagram emits the events before its fault, a cut packet those that it was captured with. An opaque packet
   emits only OPAQUE. Another packet without packet_ids->has_id (of a replay, or with an implausible sequence) emits
   nothing. */
void ue_tracker_feed(struct ue_tracker *tracker, const struct ue_tracker_datagram *datagram,
                     const struct ue_tracker_callbacks *callbacks);

/* Number of bytes that the tracker has allocated. */
size_t ue_tracker_bytes(const struct ue_tracker *tracker);

/* Whether a packet of this side was delivered. Packets older than the newest 1,024 can be UNKNOWN. */
enum ue_tracker_packet_state {
    UE_TRACKER_PACKET_UNKNOWN,
    UE_TRACKER_PACKET_PENDING,
    UE_TRACKER_PACKET_DELIVERED,
    UE_TRACKER_PACKET_NOT_DELIVERED
};
enum ue_tracker_packet_state ue_tracker_packet_state(const struct ue_tracker *tracker, unsigned side,
                                                     int64_t packet_id);

struct ue_tracker_counts {
    uint64_t packets, handshakes, duplicates, late;
    uint64_t missing; /* ids not captured so far: late packets are subtracted */
    uint64_t opaque;
    uint64_t acked, nacked;
    uint64_t unsure; /* up to 4.21, part of acked: packets of which it is not known whether an ack reached the sender */
    uint64_t reliable; /* reliable bunches, without retransmissions */
    uint64_t resends;  /* retransmissions of reliable bunches */
    uint64_t spurious;
    uint64_t untracked; /* bunches and packets that were dropped for lack of memory */
};

/* Counters of what a side sent. acked and nacked are reports of the other side about packets of this side. */
const struct ue_tracker_counts *ue_tracker_counts(const struct ue_tracker *tracker, unsigned side);

#ifdef __cplusplus
}
#endif

#endif

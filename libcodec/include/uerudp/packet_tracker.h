/* SPDX-License-Identifier: MIT */
/* The passive tracker of one connection: full packet ids and channel sequences, loss, reordering, acks,
   retransmissions, channels and handshakes, as far as a capture shows them (protocol.md 6, 9; endpoint.md 7 to 29).
   The caller feeds the datagrams of both sides in capture order; the tracker emits events (observed_event.h).

   A packet that was captured but whose header cannot be read is opaque: it is compressed, encrypted without a key, or
   cut within its header. It has one of the ids between the packets around it, so that fewer packets are missing there;
   the acks and bunches in it are not known. */
#ifndef UERUDP_PACKET_TRACKER_H
#define UERUDP_PACKET_TRACKER_H

#include <uerudp/allocator.h>
#include <uerudp/observed_event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory limit of one tracker, in bytes, for all tables together. */
#define UE_TRACKER_BYTES_MAX (4u << 20)

/* One datagram of the connection; the tracker ignores one that does not decode. */
struct ue_tracker_datagram {
    uint64_t frame; /* its number in the capture, below 2^38 */
    int64_t time_ns;
    unsigned side;
    uint32_t point;                         /* where it was captured, as of struct ue_captured_datagram */
    const struct ue_context *context;       /* with the direction, if it is known */
    const struct ue_packet_ids *packet_ids; /* from ue_detection_packet_ids */
    const uint8_t *bytes;
    size_t size_bytes;
    const struct ue_datagram_start *start; /* how it begins, decoded with this context; NULL: not decoded so far */
    bool is_cut;           /* by the snap length: after captured_bytes there are zeros, and a terminator at the end */
    size_t captured_bytes; /* of a cut datagram */
};

struct ue_tracker;

/* Allocates a tracker; NULL when there is no memory. The tracker copies the allocator, whose user must outlive it. */
struct ue_tracker *ue_tracker_new(const struct ue_allocator *allocator);
void ue_tracker_free(struct ue_tracker *tracker);

/* Processes a datagram and emits its events in the order of observed_event.h. An opaque packet emits only OPAQUE. A
   packet that was captured first at another capture point emits nothing. Another packet without packet_ids->has_id (of
   a replay, or with an implausible sequence) emits nothing. */
void ue_tracker_feed(struct ue_tracker *tracker, const struct ue_tracker_datagram *datagram,
                     const struct ue_observer_callbacks *callbacks);

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
    uint64_t missing;         /* ids that no captured packet has so far: late packets are subtracted */
    uint64_t missing_damaged; /* an upper bound of those of missing that were captured, as malformed datagrams whose ids
                                 cannot be read */
    uint64_t opaque;
    uint64_t acked, nacked;
    uint64_t unsure;   /* up to 4.21: packets of which it is not known whether an ack reached the sender: some of acked,
                            and those whose acks may be in packets that are missing or could not be read */
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

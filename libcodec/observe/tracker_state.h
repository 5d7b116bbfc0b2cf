/* SPDX-License-Identifier: MIT */
/* What the passive tracker remembers, and how it is bounded. */
#ifndef UERUDP_LIBCODEC_OBSERVE_TRACKER_STATE_H
#define UERUDP_LIBCODEC_OBSERVE_TRACKER_STATE_H

#include <uerudp/history.h>
#include <uerudp/packet_tracker.h>
#include "libcodec/observe/channel_pages.h"

/* Packets and reliable bunches remembered per side, and how far the latter may reach on one channel; more than any
   sender has in flight. */
#define UE_TRACKER_PACKETS_MAX 1024
_Static_assert(UE_HISTORY_SKIPPED_MAX < UE_TRACKER_PACKETS_MAX, "what a header tells of fits what is remembered");
#define UE_TRACKER_BUNCHES_MAX 16384
#define UE_TRACKER_CHANNEL_SPAN_MAX 1024

#define UE_TRACKER_NO_ID INT64_MIN

/* Legacy: packets in which an ack travels (endpoint.md 25). */
#define UE_LEGACY_ACK_CARRIERS 2

/* Entries by their number, each in the place of its low bits: finding one takes one look, and a jump of the numbers
   walks nothing. An entry gives way to newer ones only, so that an older or empty place proves that a number was not
   there. Every entry begins with its int64_t number. */
struct ue_tracker_window {
    void *entries;
    uint32_t count; /* places: a power of two, or 0 */
};

struct ue_tracked_packet {
    int64_t id;
    uint64_t frame; /* of the first copy */
    int64_t time_ns;
    uint8_t fate;
    bool is_seen;     /* else only reported about */
    bool was_acked;   /* by its receiver, whether or not the sender learned it */
    bool is_doubtful; /* legacy: denied, but packets are missing that may have held its acks */
    bool is_resent;   /* legacy: its sender said again what it carried, so it was told of a loss */
    bool is_unsure;   /* legacy: counts as such */
};

/* Legacy: other packets that the fate of one hangs on. */
struct ue_legacy_ack_state {
    int64_t id;
    int64_t carriers[UE_LEGACY_ACK_CARRIERS]; /* of the other side, in which an ack of it travels; or UE_TRACKER_NO_ID */
    uint64_t needs; /* it is refused without these; bit n: the packet n + 1 before it, 63: any further back */
};

/* What the search and the release of a reliable bunch ask for: small, because many are asked that lie far away. Ids are
   told by their low bits. */
struct ue_tracked_bunch {
    uint32_t id;
    uint32_t last_packet; /* that carried the latest copy; see ue_reliable_tracker_last_packet */
    uint16_t channel;
    uint16_t next; /* in its chain; UE_TRACKER_BUNCHES_MAX: the last */
    bool is_partial : 1;
    bool is_initial : 1;
    bool is_final : 1;
    bool is_resent : 1;     /* the first copy came in another packet than the latest */
    bool was_delivered : 1; /* a copy that is neither of the two */
};
_Static_assert(sizeof(struct ue_tracked_bunch) == 16, "it lies in one line of the cache");

/* The rest of it: where its copies were. */
struct ue_tracked_transmissions {
    uint64_t first_frame, last_frame;
    int64_t first_packet;
    uint32_t count;
    uint32_t last_item;
};

/* Reliable bunches of a side, of all its channels, in chains by channel and id. The one that stands the longest gives
   way as soon as nothing more is expected of it: the table grows with what is in flight, not with how many channels
   there are. */
struct ue_tracked_bunches {
    struct ue_tracked_bunch *entries; /* the other two lie behind them in the same block */
    struct ue_tracked_transmissions *copies;
    uint16_t *chains; /* where each begins */
    uint32_t count;   /* entries in use */
    uint32_t room;    /* a power of two, or 0 */
    uint32_t oldest;  /* of a full table: the one that stands the longest */
};

/* What one side sends on one channel. Many of them are kept: ids before the newest are told by how far back they are,
   the largest number also for all that are further. */
struct ue_channel_state {
    int64_t newest;          /* reliable id */
    uint32_t first_back;     /* all reliable ids behind it, up to `released`, were seen or given up */
    uint32_t part_packet;    /* low bits of the id, of the latest unreliable part */
    uint16_t released_back;  /* everything up to it has left the sender's buffer */
    uint16_t opening_back;   /* the latest that opens */
    uint16_t forgotten_back; /* the highest id of a bunch that gave way; the sender is done with those that did */
    bool has_newest : 1;
    bool has_opening : 1;
    bool is_unfinished : 1; /* the newest is a part, and more must follow */
    bool has_part : 1;      /* and more parts must follow */
    bool has_opened : 1;    /* this side opened the channel, and none closed it so far */
};
_Static_assert(UE_TRACKER_CHANNEL_SPAN_MAX < UINT16_MAX, "what is not released is within reach of uint16_t");

struct ue_tracked_channel {
    int64_t opened_ns;
    struct ue_channel_state lanes[2];
};

struct ue_tracker_side {
    struct ue_tracker_window packets;
    struct ue_tracker_window ties;
    struct ue_tracked_bunches reliables;
    int64_t newest_id;  /* seen, or the one before the first by the handshake */
    int64_t jump_id;    /* of a packet far ahead of those before it; it is not believed if others fall back behind it */
    int64_t jump_from;  /* the newest before it */
    int64_t doubted_id; /* acknowledged, far ahead of what is known to have been sent: the next ack must bear it out */
    int64_t first_id;   /* what came before this one's successor is not counted as missing */
    int64_t earliest_id; /* before all that were seen */
    int64_t judged_id;   /* the other side has given its verdict on all up to this one */
    int64_t learned_id;  /* legacy: and whether that arrived is settled up to this one */
    int64_t acking_id;   /* legacy: the newest packet of this side with an ack in it */
    int64_t last_ns;     /* of its latest packet */
    uint16_t first_seq;  /* by the handshake */
    uint32_t hole;       /* packets missing since the last that carried an ack */
    bool has_newest;
    bool has_judged;
    bool has_doubted;
    bool has_first;
    struct ue_tracker_counts counts;
};

struct ue_tracker {
    struct ue_limited_allocator budget;
    bool is_restarting;
    uint8_t handshakes; /* types seen, by bit */
    int64_t handshake_ns[UE_HANDSHAKE_TYPE_UNKNOWN];
    struct ue_tracker_side sides[2];
    struct ue_channel_pages channels; /* of struct ue_tracked_channel */
};

/* One datagram on its way through the tracker. */
struct ue_tracker_step {
    struct ue_tracker *track;
    const struct ue_tracker_datagram *in;
    const struct ue_tracker_callbacks *sink;
    struct ue_datagram head;
    int64_t packet_id;
    bool is_taken; /* it is a packet whose id is known and new: its items count */
    bool is_late;
    uint32_t item;
    int64_t verdicts_left; /* implied ones that may still be looked for: bounds the work, whatever is acknowledged */
};

UE_INLINE void *ue_tracker_window_at(const struct ue_tracker_window *window, size_t entry_bytes, uint32_t place) {
    return (char *)window->entries + place * entry_bytes;
}

/* The place of a number, whoever holds it; NULL: the window has no places. */
UE_INLINE void *ue_tracker_window_slot(const struct ue_tracker_window *window, size_t entry_bytes, int64_t id) {
    return window->count == 0 ? NULL : ue_tracker_window_at(window, entry_bytes, (uint32_t)id & (window->count - 1));
}

/* The same, among up to UE_TRACKER_PACKETS_MAX places. An older one there gives way, and is to be written over; NULL: a
   newer one has it, or there is no memory. */
void *ue_tracker_window_ensure(struct ue_tracker *track, struct ue_tracker_window *window, size_t entry_bytes, int64_t id);

/* Completes and tells an event of this datagram. */
void ue_tracker_emit(struct ue_tracker_step *pass, struct ue_tracker_event *event);

/* What is known of a packet; NULL: nothing, or no longer. */
UE_INLINE struct ue_tracked_packet *ue_tracker_find_packet(const struct ue_tracker_side *side, int64_t id) {
    struct ue_tracked_packet *packet = ue_tracker_window_slot(&side->packets, sizeof *packet, id);
    return packet != NULL && packet->id == id ? packet : NULL;
}

/* This datagram's verdict on a packet of the other side. Its entry; NULL: it is not remembered. */
struct ue_tracked_packet *ue_tracker_report_ack(struct ue_tracker_step *pass, int64_t id, bool delivered);

/* The full number of an acknowledged sequence. */
int64_t ue_tracker_acked_id(const struct ue_tracker_side *other, uint16_t seq);

/* Whether a verdict up to this packet can be, as far as is known now. */
bool ue_tracker_ack_is_plausible(struct ue_tracker_side *other, int64_t id);

/* The first verdict that is seen: on what was captured before it none can have been given, on the rest it may have. */
void ue_tracker_begin_acks(struct ue_tracker_side *other, int64_t judged_id);

/* Everything without a verdict up to last_id was not delivered, as a verdict on acked_id implies. What lies further
   back than a history reaches is named only where a packet shows that it was sent. */
void ue_tracker_report_naks(struct ue_tracker_step *pass, int64_t last_id, int64_t acked_id, bool is_doubtful);

/* Legacy: an ack in a packet that is_taken. */
void ue_legacy_acks_handle_ack(struct ue_tracker_step *pass, const struct ue_ack *ack);

/* Legacy: takes back the acks that are known by now not to have reached the sender. */
void ue_legacy_acks_correct(struct ue_tracker_step *pass);

/* Legacy: this packet of the pass's side is refused by its receiver unless the one with that id came before. */
void ue_legacy_acks_add_dependency(struct ue_tracker_step *pass, int64_t needed_id);

/* Legacy: a bunch of that packet of the pass's side was sent again. */
void ue_legacy_acks_mark_retransmitted(struct ue_tracker_step *pass, int64_t packet_id);

/* The state of a channel, made where there is none; NULL: no memory, or an index that no engine uses. */
struct ue_tracked_channel *ue_channel_tracker_ensure(struct ue_tracker *track, uint32_t index);

/* NULL: it was not seen, or is forgotten. */
struct ue_tracked_bunch *ue_reliable_tracker_find(const struct ue_tracker_side *side, uint32_t channel, int64_t id);

/* A place for a bunch that has none, on a channel that ue_channel_tracker_ensure found; others may move. NULL: there is no
   memory. */
struct ue_tracked_bunch *ue_reliable_tracker_add(struct ue_tracker *track, struct ue_tracker_side *side, uint32_t channel,
                                                int64_t id);

UE_INLINE struct ue_tracked_transmissions *ue_reliable_tracker_transmissions(const struct ue_tracker_side *side,
                                                     const struct ue_tracked_bunch *bunch) {
    return &side->reliables.copies[bunch - side->reliables.entries];
}

/* The full id of the packet that carried its latest copy. */
UE_INLINE int64_t ue_reliable_tracker_last_packet(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    return side->newest_id + (int32_t)(bunch->last_packet - (uint32_t)side->newest_id);
}

/* Whether a copy of it is known to have arrived. */
bool ue_reliable_tracker_was_delivered(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch);

/* Follows the sender, which gives bunches up from the front only, when they are delivered (endpoint.md 18). */
void ue_reliable_tracker_release(const struct ue_tracker_side *side, struct ue_channel_state *lane, uint32_t channel);

/* Sends for the memory that a bunch will need: of its channel and its chain. */
void ue_channel_tracker_prefetch_channel(const struct ue_tracker_step *pass, const struct ue_bunch *bunch);

/* When these are there: of others that it hangs on, if it is reliable and this many reliable ones come before it. When
   these are there, too: of what decides on them. */
void ue_channel_tracker_prefetch_bunches(const struct ue_tracker_step *pass, const struct ue_bunch *bunch, uint32_t before);
void ue_channel_tracker_prefetch_packets(const struct ue_tracker_step *pass, const struct ue_bunch *bunch, uint32_t before);

/* The same, of a chain, of a bunch in it, of the packet that carried that; and of the bunch that gives way when so many
   others have. */
void ue_reliable_tracker_prefetch_chain(const struct ue_tracker_side *side, uint32_t channel, int64_t id);
void ue_reliable_tracker_prefetch_bunch(const struct ue_tracker_side *side, uint32_t channel, int64_t id);
void ue_reliable_tracker_prefetch_packet(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch);
const struct ue_tracked_bunch *ue_reliable_tracker_next_evicted(const struct ue_tracker_side *side, uint32_t before);

/* A bunch of a packet that is_taken: tells BUNCH, OPENED and CLOSED. */
void ue_channel_tracker_handle_bunch(struct ue_tracker_step *pass, const struct ue_bunch *bunch);

#endif

/* SPDX-License-Identifier: MIT */
/* The state of the passive tracker, its limits, and the functions that its parts share. */
#ifndef UERUDP_LIBCODEC_OBSERVE_TRACKER_STATE_H
#define UERUDP_LIBCODEC_OBSERVE_TRACKER_STATE_H

#include <uerudp/history.h>
#include <uerudp/packet_tracker.h>
#include <uerudp/time_ns.h>
#include "libcodec/base/id_bits.h"
#include "libcodec/observe/channel_entries.h"

/* Largest number of packets and reliable bunches that are remembered per side, and the largest span of channel
   sequences on one channel. More than any sender has in flight. */
#define UE_TRACKER_PACKETS_MAX UE_ID_BITS
_Static_assert(UE_HISTORY_SKIPPED_MAX < UE_TRACKER_PACKETS_MAX, "the packets that a header reports are remembered");
#define UE_TRACKER_BUNCHES_MAX 16384
#define UE_TRACKER_CHANNEL_SPAN_MAX 1024

#define UE_TRACKER_NO_ID INT64_MIN

/* Of a packet that was reported, is older than an ack history covers and was captured before this time, only its report
   and that it was captured are remembered when a newer one needs its block: of a copy of it, the frame of the first
   capture is not known. */
#define UE_TRACKER_COPIES_NS INT64_C(1000000000)

/* Capture points that the tracker distinguishes. A packet that is captured once at each is not a duplicate. */
#define UE_TRACKER_POINTS 32

/* Packets with acks after missing packets, of which it is not reported yet whether they were delivered. */
#define UE_TRACKER_UNSURE_MAX 16

/* Packets are reordered by less than this. An older packet shows that an earlier jump was an error. */
#define UE_TRACKER_LATE_MAX 64

/* Retracted jumps that are remembered: more than strong reordering leaves open at a time. */
#define UE_TRACKER_RETRACTED_MAX 16

/* A first packet further from the first sequence in the handshake shows that this was no handshake of the connection;
   an ack further from the previous one shows that this one was damaged. */
#define UE_TRACKER_STEP_MAX 1024

/* Legacy: a receiver writes each ack into two packets (endpoint.md 36). */
#define UE_LEGACY_ACK_CARRIERS 2

/* Frame numbers are stored as their low bits: more frames than a capture can have. */
#define UE_TRACKER_FRAME_BITS 35
#define UE_TRACKER_FRAME_MASK ((UINT64_C(1) << UE_TRACKER_FRAME_BITS) - 1)
#define UE_TRACKER_REST_BITS (64 - UE_TRACKER_FRAME_BITS) /* of a smaller number beside a frame number */

struct ue_tracked_packet {
    int64_t time_ns;
    uint64_t frame
        : UE_TRACKER_FRAME_BITS;    /* where it was captured first; before that, where a NAK reported it; 0: nowhere */
    uint64_t point : 5;             /* where it was captured first: number of the point modulo UE_TRACKER_POINTS */
    uint64_t ack : 14;              /* its newest ack: a sequence of the other side */
    uint64_t state : 2;             /* enum ue_tracker_packet_state */
    uint64_t is_seen : 1;           /* captured; else known only from an ack or nak */
    uint64_t was_acked : 1;         /* by its receiver, whether or not the ack reached its sender */
    uint64_t has_ack : 1;           /* ack is set: it was captured with an ack */
    uint64_t was_retransmitted : 1; /* legacy: its sender retransmitted a bunch of it, so the sender assumed a loss */
    uint64_t is_unsure : 1;         /* legacy: included in counts.unsure */
    uint64_t is_opaque : 1;         /* not seen, but an opaque packet may have this id */
    uint64_t is_unread : 1; /* legacy: its ack may be in a packet that is missing or could not be read to its end */
    uint64_t is_acked_unseen : 1; /* it was acknowledged before it was captured, and no reason was known why the capture
                                     lacked it */
};
_Static_assert(sizeof(struct ue_tracked_packet) == 16, "a connection has many");

/* Legacy: the packets that determine whether an ack of a packet reached its sender. */
struct ue_legacy_ack_state {
    int64_t carriers[UE_LEGACY_ACK_CARRIERS]; /* packets of the other side with an ack of it */
    uint8_t carrier_count;
    bool is_repeated : 1; /* in carriers[0] it follows the ack of a later packet: its first copy is elsewhere */
    bool is_void : 1;     /* in carriers[1] it follows that of a later packet in the same carrier: it changes nothing */
};

#define UE_PACKET_BLOCK_IDS 32
#define UE_PACKET_BLOCKS_MAX (UE_TRACKER_PACKETS_MAX / UE_PACKET_BLOCK_IDS + 1) /* the newest end within a block */

/* The entries of consecutive packets. What few packets have is in arrays, each NULL until the first packet needs it. */
struct ue_packet_block {
    int64_t first_id;          /* a multiple of UE_PACKET_BLOCK_IDS */
    uint32_t is_known;         /* bit n: packets[n] is an entry */
    uint32_t may_lack_opening; /* bit n: the packet is refused if the channel of a reliable bunch is not open */
    uint64_t *needed;       /* of each packet: those without which it is refused because of its unreliable bunches; bit
                               n: the packet n + 1 before it, 63: an older or an unknown one */
    uint32_t *other_points; /* of each packet: where it was captured, too; bits as in the members `points` */
    struct ue_legacy_ack_state *ack_states;
    struct ue_tracked_packet packets[UE_PACKET_BLOCK_IDS];
};

/* A table of blocks. The low bits of an id divided by UE_PACKET_BLOCK_IDS select the slot of its block, so that a
   lookup takes two accesses, and a jump of ids costs a block. */
struct ue_packet_blocks {
    struct ue_packet_block **slots; /* NULL: empty */
    uint32_t count;                 /* slots: a power of two, or 0 */
    uint32_t used;                  /* blocks: at most UE_PACKET_BLOCKS_MAX */
};

/* What was reported of packets without an entry, because newer ones have their block. */
struct ue_replaced_packets {
    struct ue_id_bits acked, not_delivered;
};

/* The part of a remembered reliable bunch that lookup and release need. It is small, because both read many entries
   that are not in the cache. Ids are stored as their low bits. */
struct ue_tracked_bunch {
    uint32_t id;
    uint32_t last_packet; /* packet of the latest transmission; see ue_reliable_tracker_last_packet */
    uint16_t channel;
    uint16_t next; /* in its hash chain; UE_TRACKER_BUNCHES_MAX: the last */
    bool is_partial : 1;
    bool is_initial : 1;
    bool is_final : 1;
    bool was_retransmitted : 1; /* the first and the latest transmission are in different packets */
    bool was_delivered : 1;     /* another transmission was delivered */
};
_Static_assert(sizeof(struct ue_tracked_bunch) == 16, "it does not cross a cache line");

/* The other part: where its transmissions were captured. */
struct ue_tracked_transmissions {
    uint64_t first_frame : UE_TRACKER_FRAME_BITS;
    uint64_t count : UE_TRACKER_REST_BITS;
    uint64_t last_frame : UE_TRACKER_FRAME_BITS;
    uint64_t last_item : UE_TRACKER_REST_BITS;
    uint32_t first_packet;    /* see ue_reliable_tracker_first_packet */
    uint32_t earlier_packets; /* bit n: the packet n + 1 before that of the latest transmission has it, too */
};
_Static_assert(sizeof(struct ue_tracked_transmissions) == 24, "a connection has many");

/* The reliable bunches of a side on all channels, in hash chains by channel and id. The oldest entry is evicted as soon
   as no retransmission of it is expected: the table grows with the bunches in flight, not with the number of channels.
 */
struct ue_tracked_bunches {
    struct ue_tracked_bunch *entries; /* the next two arrays follow in the same block */
    struct ue_tracked_transmissions *transmissions;
    uint16_t *chains;  /* first entry of each chain */
    uint32_t count;    /* entries in use */
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t oldest;   /* in a full table: the oldest entry */
};

#define UE_CHANNEL_BACK_BITS 11
#define UE_CHANNEL_BACK_MASK ((1u << UE_CHANNEL_BACK_BITS) - 1)

/* The channel state of one side. There are many of them; therefore ids are stored as their distance back from the
   newest id, saturated at the largest number. All bit-fields have one type, because compilers for Windows place those
   of another type in a unit of their own. */
struct ue_channel_state {
    int64_t newest;           /* reliable id */
    uint32_t first_back;      /* all reliable ids after it, up to the released ones, were captured */
    uint32_t fragment_packet; /* low bits of the packet id of the latest unreliable fragment */
    uint16_t open_back;       /* the latest bunch that opens the channel */
    uint16_t evicted_back;    /* the highest id of an evicted bunch; evicted bunches have left the reliable buffer */
    uint32_t maybe_released_back
        : UE_CHANNEL_BACK_BITS;                    /* all bunches up to it can have left the sender's reliable buffer */
    uint32_t released_back : UE_CHANNEL_BACK_BITS; /* all bunches up to it are shown to have left it */
    uint32_t has_newest : 1;
    uint32_t has_open : 1;
    uint32_t is_unfinished : 1; /* the newest bunch is a fragment, and another must follow */
    uint32_t is_opening : 1;    /* the newest bunch belongs to a message that opens the channel */
    uint32_t has_fragment : 1;  /* another unreliable fragment must follow */
    uint32_t has_opened : 1;    /* this side opened the channel, and no side has closed it since */
};
_Static_assert(UE_TRACKER_CHANNEL_SPAN_MAX <= UE_CHANNEL_BACK_MASK,
               "the distance to unreleased bunches fits its members");
_Static_assert(sizeof(struct ue_channel_state) == 24, "a connection can have thousands");

struct ue_tracked_channel {
    int64_t opened_ns;
    struct ue_channel_state states[2];
};

/* From 4.22 on: acks of packets of a side that are not known to be sent. */
struct ue_held_acks {
    struct ue_packet packet; /* with the acks; without views */
    uint64_t frame;
    int64_t time_ns;
    int64_t packet_id;
    int64_t sent_id;   /* the newest id that was known to be sent */
    int64_t before_id; /* the newest ack before these */
    int64_t newest_id; /* the newest packet that is acknowledged */
    bool is_held;
    bool is_seen;       /* that packet was captured, far ahead of its predecessors: its sequence may be damaged */
    bool is_followed;   /* after the acks this side sent a packet far before the newest that they acknowledge */
    bool is_taken_back; /* their sender then acknowledged much less */
};

/* A packet whose jump was retracted: its id was damaged, or reordering brought it more than UE_TRACKER_LATE_MAX ids too
   early. */
struct ue_retracted_jump {
    int64_t id;
    uint64_t frame;
    uint32_t hash;   /* of the datagram */
    uint32_t points; /* where it was captured; see ue_tracker_point_bit */
};

/* The latest retracted jumps. */
struct ue_retracted_jumps {
    struct ue_retracted_jump entries[UE_TRACKER_RETRACTED_MAX];
    uint32_t count; /* of all; the oldest entry is replaced */
};

/* Acks in a packet after missing ones: see first_acks.c. */
struct ue_unsure_acks {
    int64_t packet_id; /* of the packet with the acks */
    uint64_t frame;    /* likewise */
    int64_t time_ns;
    int64_t first_id, last_id; /* packets of the other side that it reports */
    uint32_t missing;          /* how many are missing directly before it */
    uint32_t points;           /* where it was captured; see ue_tracker_point_bit */
};

struct ue_tracker_side {
    struct ue_packet_blocks blocks;
    int64_t forgotten_id; /* the newest id of all blocks that were replaced; or UE_TRACKER_NO_ID */
    struct ue_replaced_packets replaced;
    struct ue_id_bits seen; /* packets that were captured */
    struct ue_tracked_bunches reliables;
    int64_t newest_id;     /* captured; initially the id before the first sequence in the handshake */
    int64_t jump_id;       /* a packet far ahead of its predecessors; a later packet far below it retracts the jump */
    int64_t jump_from;     /* the newest id before the jump */
    uint32_t jump_missing; /* ids before the jump that count as missing */
    uint32_t jump_hash;    /* of its datagram */
    struct ue_retracted_jumps *retracted; /* NULL: none so far */
    int64_t suspect_id;  /* legacy: an ack far ahead of all ids that are known to be sent; the next must confirm it */
    int64_t first_id;    /* packets up to this one do not count as missing */
    int64_t earliest_id; /* below all captured ids */
    int64_t acked_first_id; /* the newest packet that the first captured packet with acks of it acknowledges: if there
                               was no handshake, packets up to this one may have been captured before */
    int64_t reported_id;    /* the other side has reported all packets up to this one, by ack or nak */
    int64_t unreported_id;  /* packets up to this one may have been reported before the first captured ack */
    int64_t confirmed_id;   /* legacy: up to this one it is decided whether these acks reached this side */
    int64_t last_ack_carrier_id; /* legacy: the newest packet of this side that carries an ack */
    int64_t large_id; /* legacy: the newest packet of this side that may have become full while an ack was written */
    int64_t full_missing_id; /* legacy: the newest missing packet after one that may have become full like this */
    int64_t skipped_first_id, skipped_last_id; /* legacy: packets whose acks may be in one missing packet, and are then
                                                  written again */
    int64_t shown_id;   /* this side is shown to have received the reports of all its packets up to this one */
    int64_t freed_id;   /* shown_id, or while packets are awaited, what it was before them: bunches that appear now may
                           have been sent first in one of them */
    int64_t awaited_id; /* the newest missing packet whose bunches may still be retransmitted; or UE_TRACKER_NO_ID */
    int64_t hidden_id;  /* the newest packet that was delivered and not captured; or UE_TRACKER_NO_ID */
    int64_t unread_id;  /* packets up to this one may have been acknowledged by packets that were not captured */
    int64_t last_ns;    /* time of the latest packet */
    uint16_t first_seq; /* from the handshake */
    uint32_t missing_since_ack;  /* packets missing since the last packet that carried an ack */
    uint32_t missing_before_ack; /* legacy: those missing between that packet and the one with an ack before it */
    uint32_t damaged_count;      /* malformed datagrams without an id since the newest packet */
    uint32_t jump_damaged;       /* likewise before the packet with jump_id */
    uint32_t opaque_count;       /* opaque packets without a place among the ids */
    int64_t opaque_id;           /* the newest id when the latest of them was captured */
    uint32_t recent_missing;     /* packets that count as missing in the latest gaps, up to recent_id */
    int64_t recent_id;
    int64_t unreadable_id;     /* the highest id that a packet with unknown acks or bunches can have */
    uint32_t unread_since_ack; /* packets with unknown acks since the last known ack */
    bool has_unread;
    bool has_newest;
    bool has_reported;
    bool has_suspect;
    bool has_first;
    struct ue_held_acks held;
    struct ue_unsure_acks *unsure_acks;
    uint32_t unsure_count, unsure_capacity; /* at most UE_TRACKER_UNSURE_MAX */
    struct ue_tracker_counts counts;
};

/* How far a restart handshake has come: each is later than the one before it. */
enum ue_tracker_restart {
    UE_TRACKER_NO_RESTART,
    UE_TRACKER_RESTART_REQUESTED, /* RestartHandshake */
    UE_TRACKER_RESTART_BEGUN,     /* Initial with the restart bit */
    UE_TRACKER_RESTART_ANSWERED   /* RestartResponse */
};

/* The latest handshake message of a type: its content, and where it was captured first. */
struct ue_handshake_view {
    uint32_t hash; /* of its bytes */
    uint32_t point;
    uint64_t frame;
};

struct ue_tracker {
    struct ue_limited_allocator memory;
    enum ue_tracker_restart restart;
    unsigned client;    /* the side of the client; valid during a restart */
    bool has_restarted; /* restarted_ns is set: when the latest restart was complete */
    int64_t restarted_ns;
    bool is_legacy;     /* packets up to 4.21 */
    uint8_t handshakes; /* bit n: a message of type n was captured */
    int64_t handshake_ns[UE_HANDSHAKE_TYPE_UNKNOWN];
    struct ue_handshake_view views[2][UE_HANDSHAKE_TYPE_UNKNOWN + 1]; /* [side][type]; hash 0: none */
    struct ue_tracker_side sides[2];
    struct ue_channel_entries channels; /* of struct ue_tracked_channel */
};

/* The processing of one datagram. */
struct ue_tracker_step {
    struct ue_tracker *tracker;
    const struct ue_tracker_datagram *in;
    const struct ue_observer_callbacks *callbacks;
    const struct ue_datagram *head;
    const struct ue_packet *packet; /* while its header is processed */
    int64_t packet_id;              /* 0: not a packet, or its id is not known */
    bool is_tracked;                /* a packet with a known id that is no duplicate: its items are processed */
    bool is_late;
    bool is_bunch_cut;    /* the captured part of a cut datagram ends within the payload of this bunch */
    size_t captured_bits; /* of a cut datagram */
    uint32_t item;
    int64_t naks_left;       /* limits the number of implied naks per datagram */
    int64_t highest_ack;     /* legacy: of its acks so far; or UE_TRACKER_NO_ID */
    bool may_repeat_acks;    /* see may_be_repeated of struct ue_observed_ack */
    bool are_acks_the_first; /* of the capture, which may not have the first packet of their side */
    bool are_acks_undecided; /* likewise is_undecided */
};

/* The bit of the capture point of this datagram in the members `points`. */
UE_INLINE uint32_t ue_tracker_point_bit(const struct ue_tracker_step *p) {
    return UINT32_C(1) << p->in->point % UE_TRACKER_POINTS;
}

/* Expands the low bits of a packet id. */
UE_INLINE int64_t ue_tracker_expand(const struct ue_tracker_side *side, uint32_t low_bits) {
    return side->newest_id + (int32_t)(low_bits - (uint32_t)side->newest_id);
}

/* Fills in the datagram of an event, and emits it. */
void ue_tracker_emit(struct ue_tracker_step *pass, struct ue_observed_event *event);

/* The place of a packet in its block. */
UE_INLINE unsigned ue_packet_block_place(int64_t id) {
    return (unsigned)((uint64_t)id % UE_PACKET_BLOCK_IDS);
}

/* The slot of a packet's block. */
UE_INLINE struct ue_packet_block **ue_packet_blocks_slot(const struct ue_packet_blocks *blocks, int64_t id) {
    return &blocks->slots[(uint64_t)id / UE_PACKET_BLOCK_IDS & (blocks->count - 1)];
}

/* The block with the entry of a packet; NULL when there is none, or it was replaced. */
UE_INLINE struct ue_packet_block *ue_tracker_find_block(const struct ue_tracker_side *side, int64_t id) {
    struct ue_packet_block *block = side->blocks.count != 0 ? *ue_packet_blocks_slot(&side->blocks, id) : NULL;
    unsigned place = ue_packet_block_place(id);
    bool is_known = block != NULL && block->first_id == id - place && (block->is_known >> place & 1) != 0;
    return is_known ? block : NULL;
}

/* The entry of a packet; likewise NULL. */
UE_INLINE struct ue_tracked_packet *ue_tracker_find_packet(const struct ue_tracker_side *side, int64_t id) {
    struct ue_packet_block *block = ue_tracker_find_block(side, id);
    return block != NULL ? &block->packets[ue_packet_block_place(id)] : NULL;
}

/* Where a packet with an entry was captured, as bits of capture points. */
UE_INLINE uint32_t ue_tracker_points(const struct ue_tracker_side *side, int64_t id) {
    const struct ue_packet_block *block = ue_tracker_find_block(side, id);
    unsigned place = ue_packet_block_place(id);
    return UINT32_C(1) << block->packets[place].point | (block->other_points != NULL ? block->other_points[place] : 0);
}

/* Removes the entry of a packet that has one. */
void ue_tracker_remove_packet(struct ue_tracker *tracker, struct ue_tracker_side *side, int64_t id);

/* An array of a block, with an element of this size for each of its packets: allocates it when it is NULL. NULL when
   there is no memory. */
void *ue_packet_block_ensure_array(struct ue_tracker *tracker, void *array, size_t element_bytes);

/* What was reported of a packet: its receiver acknowledged it, and it was not delivered. */
bool ue_tracker_is_acked(const struct ue_tracker_side *side, int64_t id);
bool ue_tracker_is_not_delivered(const struct ue_tracker_side *side, int64_t id);

/* Whether packets after `from_id` may hold bunches that could not be read. */
UE_INLINE bool ue_tracker_may_be_unread(const struct ue_tracker_side *side, int64_t from_id) {
    return side->has_unread && side->unreadable_id > from_id;
}

/* A packet is captured. What was reported of the packets UE_TRACKER_PACKETS_MAX before the new ids is forgotten. */
void ue_tracker_advance(struct ue_tracker_side *side, int64_t seen_id);

/* The newest id was damaged: the newest packet is this one. */
void ue_tracker_retreat(struct ue_tracker_side *side, int64_t newest_id);

/* Whether a packet was captured, among the last UE_TRACKER_PACKETS_MAX ids. */
bool ue_tracker_was_seen(const struct ue_tracker_side *side, int64_t id);

/* Finds or adds the entry of a packet; NULL when newer packets have its block, or there is no memory. A new block
   replaces one in its slot, or the oldest one if no packet of that one must be remembered, there is no memory, or there
   are UE_PACKET_BLOCKS_MAX. */
struct ue_tracked_packet *ue_tracker_ensure_packet(struct ue_tracker *tracker, struct ue_tracker_side *side,
                                                   int64_t id);

/* Remembers a retracted jump, unless there is no memory. */
void ue_retracted_jumps_add(struct ue_tracker *tracker, struct ue_tracker_side *side,
                            const struct ue_retracted_jump *jump);

/* The retracted jump with this id; NULL when there is none, or it was replaced. */
struct ue_retracted_jump *ue_retracted_jumps_find(struct ue_tracker_side *side, int64_t id);

/* The retracted jump whose datagram has the bytes of the current packet; NULL when there is none. */
struct ue_retracted_jump *ue_retracted_jumps_find_copy(const struct ue_tracker_step *pass,
                                                       struct ue_tracker_side *side);

/* The sequence passes the ids before the current packet: marks those that packets with retracted jumps may have.
   Returns their number. */
uint32_t ue_retracted_jumps_place(struct ue_tracker_step *pass, struct ue_tracker_side *side);

UE_INLINE int64_t ue_tracker_span_ns(int64_t from_ns, int64_t to_ns) {
    return to_ns > from_ns ? ue_time_ns_since(to_ns, from_ns) : 0;
}

/* Initialises the ids of a side with its first sequence, before its first packet. */
void ue_handshake_tracker_init_side(struct ue_tracker_side *side, uint16_t first_seq);

/* Processes a handshake message. */
void ue_handshake_tracker_handle(struct ue_tracker_step *pass);

/* Call for each packet that is not late while a restart is not complete: a packet may complete it, or show that it is
   none. */
void ue_handshake_tracker_follow(struct ue_tracker_step *pass);

/* Stores and emits that this datagram acks or naks a packet of the other side. Returns its entry; NULL when it cannot
   be stored. */
struct ue_tracked_packet *ue_tracker_report_ack(struct ue_tracker_step *pass, int64_t id, bool delivered);

/* Stores the newest ack of the current packet. */
void ue_tracker_store_ack(const struct ue_tracker_step *pass, uint16_t seq);

/* Remembers the acks of the current packet if missing packets may have had them before. Call before they are reported;
   for a packet with several acks in the order of their ids. */
void ue_first_acks_hold(struct ue_tracker_step *pass, int64_t first_id, int64_t last_id);

/* Call after reports of packets of the other side: emits whether acks in them, after missing packets, were the first.
 */
void ue_first_acks_decide(struct ue_tracker_step *pass);

/* Expands an acked sequence. */
int64_t ue_tracker_acked_id(const struct ue_tracker_side *other, uint16_t seq);

/* How far an acknowledged packet is ahead of what its sender is known to have sent. */
int64_t ue_packet_acks_ahead(const struct ue_tracker_side *other, int64_t id);

/* Initialises reported ids with the first ack: acks of packets that were captured before it have not been missed. */
void ue_tracker_begin_acks(struct ue_tracker_side *other, int64_t reported_id);

/* Packets of a side up to last_id may have been reported in packets that are missing or could not be read. */
void ue_tracker_mark_unreported(struct ue_tracker_side *other, int64_t last_id);

/* Emits the naks that an ack of acked_id implies: for all packets up to last_id without ack or nak. Packets
   older than a history covers are included only when they are known to have been sent. is_first: it is the first ack of
   the capture. */
void ue_tracker_report_naks(struct ue_tracker_step *pass, int64_t last_id, int64_t acked_id, bool is_first);

/* From 4.22 on: processes the acks of a header. */
void ue_packet_acks_handle_header(struct ue_tracker_step *pass, const struct ue_packet *packet);

/* Whether acks that are held acknowledge a packet of this side. */
bool ue_packet_acks_hold_ack(const struct ue_tracker_side *side, int64_t id);

/* Call for each packet of a side before it is stored. */
void ue_packet_acks_follow(struct ue_tracker_side *side, int64_t id);

/* Legacy: call for each packet before its items. */
void ue_legacy_acks_follow(struct ue_tracker_step *pass);

/* Legacy: processes an ack. */
void ue_legacy_acks_handle_ack(struct ue_tracker_step *pass, const struct ue_ack *ack);

/* Legacy: retracts the acks that are now known to be lost. */
void ue_legacy_acks_correct(struct ue_tracker_step *pass);

/* Records that the receiver refuses the current packet unless it has received packet needed_id, because of an
   unreliable bunch; UE_TRACKER_NO_ID: one that is not known. */
void ue_packet_dependencies_add(struct ue_tracker_step *pass, int64_t needed_id);

/* Records that the current packet may have unreliable bunches beyond the cut of a snap length: for each packet shortly
   before it, the receiver may refuse the current one unless it has received that. */
void ue_packet_dependencies_add_hidden(struct ue_tracker_step *pass);

/* Records that the receiver refuses the current packet, and a reliable bunch in it, unless the channel is open. */
void ue_packet_dependencies_add_opening(struct ue_tracker_step *pass);

/* Whether a packet may have been refused: one that it depends on is not known to be delivered. */
bool ue_packet_dependencies_may_fail(const struct ue_tracker_side *side, int64_t packet_id);

/* Likewise because of an unreliable bunch: then its reliable bunches were delivered. */
bool ue_packet_dependencies_may_fail_unreliable(const struct ue_tracker_side *side, int64_t packet_id);

/* Legacy: whether an ack of a packet of this side is shown to have reached it. */
bool ue_legacy_acks_have_arrived(const struct ue_tracker *tracker, const struct ue_tracker_side *side,
                                 int64_t packet_id, const struct ue_tracked_packet *packet);

/* Legacy: records that a bunch of a packet was retransmitted. */
void ue_legacy_acks_mark_retransmitted(struct ue_tracker_step *pass, int64_t packet_id);

/* Finds or adds a channel; NULL when there is no memory, or no engine uses the index. */
struct ue_tracked_channel *ue_channel_tracker_ensure(struct ue_tracker *tracker, uint32_t index);

/* Finds a reliable bunch; NULL when it was not captured, or was evicted. */
struct ue_tracked_bunch *ue_reliable_tracker_find(const struct ue_tracker_side *side, uint32_t channel, int64_t id);

UE_INLINE struct ue_tracked_transmissions *ue_reliable_tracker_transmissions(const struct ue_tracker_side *side,
                                                                             const struct ue_tracked_bunch *bunch) {
    return &side->reliables.transmissions[bunch - side->reliables.entries];
}

/* The id of the packet that carried the latest transmission, and of the one that carried the first. */
UE_INLINE int64_t ue_reliable_tracker_last_packet(const struct ue_tracker_side *side,
                                                  const struct ue_tracked_bunch *bunch) {
    return ue_tracker_expand(side, bunch->last_packet);
}
UE_INLINE int64_t ue_reliable_tracker_first_packet(const struct ue_tracker_side *side,
                                                   const struct ue_tracked_bunch *bunch) {
    return ue_tracker_expand(side, ue_reliable_tracker_transmissions(side, bunch)->first_packet);
}

/* Whether a transmission of the bunch is known to be delivered. */
bool ue_reliable_tracker_was_delivered(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch);

/* Releases delivered bunches as the sender does: in order, up to the first that is not acknowledged (endpoint.md 15).
   is_new: the sender sends a new bunch. */
void ue_reliable_tracker_release(const struct ue_tracker *tracker, const struct ue_tracker_side *side,
                                 struct ue_channel_state *state, uint32_t channel, bool is_new);

/* Determines which transmission of a reliable bunch this is, and remembers it. */
void ue_reliable_tracker_handle_transmission(struct ue_tracker_step *pass, struct ue_channel_state *state,
                                             bool is_newest, struct ue_observed_bunch *event);

/* The sender's reliable buffer when it sent this bunch, which is one of the bunches in it. */
struct ue_observed_bounds ue_reliable_tracker_in_flight(const struct ue_channel_state *state, int64_t id);

/* Processes a bunch: emits BUNCH, CHANNEL_OPENED and CHANNEL_CLOSED. */
void ue_channel_tracker_handle_bunch(struct ue_tracker_step *pass, const struct ue_bunch *bunch);

#endif

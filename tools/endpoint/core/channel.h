/* SPDX-License-Identifier: MIT */
/* Channels of one connection, and the reliable bunches that wait at either end (endpoint.md 17, 15, 20 and 21). */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_CHANNEL_H
#define UERUDP_TOOLS_ENDPOINT_CORE_CHANNEL_H

#include <uerudp/bunch.h>
#include <uerudp/endpoint.h>
#include "tools/endpoint/base/memory_share.h"

/* A reliable bunch that was sent and is kept until everything before it is acknowledged (an entry of OutRec). */
struct ue_out {
    struct ue_out *next;           /* of the channel, by ch_seq */
    struct ue_out *next_in_packet; /* of the same channel in the same packet, by ch_seq; while queued: of the queue */
    union {
        uint64_t sent_ns; /* of its latest copy */
        uint32_t channel; /* while queued: the index of its channel */
    };
    int64_t packet_id; /* of its latest copy; UE_NO_PACKET: of none */
    int32_t ch_seq;    /* full number */
    uint32_t data_bits;
    bool acked;
    bool queued;    /* in a ue_out_queue */
    bool abandoned; /* queued, and its channel is gone: only to be freed */
    bool open;
    bool close;
    bool has_exports;
    bool has_mapped;
    bool paused;
    bool partial;
    bool partial_initial;
    bool partial_exports_final;
    bool partial_final;
    bool unknown;  /* reference model: its content is unknown */
    bool repeated; /* reference model: copies are in several packets that were not reported yet */
    uint8_t close_reason;
    uint8_t data[];
};

/* A reliable bunch that came before its turn (an entry of InRec), or a part of one that is being put together. */
struct ue_in {
    struct ue_in *next;
    int64_t ch_seq; /* full number; of unreliable parts the packet id */
    int64_t packet_id;
    struct ue_bunch bunch; /* data points to the copy behind */
    uint8_t data[];
};

/* A partial bunch under construction (InPartialBunch). */
struct ue_partial {
    struct ue_bunch bunch; /* of the first part; flags of the last are added */
    int64_t first_ch_seq;
    int64_t first_packet_id;
    int64_t ch_seq; /* of the newest part */
    size_t data_bits;
    size_t capacity_bytes;
    uint8_t *data;
    bool reliable;
    bool complete;
};

/* What a channel index keeps when its channel is gone: sequence numbers never start again (endpoint.md 20). */
struct ue_lane {
    uint32_t index;
    int32_t in_reliable;  /* InReliable: newest taken */
    int32_t out_reliable; /* OutReliable: newest given */
    int32_t owed_from;    /* PendingOutRec: first number the peer never got; 0 = none */
    uint32_t out_peak;    /* most bunches that OutRec ever held at once */
    struct ue_channel *channel;
};

#define UE_NO_PACKET INT64_MIN
#define UE_DORMANCY 1 /* the one close reason that legacy layouts have a bit for */

struct ue_channel {
    uint32_t index;
    uint32_t id; /* no other channel of the connection ever has it */
    enum ue_channel_kind kind;
    uint32_t name_index; /* engine's name table; 0 with a name as text */
    struct ue_text name; /* a copy in the connection's memory */
    bool opened_locally;
    bool open_sent;  /* the bunch with the open bit left */
    bool open_acked; /* OpenAcked; at the remote end: the whole open bunch was delivered */
    bool temporary;  /* OpenTemporary: opened by an unreliable bunch */
    bool closing;
    bool has_opened;         /* the program knows of it */
    bool is_dying;           /* the close was acknowledged: freed behind the packet's bunches */
    bool has_unsent;         /* its lane owes numbers; of a mute connection: OutRec holds what must be sent again */
    bool paused_until_acked; /* bPausedUntilReliableACK */
    struct ue_packet_range open_packets; /* OpenPacketId; UE_NO_PACKET = none */
    struct ue_out *out_first;
    struct ue_out *out_last;
    struct ue_out *out_before_last; /* NULL when it is gone */
    uint32_t out_count;             /* NumOutRec */
    int32_t given_unseen; /* for tools/replay: up to this one numbers may have been given before the capture began */
    struct ue_in *in_first;
    uint32_t in_count; /* NumInRec */
    struct ue_partial *partial;
    int64_t progress; /* stall.c: the newest number for which bunches waited, and since when it has been that */
    uint64_t progress_ns;
    uint8_t close_reason;
};

/* Reliable bunches that wait to be sent, first the one that leaves first. */
struct ue_out_queue {
    struct ue_out *first;
    struct ue_out *last;
};

/* All lanes, found by index: open addressing, grown by doubling. */
struct ue_lanes {
    struct ue_lane **slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
    uint32_t open_count; /* lanes with a channel */
    uint32_t next_id;
    int32_t in_first; /* where the numbers of a new lane begin */
    int32_t out_first;
    struct ue_out_queue resends; /* retransmissions, in the order of the naks; they leave before anything new */
    struct ue_out_queue unsent;  /* bunches that never left */
    struct ue_share *share;
};

void ue_lanes_init(struct ue_lanes *lanes, struct ue_share *share, int32_t in_first, int32_t out_first);
void ue_lanes_free(struct ue_lanes *lanes);
/* Where the lane of an index is, or would be put. */
static inline uint32_t ue_lane_slot(struct ue_lane *const *slots, uint32_t capacity, uint32_t index) {
    uint32_t slot = index * UINT32_C(0x9E3779B1) >> 16 & (capacity - 1);
    while (slots[slot] != NULL && slots[slot]->index != index) {
        slot = (slot + 1) & (capacity - 1);
    }
    return slot;
}
/* The lane of an index; NULL when it was never used. */
static inline struct ue_lane *ue_lane_find(const struct ue_lanes *lanes, uint32_t index) {
    return lanes->capacity != 0 ? lanes->slots[ue_lane_slot(lanes->slots, lanes->capacity, index)] : NULL;
}
/* The same, made where missing; NULL: no memory. */
struct ue_lane *ue_lane_need(struct ue_lanes *lanes, uint32_t index);

/* A channel on a lane that has none; NULL: no memory. */
struct ue_channel *ue_channel_new(struct ue_lanes *lanes, struct ue_lane *lane, enum ue_channel_kind kind);
/* Frees the channel with everything that waits in it; what was never acknowledged is owed by the lane. */
void ue_channel_free(struct ue_lanes *lanes, struct ue_lane *lane);

/* How many numbers are owed. */
uint32_t ue_lane_debts(const struct ue_lane *lane);

/* A bunch for OutRec, whose data are not yet filled; NULL: no memory. */
struct ue_out *ue_out_new(struct ue_share *share, uint32_t data_bits);
/* Frees bunches that are in no OutRec; NULL: none. */
void ue_outs_free(struct ue_share *share, struct ue_out *first);
/* Appends an entry of OutRec that is in no packet to a queue. */
void ue_out_push(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out *out);
/* Removes the first entry and returns it; entries whose channel is gone are freed on the way. NULL: none. */
struct ue_out *ue_out_pop(struct ue_share *share, struct ue_out_queue *queue);
/* Puts an entry back that ue_out_pop() returned. */
void ue_out_push_front(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out *out);
/* Appends to OutRec of the lane's channel. */
void ue_channel_add_out(struct ue_lane *lane, struct ue_out *out, int32_t ch_seq);
/* Makes the newest entry larger; NULL: no memory, and nothing changed. */
struct ue_out *ue_channel_grow_out(struct ue_lanes *lanes, struct ue_channel *channel, uint32_t data_bits);
/* Frees acknowledged bunches from the front. Returns whether the close was among them; sets open_acked. */
bool ue_channel_release(struct ue_lanes *lanes, struct ue_channel *channel);

enum ue_in_result { UE_IN_KEPT, UE_IN_KNOWN, UE_IN_TOO_MANY, UE_IN_NO_MEMORY };
/* Keeps a bunch that came before its turn, with a copy of its data. */
enum ue_in_result ue_channel_keep_in(struct ue_lanes *lanes, struct ue_channel *channel, const struct ue_bunch *bunch,
                                     int64_t ch_seq, int64_t packet_id, uint32_t limit);
/* Takes the waiting bunch with this number, which the caller gives back to the share; NULL: it has not come. */
struct ue_in *ue_channel_take_in(struct ue_channel *channel, int64_t ch_seq);

#endif

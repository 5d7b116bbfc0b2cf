/* SPDX-License-Identifier: MIT */
/* Channels of one connection, and the reliable bunches that wait at either end (endpoint.md 17, 15, 20 and 21). */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_CHANNEL_H
#define UERUDP_TOOLS_ENDPOINT_CORE_CHANNEL_H

#include <uerudp/bunch.h>
#include "tools/endpoint/core/connection_common.h"

/* A reliable bunch that was sent and is kept until everything before it is acknowledged (an entry of OutRec). */
struct ue_out_rec {
    struct ue_out_rec *next; /* of the channel, by ch_seq */
    struct ue_out_rec
        *next_in_packet; /* of the same channel in the same packet, by ch_seq; while queued: of the queue */
    union {
        uint64_t sent_ns; /* of its latest copy */
        uint32_t channel; /* while queued: the index of its channel */
    };
    int64_t packet_id; /* of its latest copy; UE_NO_PACKET: of none */
    int32_t ch_seq;    /* full number */
    uint32_t data_bits;
    bool acked : 1;
    bool queued : 1;    /* in a ue_out_queue */
    bool abandoned : 1; /* queued, and its channel is gone: only to be freed */
    bool partial_initial : 1;
    bool partial_exports_final : 1;
    bool partial_final : 1;
    bool partial;
    bool open;
    bool close;
    bool has_exports;
    bool has_mapped;
    bool paused;
    uint8_t close_reason;
    uint8_t data[];
};

/* A reliable bunch that came before its turn (an entry of InRec), or a part of one that is being put together. */
struct ue_in_rec {
    struct ue_in_rec *next;
    int64_t ch_seq; /* full number; of unreliable parts the packet id */
    int64_t packet_id;
    struct ue_bunch bunch; /* its data are the copy below */
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
struct ue_channel_entry {
    uint32_t index;
    int32_t in_reliable;     /* InReliable: newest received in order */
    int32_t out_reliable;    /* OutReliable: newest used */
    int32_t pending_out_rec; /* PendingOutRec: first number the peer never got; 0 = none */
    uint32_t out_peak;       /* most bunches that OutRec ever held at once */
    struct ue_channel *channel;
};

#define UE_NO_PACKET INT64_MIN

/* Close reasons of channels (EChannelCloseReason). */
enum ue_channel_close {
    UE_CHANNEL_DESTROYED,
    UE_CHANNEL_DORMANCY, /* the one reason that legacy layouts have a bit for */
    UE_CHANNEL_LEVEL_UNLOADED,
    UE_CHANNEL_RELEVANCY,
    UE_CHANNEL_TEAR_OFF,
    UE_CHANNEL_MIGRATED
};

struct ue_channel {
    uint32_t index;
    uint32_t id; /* no other channel of the connection ever has it */
    enum ue_channel_kind kind;
    uint32_t name_index;  /* engine's name table; 0 with a name as text */
    struct ue_text *name; /* a copy in the connection's memory, its bytes after it; NULL: no text */
    bool opened_locally;
    bool open_sent;  /* the bunch with the open bit left */
    bool open_acked; /* OpenAcked; at the remote end: the whole open bunch was delivered */
    bool temporary;  /* OpenTemporary: opened by an unreliable bunch */
    bool closing;
    bool has_opened;         /* the program knows of it */
    bool close_acked;        /* the close was acknowledged: freed after the packet's bunches */
    bool paused_until_acked; /* bPausedUntilReliableACK */
    uint8_t close_reason;
    struct ue_out_rec *out_first;
    struct ue_out_rec *out_last;
    struct ue_out_rec *out_before_last; /* NULL when it is gone */
    uint32_t out_count;                 /* NumOutRec */
    uint32_t in_count;                  /* NumInRec */
    struct ue_in_rec *in_first;
    struct ue_partial *partial;
    struct ue_packet_range open_packets; /* OpenPacketId; UE_NO_PACKET = none */
    int64_t progress; /* tick.c: the newest number for which bunches waited, and since when it has been that */
    uint64_t progress_ns;
};

/* Reliable bunches that wait to be sent, first the one that leaves first. */
struct ue_out_queue {
    struct ue_out_rec *first;
    struct ue_out_rec *last;
};

/* All entries, found by index: open addressing, grown by doubling. */
struct ue_channel_table {
    struct ue_channel_entry **slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
    uint32_t open_count; /* entries with a channel */
    uint32_t next_id;
    int32_t in_first; /* where the numbers of a new entry begin */
    int32_t out_first;
    struct ue_channel_entry control; /* of index 0, which every tick needs: in slots once it was used */
    struct ue_out_queue resends;     /* retransmissions, in the order of the naks; they leave before anything new */
    struct ue_out_queue unsent;      /* bunches that never left */
    struct ue_spares out_recs;       /* for the next bunches */
    struct ue_common *common;
    bool has_close_acked;     /* of a channel */
    bool has_pending_out_rec; /* of an entry with a channel */
    bool has_waiting_in_rec;  /* InRec of a channel has what is in order, and found no memory when it was due */
};

void ue_channel_table_init(struct ue_channel_table *table, struct ue_common *common, int32_t in_first,
                           int32_t out_first);
void ue_channel_table_free(struct ue_channel_table *table);
/* Where the entry of an index is, or would be put. */
static inline uint32_t ue_channel_entry_slot(struct ue_channel_entry *const *slots, uint32_t capacity, uint32_t index) {
    uint32_t slot = index * UINT32_C(0x9E3779B1) >> 16 & (capacity - 1);
    for (const struct ue_channel_entry *entry; (entry = slots[slot]) != NULL && entry->index != index;) {
        slot = (slot + 1) & (capacity - 1);
    }
    return slot;
}
/* The channel in a slot; NULL: there is none. */
static inline struct ue_channel *ue_channel_at(const struct ue_channel_table *table, uint32_t slot) {
    return table->slots[slot] != NULL ? table->slots[slot]->channel : NULL;
}
/* The entry of an index; NULL when it was never used. */
static inline struct ue_channel_entry *ue_channel_entry_find(const struct ue_channel_table *table, uint32_t index) {
    return table->capacity != 0 ? table->slots[ue_channel_entry_slot(table->slots, table->capacity, index)] : NULL;
}
/* The same, made where missing; NULL: no memory. */
struct ue_channel_entry *ue_channel_entry_get(struct ue_channel_table *table, uint32_t index);

/* A channel on an entry that has none; NULL: no memory. */
struct ue_channel *ue_channel_new(struct ue_channel_table *table, struct ue_channel_entry *entry,
                                  enum ue_channel_kind kind);
/* Drops the incomplete bunch of a channel. */
void ue_partial_drop(struct ue_share *share, struct ue_channel *channel);
/* Frees the channel with everything that waits in it; the numbers of what was not acknowledged stay in the entry
   as PendingOutRec. */
void ue_channel_free(struct ue_channel_table *table, struct ue_channel_entry *entry);

/* The number of bunches of PendingOutRec. */
uint32_t ue_pending_out_rec_count(const struct ue_channel_entry *entry);

/* A bunch for OutRec, whose data are not yet filled; NULL: no memory. */
struct ue_out_rec *ue_out_rec_alloc(struct ue_channel_table *table, uint32_t data_bits);
/* Frees bunches that are in no OutRec; NULL: none. */
void ue_out_rec_free_all(struct ue_share *share, struct ue_out_rec *first);
/* Appends an entry of OutRec that is in no packet to a queue. */
void ue_out_queue_push(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out_rec *out);
/* Removes the first entry and returns it; entries whose channel is gone are freed on the way. NULL: none. */
struct ue_out_rec *ue_out_queue_pop(struct ue_share *share, struct ue_out_queue *queue);
/* Puts an entry back that ue_out_queue_pop() returned. */
void ue_out_queue_push_front(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out_rec *out);
/* Appends to OutRec of the entry's channel. */
void ue_channel_add_out(struct ue_channel_entry *entry, struct ue_out_rec *out, int32_t ch_seq);
/* Makes the newest entry larger; NULL: no memory, and nothing changed. */
struct ue_out_rec *ue_channel_grow_out(struct ue_channel_table *table, struct ue_channel *channel, uint32_t data_bits);
/* Frees acknowledged bunches from the front. Returns whether the close was among them; sets open_acked. */
bool ue_channel_release(struct ue_channel_table *table, struct ue_channel *channel);

/* ---- the record of sent packets: those that were not reported yet, in order, when each left, and which channels wrote
   into it (WrittenChannelsRecord, OutLag; endpoint.md 15, 31) ---- */

/* One channel's part in one packet. */
struct ue_written {
    int64_t packet_id;
    uint64_t sent_ns;         /* of the packet, in its last entry; else UE_NO_TIME */
    uint32_t channel;         /* UE_WRITTEN_NONE: the packet has no bunches */
    uint32_t channel_id;      /* of the channel that had the index then; void when another has it now */
    struct ue_out_rec *first; /* reliable bunches, in OutRec order */
    struct ue_out_rec *last;
};

#define UE_WRITTEN_NONE UINT32_MAX
#define UE_NO_TIME UINT64_MAX

/* A ring that grows by doubling. */
struct ue_sent_packets {
    struct ue_written *ring;
    uint32_t capacity;
    uint32_t begin;
    uint32_t count;
    struct ue_share *share;
};

void ue_sent_packets_init(struct ue_sent_packets *sent, struct ue_share *share);
void ue_sent_packets_free(struct ue_sent_packets *sent);
/* Records that a channel wrote into a packet; out: the reliable bunch, or NULL. False: no memory. */
bool ue_sent_packets_add_channel(struct ue_sent_packets *sent, int64_t packet_id, const struct ue_channel *channel,
                                 struct ue_out_rec *out);
/* Records that the packet left. */
bool ue_sent_packets_push(struct ue_sent_packets *sent, int64_t packet_id, uint64_t now_ns);
/* Removes a bunch from its packet because another packet carries it now. */
void ue_sent_packets_unlink(struct ue_sent_packets *sent, int64_t packet_id, const struct ue_channel *channel,
                            struct ue_out_rec *out);
/* The newest bunch that a channel wrote moved in memory. */
void ue_sent_packets_replace(struct ue_sent_packets *sent, int64_t packet_id, const struct ue_channel *channel,
                             const struct ue_out_rec *old, struct ue_out_rec *out);
/* Removes the oldest entry if it is of this packet; older ones are dropped. False: no entry of it is left. */
bool ue_sent_packets_pop(struct ue_sent_packets *sent, int64_t packet_id, struct ue_written *written);

/* ---- channels of a connection ---- */

struct ue_channel *ue_channel_find(const struct ue_channel_table *channels, uint32_t index);
/* Whether this side may open channels of this kind. */
bool ue_may_open(const struct ue_common *common, enum ue_channel_kind kind);
/* The index of the next channel of this kind: the lowest that is free, at most max_channels; of Control and Voice
   always the same. */
int64_t ue_channel_free_index(const struct ue_channel_table *channels, enum ue_channel_kind kind);
/* NULL: no memory. */
struct ue_channel *ue_channel_create(struct ue_channel_table *channels, uint32_t index, enum ue_channel_kind kind);
static inline bool ue_kind_both_open(enum ue_channel_kind kind) {
    return kind == UE_KIND_VOICE || kind == UE_KIND_OTHER;
}
/* Whether the server may send: a reliable bunch of the client was received on channel 0 (endpoint.md 27). */
bool ue_may_send(const struct ue_channel_table *channels);
/* Frees a channel and reports it to the program; the end of channel 0 is the end of the connection. */
void ue_channel_clean_up(struct ue_channel_table *channels, struct ue_channel *channel);
/* Frees the channels that closed while a packet's acks were processed. */
void ue_free_closed_channels(struct ue_channel_table *channels);

#endif

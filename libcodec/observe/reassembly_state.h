/* SPDX-License-Identifier: MIT */
/* The state of the passive reassembly, and the functions that its parts share. */
#ifndef UERUDP_LIBCODEC_OBSERVE_REASSEMBLY_STATE_H
#define UERUDP_LIBCODEC_OBSERVE_REASSEMBLY_STATE_H

#include <uerudp/bunch.h>
#include <uerudp/reassembly.h>
#include "libcodec/observe/channel_entries.h"

struct ue_fragment_queue;

/* A pending fragment. */
struct ue_queued_fragment {
    struct ue_queued_fragment *previous, *next; /* in its queue, by number, then item */
    struct ue_queued_fragment *older, *newer;   /* in the connection, by arrival */
    struct ue_fragment_queue *queue;
    int64_t number; /* full channel sequence; of an unreliable one the packet id */
    struct ue_fragment source;
    bool is_initial, is_final, is_exports_final;
    bool open, close, has_mapped;
    uint8_t data[];
};

/* The pending fragments of one channel, direction and reliability. */
struct ue_fragment_queue {
    struct ue_queued_fragment *first, *last;
    int64_t done;                   /* last number of the run that was removed last: no fragment continues it */
    struct ue_fragment_queue *next; /* of the same channel */
    struct ue_fragment_queue *next_late;
    uint16_t count;
    uint16_t channel;
    uint8_t side;
    bool is_reliable;
    bool is_late; /* in the list of queues with fragments of a late packet */
};
_Static_assert(UE_REASSEMBLY_FRAGMENTS_MAX <= UINT16_MAX && UE_CHANNEL_MAX <= UINT16_MAX, "they fit a queue");

/* What every bunch needs of its channel. One byte for each channel, so that all of them stay in the cache. */
struct ue_reassembly_channel {
    uint8_t kind : 3; /* enum ue_content_kind */
    uint8_t has_kind : 1;
    uint8_t pending : 4; /* queues with fragments: bit 2 * side + is_reliable */
};
_Static_assert(UE_CONTENT_KIND_COUNT <= 8 && sizeof(struct ue_reassembly_channel) == 1, "one byte for each channel");

/* Which of the newest 64 packets of a side were captured. */
struct ue_reassembly_side {
    int64_t newest_id;
    uint64_t captured; /* bit n: newest_id - n */
};

struct ue_reassembly {
    struct ue_limited_allocator memory;
    struct ue_queued_fragment *oldest, *newest;
    struct ue_reassembly_side sides[2];
    struct ue_fragment_queue *late; /* queues with unreliable fragments of the current packet, which is late */
    int64_t late_id, late_ns;       /* of this packet */
    struct ue_reassembly_channel *channels;
    uint32_t channel_count;
    struct ue_channel_entries queues; /* of struct ue_fragment_queue *: those that ever had a fragment */
};

/* A run: fragments of one message with consecutive numbers. */
struct ue_fragment_run {
    struct ue_queued_fragment *first, *last;
    uint32_t count;
};

/* Allocate and free blocks within the memory limit. NULL when there is no memory. */
void *ue_reassembly_alloc_block(struct ue_reassembly *reassembly, size_t size_bytes);
void ue_reassembly_free_block(struct ue_reassembly *reassembly, void *block, size_t size_bytes);

/* NULL when the channel is not known. */
UE_INLINE struct ue_reassembly_channel *ue_reassembly_find_channel(const struct ue_reassembly *reassembly,
                                                                   uint32_t index) {
    return index < reassembly->channel_count ? &reassembly->channels[index] : NULL;
}

/* Whether a channel has pending fragments of a side and reliability. */
UE_INLINE bool ue_reassembly_has_fragments(const struct ue_reassembly *reassembly, uint32_t index, unsigned side,
                                           bool is_reliable) {
    const struct ue_reassembly_channel *channel = ue_reassembly_find_channel(reassembly, index);
    return channel != NULL && (channel->pending >> (2 * side + is_reliable) & 1) != 0;
}

/* Finds or adds a channel; NULL when there is no memory, or no engine uses the index. */
struct ue_reassembly_channel *ue_reassembly_ensure_channel(struct ue_reassembly *reassembly, uint32_t index);

void ue_reassembly_free_channels(struct ue_reassembly *reassembly);

/* A queue of a channel; NULL when it never had a fragment. */
struct ue_fragment_queue *ue_fragment_queue_find(const struct ue_reassembly *reassembly, uint32_t index, unsigned side,
                                                 bool is_reliable);
/* Finds or adds a queue; NULL when there is no memory, or no engine uses the index. */
struct ue_fragment_queue *ue_fragment_queue_ensure(struct ue_reassembly *reassembly, uint32_t index, unsigned side,
                                                   bool is_reliable);
/* The last fragment of a queue before this number and item; NULL when there is none. */
struct ue_queued_fragment *ue_fragment_queue_find_before(const struct ue_fragment_queue *queue, int64_t number,
                                                         uint32_t item);

/* Copies a fragment into a queue that has no fragment with its number; NULL when there is no memory. */
struct ue_queued_fragment *ue_fragment_queue_add(struct ue_reassembly *reassembly, struct ue_fragment_queue *queue,
                                                 int64_t number, const struct ue_fragment *source,
                                                 const struct ue_bunch *bunch);
/* Removes the fragments of a run. */
void ue_fragment_run_drop(struct ue_reassembly *reassembly, const struct ue_fragment_run *run);

/* The run of a fragment. */
struct ue_fragment_run ue_fragment_run_of(struct ue_queued_fragment *fragment);

#endif

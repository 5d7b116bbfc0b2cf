/* SPDX-License-Identifier: MIT */
/* What the passive reassembly keeps, and how it is bounded. */
#ifndef UERUDP_LIBCODEC_OBSERVE_REASSEMBLY_STATE_H
#define UERUDP_LIBCODEC_OBSERVE_REASSEMBLY_STATE_H

#include <uerudp/bunch.h>
#include <uerudp/reassembly.h>
#include "libcodec/observe/channel_pages.h"

struct ue_fragment_queue;

/* A fragment that waits for others. */
struct ue_queued_fragment {
    struct ue_queued_fragment *before, *behind; /* in its lane, by number, then item */
    struct ue_queued_fragment *older, *newer;   /* in the connection, by arrival */
    struct ue_fragment_queue *lane;
    int64_t number; /* full channel sequence; of an unreliable one the packet id */
    struct ue_fragment seen;
    bool is_initial, is_final, is_exports_final;
    bool open, close, has_mapped;
    uint8_t data[];
};

/* The fragments of one channel, direction and reliability that wait. */
struct ue_fragment_queue {
    struct ue_queued_fragment *first, *last;
    int64_t done;                  /* the number that ended the run which left last: nothing continues it */
    struct ue_fragment_queue *next; /* of the same channel */
    struct ue_fragment_queue *next_late;
    uint16_t count;
    uint16_t channel;
    uint8_t side;
    bool is_reliable;
    bool is_late; /* in the list of such, next_late behind it */
};
_Static_assert(UE_REASSEMBLY_FRAGMENTS_MAX <= UINT16_MAX && UE_CHANNEL_MAX <= UINT16_MAX, "they fit a lane");

/* What every bunch asks for, of all channels together: so few bytes stay near the processor. */
struct ue_reassembly_channel {
    uint8_t kind : 3; /* enum ue_content_kind */
    uint8_t has_kind : 1;
    uint8_t waiting : 4; /* lanes with fragments: bit 2 * side + is_reliable */
};
_Static_assert(UE_CONTENT_KIND_COUNT <= 8 && sizeof(struct ue_reassembly_channel) == 1, "a byte is enough");

/* Which packets of a side were seen, of the newest 64. */
struct ue_reassembly_side {
    int64_t newest_id;
    uint64_t seen; /* bit n: newest_id - n */
};

struct ue_reassembly {
    struct ue_limited_allocator budget;
    struct ue_queued_fragment *oldest, *newest;
    struct ue_reassembly_side sides[2];
    struct ue_fragment_queue *late; /* where the present packet, a late one, has unreliable fragments */
    int64_t late_id;
    struct ue_reassembly_channel *channels;
    uint32_t channel_count;
    struct ue_channel_pages lanes; /* of struct ue_fragment_queue *: of each channel those that had a fragment */
};

/* Fragments that follow each other without a hole. */
struct ue_fragment_run {
    struct ue_queued_fragment *first, *last;
    uint32_t count;
};

/* A block within the bounds of the assembly; NULL: there is no memory. Gives back what it gave. */
void *ue_reassembly_alloc_block(struct ue_reassembly *assembly, size_t size_bytes);
void ue_reassembly_free_block(struct ue_reassembly *assembly, void *block, size_t size_bytes);

/* NULL: it is not known, or no engine has such an index. */
UE_INLINE struct ue_reassembly_channel *ue_reassembly_find_channel(const struct ue_reassembly *assembly, uint32_t index) {
    return index < assembly->channel_count ? &assembly->channels[index] : NULL;
}

/* Whether fragments wait in a lane of a channel. */
UE_INLINE bool ue_reassembly_has_fragments(const struct ue_reassembly *assembly, uint32_t index, unsigned side, bool is_reliable) {
    const struct ue_reassembly_channel *channel = ue_reassembly_find_channel(assembly, index);
    return channel != NULL && (channel->waiting >> (2 * side + is_reliable) & 1) != 0;
}
/* The same, made where missing; NULL also: no memory. */
struct ue_reassembly_channel *ue_reassembly_ensure_channel(struct ue_reassembly *assembly, uint32_t index);

void ue_reassembly_free_channels(struct ue_reassembly *assembly);

/* Remembers what a bunch says about the kind of its channel. */
void ue_reassembly_learn_kind(struct ue_reassembly *assembly, const struct ue_context *context,
                            const struct ue_bunch *bunch);

/* A lane of a channel; NULL: nothing waited there so far. */
struct ue_fragment_queue *ue_fragment_queue_find(const struct ue_reassembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable);
/* The same, made where missing; NULL: no memory, or no engine has such an index. */
struct ue_fragment_queue *ue_fragment_queue_ensure(struct ue_reassembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable);
/* The last fragment in a lane that is before this number and item; NULL: none. */
struct ue_queued_fragment *ue_fragment_queue_find_before(const struct ue_fragment_queue *lane, int64_t number, uint32_t item);

/* Copies a fragment into a lane, where none has its number; NULL: no memory. */
struct ue_queued_fragment *ue_fragment_queue_add(struct ue_reassembly *assembly, struct ue_fragment_queue *lane, int64_t number,
                                  const struct ue_fragment *seen, const struct ue_bunch *bunch);
/* Forgets the fragments of a run. */
void ue_fragment_run_drop(struct ue_reassembly *assembly, const struct ue_fragment_run *run);

/* All that a fragment hangs together with. */
struct ue_fragment_run ue_fragment_run_of(struct ue_queued_fragment *fragment);

#endif

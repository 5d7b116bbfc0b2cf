/* SPDX-License-Identifier: MIT */
/* What the passive reassembly keeps, and how it is bounded. */
#ifndef UERUDP_LIBCODEC_OBSERVE_REASSEMBLY_STATE_H
#define UERUDP_LIBCODEC_OBSERVE_REASSEMBLY_STATE_H

#include <uerudp/bunch.h>
#include <uerudp/reassembly.h>
#include "libcodec/observe/channel_pages.h"

struct ue_assembly_lane;

/* A fragment that waits for others. */
struct ue_waiting {
    struct ue_waiting *before, *behind; /* in its lane, by number, then item */
    struct ue_waiting *older, *newer;   /* in the connection, by arrival */
    struct ue_assembly_lane *lane;
    int64_t number; /* full channel sequence; of an unreliable one the packet id */
    struct ue_fragment seen;
    bool is_initial, is_final, is_exports_final;
    bool open, close, has_mapped;
    uint8_t data[];
};

/* The fragments of one channel, direction and reliability that wait. */
struct ue_assembly_lane {
    struct ue_waiting *first, *last;
    int64_t done;                  /* the number that ended the run which left last: nothing continues it */
    struct ue_assembly_lane *next; /* of the same channel */
    struct ue_assembly_lane *next_late;
    uint16_t count;
    uint16_t channel;
    uint8_t side;
    bool is_reliable;
    bool is_late; /* in the list of such, next_late behind it */
};
_Static_assert(UE_ASSEMBLY_FRAGMENTS_MAX <= UINT16_MAX && UE_CHANNEL_MAX <= UINT16_MAX, "they fit a lane");

/* What every bunch asks for, of all channels together: so few bytes stay near the processor. */
struct ue_assembly_channel {
    uint8_t kind : 3; /* enum ue_content_kind */
    uint8_t has_kind : 1;
    uint8_t waiting : 4; /* lanes with fragments: bit 2 * side + is_reliable */
};
_Static_assert(UE_CONTENT_KIND_COUNT <= 8 && sizeof(struct ue_assembly_channel) == 1, "a byte is enough");

/* Which packets of a side were seen, of the newest 64. */
struct ue_assembly_side {
    int64_t newest_id;
    uint64_t seen; /* bit n: newest_id - n */
};

struct ue_assembly {
    struct ue_budget budget;
    struct ue_waiting *oldest, *newest;
    struct ue_assembly_side sides[2];
    struct ue_assembly_lane *late; /* where the present packet, a late one, has unreliable fragments */
    int64_t late_id;
    struct ue_assembly_channel *channels;
    uint32_t channel_count;
    struct ue_channel_pages lanes; /* of struct ue_assembly_lane *: of each channel those that had a fragment */
};

/* Fragments that follow each other without a hole. */
struct ue_run {
    struct ue_waiting *first, *last;
    uint32_t count;
};

/* A block within the bounds of the assembly; NULL: there is no memory. Gives back what it gave. */
void *ue_assembly_take(struct ue_assembly *assembly, size_t size_bytes);
void ue_assembly_give(struct ue_assembly *assembly, void *block, size_t size_bytes);

/* NULL: it is not known, or no engine has such an index. */
UE_INLINE struct ue_assembly_channel *ue_assembly_find_channel(const struct ue_assembly *assembly, uint32_t index) {
    return index < assembly->channel_count ? &assembly->channels[index] : NULL;
}

/* Whether fragments wait in a lane of a channel. */
UE_INLINE bool ue_assembly_waits(const struct ue_assembly *assembly, uint32_t index, unsigned side, bool is_reliable) {
    const struct ue_assembly_channel *channel = ue_assembly_find_channel(assembly, index);
    return channel != NULL && (channel->waiting >> (2 * side + is_reliable) & 1) != 0;
}
/* The same, made where missing; NULL also: no memory. */
struct ue_assembly_channel *ue_assembly_need_channel(struct ue_assembly *assembly, uint32_t index);

void ue_assembly_free_channels(struct ue_assembly *assembly);

/* Remembers what a bunch says about the kind of its channel. */
void ue_assembly_learn_kind(struct ue_assembly *assembly, const struct ue_context *context,
                            const struct ue_bunch *bunch);

/* A lane of a channel; NULL: nothing waited there so far. */
struct ue_assembly_lane *ue_assembly_find_lane(const struct ue_assembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable);
/* The same, made where missing; NULL: no memory, or no engine has such an index. */
struct ue_assembly_lane *ue_assembly_need_lane(struct ue_assembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable);
/* The last fragment in a lane that is before this number and item; NULL: none. */
struct ue_waiting *ue_lane_find_before(const struct ue_assembly_lane *lane, int64_t number, uint32_t item);

/* Copies a fragment into a lane, where none has its number; NULL: no memory. */
struct ue_waiting *ue_waiting_add(struct ue_assembly *assembly, struct ue_assembly_lane *lane, int64_t number,
                                  const struct ue_fragment *seen, const struct ue_bunch *bunch);
/* Forgets the fragments of a run. */
void ue_run_drop(struct ue_assembly *assembly, const struct ue_run *run);

/* All that a fragment hangs together with. */
struct ue_run ue_run_of(struct ue_waiting *fragment);

#endif

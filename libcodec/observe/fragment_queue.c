/* SPDX-License-Identifier: MIT */
#include <uerudp/partial.h>
#include "libcodec/base/prefetch.h"
#include "libcodec/observe/reassembly_state.h"

#include <string.h>

#define CHANNELS_MIN 16

/* ---- memory ---- */

void *ue_reassembly_alloc_block(struct ue_reassembly *assembly, size_t size_bytes) {
    return ue_limited_allocator_resize(&assembly->budget, NULL, 0, size_bytes);
}

void ue_reassembly_free_block(struct ue_reassembly *assembly, void *block, size_t size_bytes) {
    if (block != NULL) {
        ue_limited_allocator_resize(&assembly->budget, block, size_bytes, 0);
    }
}

/* ---- channels ---- */

static void reach(struct ue_reassembly *assembly, uint32_t index) {
    uint32_t former = assembly->channel_count;
    uint32_t count = former != 0 ? former : CHANNELS_MIN;
    while (count <= index) {
        count *= 2;
    }
    struct ue_reassembly_channel *channels = ue_limited_allocator_resize(&assembly->budget, assembly->channels, former, count);
    if (channels != NULL) {
        memset(channels + former, 0, count - former);
        assembly->channels = channels;
        assembly->channel_count = count;
    }
}

struct ue_reassembly_channel *ue_reassembly_ensure_channel(struct ue_reassembly *assembly, uint32_t index) {
    if (index >= assembly->channel_count && index <= UE_CHANNEL_MAX) {
        reach(assembly, index);
    }
    return ue_reassembly_find_channel(assembly, index);
}

static struct ue_fragment_queue **find_lanes(const struct ue_reassembly *assembly, uint32_t index) {
    return ue_channel_pages_find(&assembly->lanes, index, sizeof(struct ue_fragment_queue *));
}

static void free_lanes(struct ue_reassembly *assembly, uint32_t index) {
    struct ue_fragment_queue **lanes = find_lanes(assembly, index);
    while (lanes != NULL && *lanes != NULL) {
        struct ue_fragment_queue *lane = *lanes;
        *lanes = lane->next;
        ue_reassembly_free_block(assembly, lane, sizeof *lane);
    }
}

void ue_reassembly_free_channels(struct ue_reassembly *assembly) {
    for (uint32_t i = 0; i < assembly->lanes.count * UE_CHANNEL_PAGE_ENTRIES; i++) {
        free_lanes(assembly, i);
    }
    ue_channel_pages_free(&assembly->lanes, &assembly->budget, sizeof(struct ue_fragment_queue *));
    ue_reassembly_free_block(assembly, assembly->channels, assembly->channel_count);
}

struct ue_fragment_queue *ue_fragment_queue_find(const struct ue_reassembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable) {
    struct ue_fragment_queue *const *lanes = find_lanes(assembly, index);
    struct ue_fragment_queue *lane = lanes != NULL ? *lanes : NULL;
    while (lane != NULL && (lane->side != side || lane->is_reliable != is_reliable)) {
        lane = lane->next;
    }
    return lane;
}

static struct ue_fragment_queue *add_lane(struct ue_reassembly *assembly, struct ue_fragment_queue **lanes) {
    struct ue_fragment_queue *lane = ue_reassembly_alloc_block(assembly, sizeof *lane);
    if (lane != NULL) {
        *lane = (struct ue_fragment_queue){.done = INT64_MIN, .next = *lanes};
        *lanes = lane;
    }
    return lane;
}

struct ue_fragment_queue *ue_fragment_queue_ensure(struct ue_reassembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable) {
    struct ue_fragment_queue **lanes = ue_channel_pages_ensure(&assembly->lanes, &assembly->budget, index, sizeof *lanes);
    struct ue_fragment_queue *lane = ue_fragment_queue_find(assembly, index, side, is_reliable);
    if (lane != NULL || lanes == NULL || ue_reassembly_ensure_channel(assembly, index) == NULL) {
        return lane;
    }
    lane = add_lane(assembly, lanes);
    if (lane != NULL) {
        lane->channel = (uint16_t)index;
        lane->side = (uint8_t)side;
        lane->is_reliable = is_reliable;
    }
    return lane;
}

/* ---- ahead ---- */

static void expect_head(const struct ue_reassembly *assembly, const struct ue_bunch *bunch) {
    ue_prefetch(ue_reassembly_find_channel(assembly, bunch->channel));
    if (bunch->partial) {
        ue_prefetch(find_lanes(assembly, bunch->channel));
    }
}

static void expect_lane(const struct ue_reassembly *assembly, const struct ue_bunch *bunch) {
    struct ue_fragment_queue *const *lanes = bunch->partial ? find_lanes(assembly, bunch->channel) : NULL;
    if (lanes != NULL) {
        ue_prefetch(*lanes);
    }
}

void ue_reassembly_prefetch(const struct ue_reassembly *assembly, const struct ue_item *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!items[i].is_ack) {
            expect_head(assembly, &items[i].bunch);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!items[i].is_ack) {
            expect_lane(assembly, &items[i].bunch);
        }
    }
}

/* ---- fragments ---- */

static size_t size_of(const struct ue_queued_fragment *fragment) {
    return sizeof *fragment + ue_bits_bytes(fragment->seen.bits);
}

static bool is_before(const struct ue_queued_fragment *fragment, int64_t number, uint32_t item) {
    bool shares_packet = fragment->number == number && !fragment->lane->is_reliable;
    return fragment->number < number || (shares_packet && fragment->seen.item < item);
}

/* Most come in their order, so that the search begins at the end. */
struct ue_queued_fragment *ue_fragment_queue_find_before(const struct ue_fragment_queue *lane, int64_t number, uint32_t item) {
    struct ue_queued_fragment *before = lane->last;
    while (before != NULL && !is_before(before, number, item)) {
        before = before->before;
    }
    return before;
}

/* Says of its channel whether anything waits in a lane. */
static void mark(struct ue_reassembly *assembly, const struct ue_fragment_queue *lane) {
    struct ue_reassembly_channel *channel = ue_reassembly_find_channel(assembly, lane->channel);
    unsigned bit = 1u << (2 * lane->side + lane->is_reliable);
    channel->waiting = (uint8_t)(lane->count != 0 ? channel->waiting | bit : channel->waiting & ~bit) & 15u;
}

static void link_in(struct ue_reassembly *assembly, struct ue_fragment_queue *lane, struct ue_queued_fragment *before,
                    struct ue_queued_fragment *fragment) {
    fragment->lane = lane;
    fragment->before = before;
    fragment->behind = before != NULL ? before->behind : lane->first;
    *(before != NULL ? &before->behind : &lane->first) = fragment;
    *(fragment->behind != NULL ? &fragment->behind->before : &lane->last) = fragment;
    lane->count++;
    mark(assembly, lane);
    fragment->older = assembly->newest;
    fragment->newer = NULL;
    *(assembly->newest != NULL ? &assembly->newest->newer : &assembly->oldest) = fragment;
    assembly->newest = fragment;
}

static void unlink_from(struct ue_reassembly *assembly, struct ue_queued_fragment *fragment) {
    struct ue_fragment_queue *lane = fragment->lane;
    *(fragment->before != NULL ? &fragment->before->behind : &lane->first) = fragment->behind;
    *(fragment->behind != NULL ? &fragment->behind->before : &lane->last) = fragment->before;
    lane->count--;
    mark(assembly, lane);
    *(fragment->older != NULL ? &fragment->older->newer : &assembly->oldest) = fragment->newer;
    *(fragment->newer != NULL ? &fragment->newer->older : &assembly->newest) = fragment->older;
}

struct ue_queued_fragment *ue_fragment_queue_add(struct ue_reassembly *assembly, struct ue_fragment_queue *lane, int64_t number,
                                  const struct ue_fragment *seen, const struct ue_bunch *bunch) {
    struct ue_queued_fragment *fragment = ue_reassembly_alloc_block(assembly, sizeof *fragment + ue_bits_bytes(seen->bits));
    if (fragment == NULL) {
        return NULL;
    }
    *fragment = (struct ue_queued_fragment){
        .number = number,
        .seen = *seen,
        .is_initial = bunch->partial_initial,
        .is_final = bunch->partial_final,
        .is_exports_final = bunch->partial_exports_final,
        .open = bunch->open,
        .close = bunch->close,
        .has_mapped = bunch->has_mapped,
    };
    ue_view_copy((struct ue_view){bunch->data.base, bunch->data.bit, seen->bits}, fragment->data);
    link_in(assembly, lane, ue_fragment_queue_find_before(lane, number, seen->item), fragment);
    return fragment;
}

/* ---- runs ---- */

static bool hangs_together(const struct ue_queued_fragment *before, const struct ue_queued_fragment *behind) {
    return !before->is_final && !behind->is_initial &&
           ue_partial_is_next(before->lane->is_reliable, before->number, behind->number);
}

struct ue_fragment_run ue_fragment_run_of(struct ue_queued_fragment *fragment) {
    struct ue_fragment_run run = {fragment, fragment, 1};
    while (run.first->before != NULL && hangs_together(run.first->before, run.first)) {
        run.first = run.first->before;
        run.count++;
    }
    while (run.last->behind != NULL && hangs_together(run.last, run.last->behind)) {
        run.last = run.last->behind;
        run.count++;
    }
    return run;
}

void ue_fragment_run_drop(struct ue_reassembly *assembly, const struct ue_fragment_run *run) {
    struct ue_queued_fragment *fragment = run->first;
    run->first->lane->done = run->last->number;
    for (uint32_t i = 0; i < run->count; i++) {
        struct ue_queued_fragment *behind = fragment->behind;
        unlink_from(assembly, fragment);
        ue_reassembly_free_block(assembly, fragment, size_of(fragment));
        fragment = behind;
    }
}

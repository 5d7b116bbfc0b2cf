/* SPDX-License-Identifier: MIT */
#include <uerudp/partial.h>
#include "libcodec/base/prefetch.h"
#include "libcodec/observe/reassembly_state.h"

#include <string.h>

#define CHANNELS_MIN 16

/* ---- memory ---- */

void *ue_assembly_take(struct ue_assembly *assembly, size_t size_bytes) {
    return ue_budget_resize(&assembly->budget, NULL, 0, size_bytes);
}

void ue_assembly_give(struct ue_assembly *assembly, void *block, size_t size_bytes) {
    if (block != NULL) {
        ue_budget_resize(&assembly->budget, block, size_bytes, 0);
    }
}

/* ---- channels ---- */

static void reach(struct ue_assembly *assembly, uint32_t index) {
    uint32_t former = assembly->channel_count;
    uint32_t count = former != 0 ? former : CHANNELS_MIN;
    while (count <= index) {
        count *= 2;
    }
    struct ue_assembly_channel *channels = ue_budget_resize(&assembly->budget, assembly->channels, former, count);
    if (channels != NULL) {
        memset(channels + former, 0, count - former);
        assembly->channels = channels;
        assembly->channel_count = count;
    }
}

struct ue_assembly_channel *ue_assembly_need_channel(struct ue_assembly *assembly, uint32_t index) {
    if (index >= assembly->channel_count && index <= UE_CHANNEL_MAX) {
        reach(assembly, index);
    }
    return ue_assembly_find_channel(assembly, index);
}

static struct ue_assembly_lane **find_lanes(const struct ue_assembly *assembly, uint32_t index) {
    return ue_channel_pages_find(&assembly->lanes, index, sizeof(struct ue_assembly_lane *));
}

static void free_lanes(struct ue_assembly *assembly, uint32_t index) {
    struct ue_assembly_lane **lanes = find_lanes(assembly, index);
    while (lanes != NULL && *lanes != NULL) {
        struct ue_assembly_lane *lane = *lanes;
        *lanes = lane->next;
        ue_assembly_give(assembly, lane, sizeof *lane);
    }
}

void ue_assembly_free_channels(struct ue_assembly *assembly) {
    for (uint32_t i = 0; i < assembly->lanes.count * UE_PAGE_CHANNELS; i++) {
        free_lanes(assembly, i);
    }
    ue_channel_pages_free(&assembly->lanes, &assembly->budget, sizeof(struct ue_assembly_lane *));
    ue_assembly_give(assembly, assembly->channels, assembly->channel_count);
}

struct ue_assembly_lane *ue_assembly_find_lane(const struct ue_assembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable) {
    struct ue_assembly_lane *const *lanes = find_lanes(assembly, index);
    struct ue_assembly_lane *lane = lanes != NULL ? *lanes : NULL;
    while (lane != NULL && (lane->side != side || lane->is_reliable != is_reliable)) {
        lane = lane->next;
    }
    return lane;
}

static struct ue_assembly_lane *add_lane(struct ue_assembly *assembly, struct ue_assembly_lane **lanes) {
    struct ue_assembly_lane *lane = ue_assembly_take(assembly, sizeof *lane);
    if (lane != NULL) {
        *lane = (struct ue_assembly_lane){.done = INT64_MIN, .next = *lanes};
        *lanes = lane;
    }
    return lane;
}

struct ue_assembly_lane *ue_assembly_need_lane(struct ue_assembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable) {
    struct ue_assembly_lane **lanes = ue_channel_pages_need(&assembly->lanes, &assembly->budget, index, sizeof *lanes);
    struct ue_assembly_lane *lane = ue_assembly_find_lane(assembly, index, side, is_reliable);
    if (lane != NULL || lanes == NULL || ue_assembly_need_channel(assembly, index) == NULL) {
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

static void expect_head(const struct ue_assembly *assembly, const struct ue_bunch *bunch) {
    ue_prefetch(ue_assembly_find_channel(assembly, bunch->channel));
    if (bunch->partial) {
        ue_prefetch(find_lanes(assembly, bunch->channel));
    }
}

static void expect_lane(const struct ue_assembly *assembly, const struct ue_bunch *bunch) {
    struct ue_assembly_lane *const *lanes = bunch->partial ? find_lanes(assembly, bunch->channel) : NULL;
    if (lanes != NULL) {
        ue_prefetch(*lanes);
    }
}

void ue_assembly_expect(const struct ue_assembly *assembly, const struct ue_item *items, size_t count) {
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

static size_t size_of(const struct ue_waiting *fragment) {
    return sizeof *fragment + ue_bits_bytes(fragment->seen.bits);
}

static bool is_before(const struct ue_waiting *fragment, int64_t number, uint32_t item) {
    bool shares_packet = fragment->number == number && !fragment->lane->is_reliable;
    return fragment->number < number || (shares_packet && fragment->seen.item < item);
}

/* Most come in their order, so that the search begins at the end. */
struct ue_waiting *ue_lane_find_before(const struct ue_assembly_lane *lane, int64_t number, uint32_t item) {
    struct ue_waiting *before = lane->last;
    while (before != NULL && !is_before(before, number, item)) {
        before = before->before;
    }
    return before;
}

/* Says of its channel whether anything waits in a lane. */
static void mark(struct ue_assembly *assembly, const struct ue_assembly_lane *lane) {
    struct ue_assembly_channel *channel = ue_assembly_find_channel(assembly, lane->channel);
    unsigned bit = 1u << (2 * lane->side + lane->is_reliable);
    channel->waiting = (uint8_t)(lane->count != 0 ? channel->waiting | bit : channel->waiting & ~bit) & 15u;
}

static void link_in(struct ue_assembly *assembly, struct ue_assembly_lane *lane, struct ue_waiting *before,
                    struct ue_waiting *fragment) {
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

static void unlink_from(struct ue_assembly *assembly, struct ue_waiting *fragment) {
    struct ue_assembly_lane *lane = fragment->lane;
    *(fragment->before != NULL ? &fragment->before->behind : &lane->first) = fragment->behind;
    *(fragment->behind != NULL ? &fragment->behind->before : &lane->last) = fragment->before;
    lane->count--;
    mark(assembly, lane);
    *(fragment->older != NULL ? &fragment->older->newer : &assembly->oldest) = fragment->newer;
    *(fragment->newer != NULL ? &fragment->newer->older : &assembly->newest) = fragment->older;
}

struct ue_waiting *ue_waiting_add(struct ue_assembly *assembly, struct ue_assembly_lane *lane, int64_t number,
                                  const struct ue_fragment *seen, const struct ue_bunch *bunch) {
    struct ue_waiting *fragment = ue_assembly_take(assembly, sizeof *fragment + ue_bits_bytes(seen->bits));
    if (fragment == NULL) {
        return NULL;
    }
    *fragment = (struct ue_waiting){
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
    link_in(assembly, lane, ue_lane_find_before(lane, number, seen->item), fragment);
    return fragment;
}

/* ---- runs ---- */

static bool hangs_together(const struct ue_waiting *before, const struct ue_waiting *behind) {
    return !before->is_final && !behind->is_initial &&
           ue_partial_is_next(before->lane->is_reliable, before->number, behind->number);
}

struct ue_run ue_run_of(struct ue_waiting *fragment) {
    struct ue_run run = {fragment, fragment, 1};
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

void ue_run_drop(struct ue_assembly *assembly, const struct ue_run *run) {
    struct ue_waiting *fragment = run->first;
    run->first->lane->done = run->last->number;
    for (uint32_t i = 0; i < run->count; i++) {
        struct ue_waiting *behind = fragment->behind;
        unlink_from(assembly, fragment);
        ue_assembly_give(assembly, fragment, size_of(fragment));
        fragment = behind;
    }
}

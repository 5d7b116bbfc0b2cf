/* SPDX-License-Identifier: MIT */
#include "libcodec/assembly_state.h"
#include "libcodec/partial.h"

#include <string.h>

/* ---- memory ---- */

void *ue_assembly_take(struct ue_assembly *assembly, size_t size_bytes) {
    if (size_bytes > UE_ASSEMBLY_BYTES_MAX - assembly->bytes) {
        return NULL;
    }
    void *block = assembly->memory.resize(assembly->memory.user, NULL, size_bytes);
    assembly->bytes += block != NULL ? size_bytes : 0;
    return block;
}

void ue_assembly_give(struct ue_assembly *assembly, void *block, size_t size_bytes) {
    if (block != NULL) {
        assembly->memory.resize(assembly->memory.user, block, 0);
        assembly->bytes -= size_bytes;
    }
}

static void *take_zeroed(struct ue_assembly *assembly, size_t size_bytes) {
    void *block = ue_assembly_take(assembly, size_bytes);
    if (block != NULL) {
        memset(block, 0, size_bytes);
    }
    return block;
}

/* ---- channels ---- */

struct ue_assembly_channel *ue_assembly_find_channel(const struct ue_assembly *assembly, uint32_t index) {
    uint32_t page = index / UE_ASSEMBLY_PAGE_CHANNELS;
    if (page >= UE_ASSEMBLY_PAGES || assembly->pages[page] == NULL) {
        return NULL;
    }
    return &assembly->pages[page][index % UE_ASSEMBLY_PAGE_CHANNELS];
}

struct ue_assembly_channel *ue_assembly_need_channel(struct ue_assembly *assembly, uint32_t index) {
    uint32_t page = index / UE_ASSEMBLY_PAGE_CHANNELS;
    if (page < UE_ASSEMBLY_PAGES && assembly->pages[page] == NULL) {
        assembly->pages[page] = take_zeroed(assembly, UE_ASSEMBLY_PAGE_CHANNELS * sizeof *assembly->pages[page]);
    }
    return ue_assembly_find_channel(assembly, index);
}

static void free_page(struct ue_assembly *assembly, struct ue_assembly_channel *page) {
    for (size_t i = 0; page != NULL && i < UE_ASSEMBLY_PAGE_CHANNELS; i++) {
        ue_assembly_give(assembly, page[i].lanes, UE_ASSEMBLY_LANES * sizeof *page[i].lanes);
    }
    ue_assembly_give(assembly, page, UE_ASSEMBLY_PAGE_CHANNELS * sizeof *page);
}

void ue_assembly_free_channels(struct ue_assembly *assembly) {
    for (size_t i = 0; i < UE_ASSEMBLY_PAGES; i++) {
        free_page(assembly, assembly->pages[i]);
    }
}

struct ue_assembly_lane *ue_assembly_lane(const struct ue_assembly_channel *channel, unsigned side, bool is_reliable) {
    return &channel->lanes[2 * side + is_reliable];
}

static bool need_lanes(struct ue_assembly *assembly, struct ue_assembly_channel *channel, uint32_t index) {
    if (channel->lanes != NULL) {
        return true;
    }
    channel->lanes = take_zeroed(assembly, UE_ASSEMBLY_LANES * sizeof *channel->lanes);
    for (unsigned i = 0; channel->lanes != NULL && i < UE_ASSEMBLY_LANES; i++) {
        channel->lanes[i].channel = index;
        channel->lanes[i].side = (uint8_t)(i / 2);
        channel->lanes[i].is_reliable = i % 2 != 0;
        channel->lanes[i].done = INT64_MIN;
    }
    return channel->lanes != NULL;
}

struct ue_assembly_lane *ue_assembly_need_lane(struct ue_assembly *assembly, uint32_t index, unsigned side,
                                               bool is_reliable) {
    struct ue_assembly_channel *channel = ue_assembly_need_channel(assembly, index);
    return channel != NULL && need_lanes(assembly, channel, index) ? ue_assembly_lane(channel, side, is_reliable)
                                                                   : NULL;
}

const struct ue_assembly_lane *ue_assembly_other_lane(const struct ue_assembly_lane *lane) {
    return lane->is_reliable ? lane - 1 : lane + 1;
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

static void link_in(struct ue_assembly *assembly, struct ue_assembly_lane *lane, struct ue_waiting *before,
                    struct ue_waiting *fragment) {
    fragment->lane = lane;
    fragment->before = before;
    fragment->behind = before != NULL ? before->behind : lane->first;
    *(before != NULL ? &before->behind : &lane->first) = fragment;
    *(fragment->behind != NULL ? &fragment->behind->before : &lane->last) = fragment;
    lane->count++;
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

/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/tracker_state.h"

#include <string.h>

#define SLOTS_MIN 2
/* Ids that the sequences near the newest one can have, also damaged ones, are in different slots. */
#define SLOTS_MAX (UE_PACKET_SEQ_MAX / UE_PACKET_BLOCK_IDS)

/* ---- packets ---- */

/* Whether the bits have a place for this id. */
static bool is_recent(const struct ue_tracker_side *side, int64_t id) {
    return id <= side->newest_id && id > side->newest_id - UE_TRACKER_PACKETS_MAX;
}

static bool has_bit(const struct ue_tracker_side *side, const struct ue_id_bits *bits, int64_t id) {
    return is_recent(side, id) && ue_id_bits_is_set(bits, id);
}

bool ue_tracker_is_acked(const struct ue_tracker_side *side, int64_t id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
    return packet != NULL ? packet->was_acked : has_bit(side, &side->replaced.acked, id);
}

bool ue_tracker_is_not_delivered(const struct ue_tracker_side *side, int64_t id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
    return packet != NULL ? packet->state == UE_TRACKER_PACKET_NOT_DELIVERED
                          : has_bit(side, &side->replaced.not_delivered, id);
}

bool ue_tracker_was_seen(const struct ue_tracker_side *side, int64_t id) {
    return is_recent(side, id) && ue_id_bits_is_set(&side->seen, id);
}

void ue_tracker_advance(struct ue_tracker_side *side, int64_t seen_id) {
    int64_t id = seen_id - UE_TRACKER_PACKETS_MAX;
    for (id = id > side->newest_id ? id + 1 : side->newest_id + 1; id <= seen_id; id++) {
        ue_id_bits_set(&side->seen, id, false);
        ue_id_bits_set(&side->replaced.acked, id, false);
        ue_id_bits_set(&side->replaced.not_delivered, id, false);
    }
    side->newest_id = seen_id > side->newest_id ? seen_id : side->newest_id;
    if (seen_id > side->newest_id - UE_TRACKER_PACKETS_MAX) {
        ue_id_bits_set(&side->seen, seen_id, true);
    }
}

void ue_tracker_retreat(struct ue_tracker_side *side, int64_t newest_id) {
    ue_id_bits_set(&side->seen, side->newest_id, false);
    side->newest_id = newest_id;
}

/* Whether reports or copies of a packet may follow. */
static bool is_expected(const struct ue_tracker *tracker, const struct ue_tracker_side *side, int64_t id,
                        const struct ue_tracked_packet *packet) {
    int64_t decided_id = tracker->is_legacy ? side->confirmed_id : side->reported_id;
    return id > decided_id ||
           (packet->is_seen && ue_time_ns_since(side->last_ns, packet->time_ns) < UE_TRACKER_COPIES_NS);
}

/* Whether a packet of a block must be remembered when this one is added. */
static bool must_be_kept(const struct ue_tracker *tracker, const struct ue_tracker_side *side,
                         const struct ue_packet_block *block, int64_t added_id) {
    int64_t id = block->first_id + UE_PACKET_BLOCK_IDS - 1;
    bool is_needed = id > added_id - UE_HISTORY_REACH;
    for (unsigned i = UE_PACKET_BLOCK_IDS; i-- > 0 && !is_needed; id--) {
        is_needed = (block->is_known >> i & 1) != 0 && is_expected(tracker, side, id, &block->packets[i]);
    }
    return is_needed;
}

static struct ue_packet_block **find_oldest(const struct ue_packet_blocks *blocks) {
    struct ue_packet_block **oldest = NULL;
    for (uint32_t i = 0; i < blocks->count; i++) {
        const struct ue_packet_block *block = blocks->slots[i];
        if (block != NULL && (oldest == NULL || block->first_id < (*oldest)->first_id)) {
            oldest = &blocks->slots[i];
        }
    }
    return oldest;
}

/* Doubles the number of slots. Returns false at the limit, or when there is no memory. */
static bool grow(struct ue_tracker *tracker, struct ue_packet_blocks *blocks) {
    uint32_t former = blocks->count, count = former == 0 ? SLOTS_MIN : 2 * former;
    struct ue_packet_block **slots = NULL;
    if (count <= SLOTS_MAX) {
        slots = ue_limited_allocator_resize(&tracker->memory, blocks->slots, former * sizeof(struct ue_packet_block *),
                                            count * sizeof(struct ue_packet_block *));
    }
    if (slots == NULL) {
        return false;
    }
    memset(&slots[former], 0, (count - former) * sizeof(struct ue_packet_block *));
    blocks->slots = slots;
    blocks->count = count;
    for (uint32_t i = 0; i < former; i++) {
        struct ue_packet_block *block = slots[i];
        slots[i] = NULL;
        if (block != NULL) {
            *ue_packet_blocks_slot(blocks, block->first_id) = block;
        }
    }
    return true;
}

/* The slot for the block of a packet, empty or with a block that may be replaced; NULL when a newer block has it, or
   there is no memory. */
static struct ue_packet_block **ensure_slot(struct ue_tracker *tracker, struct ue_tracker_side *side, int64_t id) {
    struct ue_packet_block **slot = NULL;
    do {
        slot = side->blocks.count != 0 ? ue_packet_blocks_slot(&side->blocks, id) : NULL;
    } while ((slot == NULL || (*slot != NULL && must_be_kept(tracker, side, *slot, id))) &&
             grow(tracker, &side->blocks));
    return slot != NULL && (*slot == NULL || (*slot)->first_id < id) ? slot : NULL;
}

static void free_array(struct ue_tracker *tracker, void *array, size_t element_bytes) {
    if (array != NULL) {
        ue_limited_allocator_resize(&tracker->memory, array, element_bytes * UE_PACKET_BLOCK_IDS, 0);
    }
}

static void free_arrays(struct ue_tracker *tracker, const struct ue_packet_block *block) {
    free_array(tracker, block->needed, sizeof *block->needed);
    free_array(tracker, block->other_points, sizeof *block->other_points);
    free_array(tracker, block->ack_states, sizeof *block->ack_states);
}

void *ue_packet_block_ensure_array(struct ue_tracker *tracker, void *array, size_t element_bytes) {
    size_t bytes = element_bytes * UE_PACKET_BLOCK_IDS;
    if (array == NULL && (array = ue_limited_allocator_resize(&tracker->memory, NULL, 0, bytes)) != NULL) {
        memset(array, 0, bytes);
    }
    return array;
}

/* Only the reports of the packets of a block are remembered. */
static void forget(struct ue_tracker *tracker, struct ue_tracker_side *side, const struct ue_packet_block *block) {
    for (unsigned i = 0; i < UE_PACKET_BLOCK_IDS; i++) {
        const struct ue_tracked_packet *packet = &block->packets[i];
        int64_t id = block->first_id + i;
        if ((block->is_known >> i & 1) != 0 && is_recent(side, id)) {
            ue_id_bits_set(&side->replaced.acked, id, packet->was_acked);
            ue_id_bits_set(&side->replaced.not_delivered, id, packet->state == UE_TRACKER_PACKET_NOT_DELIVERED);
        }
        side->forgotten_id = id > side->forgotten_id ? id : side->forgotten_id;
    }
    free_arrays(tracker, block);
}

/* Whether a packet may have been forgotten, and is too old for what is remembered of forgotten packets. */
static bool is_too_old(const struct ue_tracker_side *side, int64_t id) {
    return id <= side->forgotten_id && id <= side->newest_id - UE_TRACKER_PACKETS_MAX;
}

/* Adds the block of a packet; see ue_tracker_ensure_packet. */
static struct ue_packet_block *add_block(struct ue_tracker *tracker, struct ue_tracker_side *side, int64_t id) {
    int64_t first_id = id - ue_packet_block_place(id);
    struct ue_packet_block **slot = is_too_old(side, id) ? NULL : ensure_slot(tracker, side, id), *block = NULL;
    if (slot == NULL) {
        return NULL;
    }
    struct ue_packet_block **oldest = *slot != NULL ? slot : find_oldest(&side->blocks);
    bool is_addable = *slot == NULL && side->blocks.used < UE_PACKET_BLOCKS_MAX;
    if (oldest == NULL || (is_addable && must_be_kept(tracker, side, *oldest, id))) {
        block = ue_limited_allocator_resize(&tracker->memory, NULL, 0, sizeof *block);
    }
    if (block != NULL) {
        side->blocks.used++;
    } else {
        if (oldest == NULL || (*oldest)->first_id > first_id) {
            return NULL;
        }
        block = *oldest;
        *oldest = NULL;
        forget(tracker, side, block);
    }
    block->first_id = first_id;
    block->is_known = block->may_lack_opening = 0;
    block->needed = NULL;
    block->other_points = NULL;
    block->ack_states = NULL;
    *slot = block;
    return block;
}

struct ue_tracked_packet *ue_tracker_ensure_packet(struct ue_tracker *tracker, struct ue_tracker_side *side,
                                                   int64_t id) {
    unsigned place = ue_packet_block_place(id);
    struct ue_packet_block *block = side->blocks.count != 0 ? *ue_packet_blocks_slot(&side->blocks, id) : NULL;
    if (block == NULL || block->first_id != id - place) {
        block = add_block(tracker, side, id);
    }
    if (block == NULL) {
        side->counts.untracked++;
        return NULL;
    }
    struct ue_tracked_packet *packet = &block->packets[place];
    if ((block->is_known >> place & 1) == 0) {
        bool was_acked = has_bit(side, &side->replaced.acked, id);
        bool is_not_delivered = has_bit(side, &side->replaced.not_delivered, id);
        *packet = (struct ue_tracked_packet){.was_acked = was_acked,
                                             .state = is_not_delivered ? UE_TRACKER_PACKET_NOT_DELIVERED
                                                      : was_acked      ? UE_TRACKER_PACKET_DELIVERED
                                                                       : UE_TRACKER_PACKET_UNKNOWN};
        block->is_known |= UINT32_C(1) << place;
    }
    return packet;
}

/* The entries of a block that are not known are empty. */
static void empty_entry(struct ue_packet_block *block, unsigned place) {
    block->is_known &= ~(UINT32_C(1) << place);
    block->may_lack_opening &= ~(UINT32_C(1) << place);
    if (block->needed != NULL) {
        block->needed[place] = 0;
    }
    if (block->other_points != NULL) {
        block->other_points[place] = 0;
    }
    if (block->ack_states != NULL) {
        block->ack_states[place] = (struct ue_legacy_ack_state){0};
    }
}

void ue_tracker_remove_packet(struct ue_tracker *tracker, struct ue_tracker_side *side, int64_t id) {
    struct ue_packet_block *block = ue_tracker_find_block(side, id);
    empty_entry(block, ue_packet_block_place(id));
    if (block->is_known == 0) {
        free_arrays(tracker, block);
        *ue_packet_blocks_slot(&side->blocks, id) = NULL;
        side->blocks.used--;
        ue_limited_allocator_resize(&tracker->memory, block, sizeof *block, 0);
    }
}

void ue_tracker_emit(struct ue_tracker_step *pass, struct ue_observed_event *event) {
    event->frame = pass->in->frame;
    event->time_ns = pass->in->time_ns;
    event->side = pass->in->side;
    event->packet_id = pass->packet_id;
    pass->callbacks->event(pass->callbacks->user, event);
}

/* ---- creation and queries ---- */

struct ue_tracker *ue_tracker_new(const struct ue_allocator *allocator) {
    struct ue_tracker *tracker = allocator->resize(allocator->user, NULL, sizeof *tracker);
    if (tracker != NULL) {
        *tracker = (struct ue_tracker){.memory = {*allocator, sizeof *tracker, UE_TRACKER_BYTES_MAX}};
        for (unsigned side = 0; side < 2; side++) {
            tracker->sides[side].awaited_id = tracker->sides[side].hidden_id = UE_TRACKER_NO_ID;
            tracker->sides[side].forgotten_id = UE_TRACKER_NO_ID;
        }
    }
    return tracker;
}

static void free_blocks(struct ue_tracker *tracker, const struct ue_packet_blocks *blocks) {
    const struct ue_allocator allocator = tracker->memory.allocator;
    for (uint32_t i = 0; i < blocks->count; i++) {
        if (blocks->slots[i] != NULL) {
            free_arrays(tracker, blocks->slots[i]);
            allocator.resize(allocator.user, blocks->slots[i], 0);
        }
    }
    allocator.resize(allocator.user, blocks->slots, 0);
}

void ue_tracker_free(struct ue_tracker *tracker) {
    const struct ue_allocator allocator = tracker->memory.allocator;
    ue_channel_entries_clear(&tracker->channels, &tracker->memory, sizeof(struct ue_tracked_channel));
    for (unsigned side = 0; side < 2; side++) {
        free_blocks(tracker, &tracker->sides[side].blocks);
        allocator.resize(allocator.user, tracker->sides[side].reliables.entries, 0);
        allocator.resize(allocator.user, tracker->sides[side].retracted, 0);
        allocator.resize(allocator.user, tracker->sides[side].unsure_acks, 0);
    }
    allocator.resize(allocator.user, tracker, 0);
}

enum ue_tracker_packet_state ue_tracker_packet_state(const struct ue_tracker *tracker, unsigned side,
                                                     int64_t packet_id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(&tracker->sides[side], packet_id);
    return packet != NULL ? (enum ue_tracker_packet_state)packet->state : UE_TRACKER_PACKET_UNKNOWN;
}

const struct ue_tracker_counts *ue_tracker_counts(const struct ue_tracker *tracker, unsigned side) {
    return &tracker->sides[side].counts;
}

size_t ue_tracker_bytes(const struct ue_tracker *tracker) {
    return tracker->memory.bytes;
}

/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/tracker_state.h"

#include <string.h>

#define SLOTS_MIN 16

static bool is_empty(const struct ue_tracker_window *window, const uint32_t *entry, uint32_t slot) {
    return ((*entry ^ slot) & (window->count - 1)) != 0;
}

/* The id of an entry in the slot of this id; UE_TRACKER_NO_ID: the slot is empty. */
static int64_t id_of(const struct ue_tracker_side *side, const struct ue_tracker_window *window, const uint32_t *entry,
                     int64_t id) {
    return is_empty(window, entry, (uint32_t)id) ? UE_TRACKER_NO_ID : ue_tracker_expand(side, *entry);
}

static void clear_slots(struct ue_tracker_window *window, size_t entry_bytes, uint32_t first, uint32_t end) {
    for (uint32_t slot = first; slot < end; slot++) {
        uint32_t *entry = ue_tracker_window_at(window, entry_bytes, slot);
        *entry = slot;
        ue_tracker_window_remove(entry);
    }
}

/* Moves entries to their slots in a table of twice the size: each stays, or moves by the former count. */
static void spread(struct ue_tracker_window *window, size_t entry_bytes, uint32_t former) {
    for (uint32_t slot = 0; slot < former; slot++) {
        uint32_t *from = ue_tracker_window_at(window, entry_bytes, slot);
        if (!is_empty(window, from, slot + former)) {
            memcpy(ue_tracker_window_at(window, entry_bytes, slot + former), from, entry_bytes);
            ue_tracker_window_remove(from);
        }
    }
}

/* Doubles the number of slots. Returns false at the limit, or when there is no memory. */
static bool grow(struct ue_tracker *tracker, struct ue_tracker_window *window, size_t entry_bytes) {
    uint32_t count = window->count == 0 ? SLOTS_MIN : window->count * 2;
    void *entries = NULL;
    if (count <= UE_TRACKER_PACKETS_MAX) {
        entries = ue_limited_allocator_resize(&tracker->memory, window->entries, window->count * entry_bytes,
                                              count * entry_bytes);
    }
    if (entries == NULL) {
        return false;
    }
    uint32_t former = window->count;
    *window = (struct ue_tracker_window){entries, count};
    clear_slots(window, entry_bytes, former, count);
    spread(window, entry_bytes, former);
    return true;
}

/* Whether reports or copies of a packet may follow. */
static bool is_expected(const struct ue_tracker *tracker, const struct ue_tracker_side *side, int64_t id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
    int64_t decided_id = tracker->is_legacy ? side->confirmed_id : side->reported_id;
    return id > decided_id ||
           (packet != NULL && ue_time_ns_since(side->last_ns, packet->time_ns) < UE_TRACKER_COPIES_NS);
}

/* Whether an id cannot have this slot, because its entry must be remembered. */
static bool is_occupied(const struct ue_tracker *tracker, const struct ue_tracker_side *side, int64_t entry_id,
                        int64_t id) {
    return entry_id != id && entry_id != UE_TRACKER_NO_ID &&
           (entry_id > id - UE_HISTORY_REACH || is_expected(tracker, side, entry_id));
}

void *ue_tracker_window_ensure(struct ue_tracker *tracker, const struct ue_tracker_side *side,
                               struct ue_tracker_window *window, size_t entry_bytes, int64_t id) {
    uint32_t *entry = ue_tracker_window_slot(window, entry_bytes, id);
    while ((entry == NULL || is_occupied(tracker, side, id_of(side, window, entry, id), id)) &&
           grow(tracker, window, entry_bytes)) {
        entry = ue_tracker_window_slot(window, entry_bytes, id);
    }
    return entry != NULL && id_of(side, window, entry, id) <= id ? entry : NULL;
}

/* ---- packets ---- */

/* Whether the bits have a place for this id. */
static bool is_recent(const struct ue_tracker_side *side, int64_t id) {
    return id <= side->newest_id && id > side->newest_id - UE_TRACKER_PACKETS_MAX;
}

/* Whether a packet can have had an entry that a newer packet replaced: that one has its slot now, or left the slot when
   the table grew. */
static bool may_be_replaced(const struct ue_tracker_side *side, int64_t id) {
    if (!is_recent(side, id)) {
        return false;
    }
    const struct ue_tracked_packet *packet = ue_tracker_window_slot(&side->packets, sizeof *packet, id);
    int64_t found_id = packet != NULL ? id_of(side, &side->packets, &packet->id, id) : id;
    return found_id > id || found_id == UE_TRACKER_NO_ID;
}

static bool has_bit(const struct ue_tracker_side *side, const struct ue_id_bits *bits, int64_t id) {
    return may_be_replaced(side, id) && ue_id_bits_is_set(bits, id);
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

struct ue_tracked_packet *ue_tracker_ensure_packet(struct ue_tracker *tracker, struct ue_tracker_side *side,
                                                   int64_t id) {
    struct ue_tracked_packet *packet = ue_tracker_window_ensure(tracker, side, &side->packets, sizeof *packet, id);
    if (packet == NULL) {
        side->counts.untracked++;
    } else if (packet->id != (uint32_t)id) {
        int64_t replaced_id = id_of(side, &side->packets, &packet->id, id);
        if (replaced_id != UE_TRACKER_NO_ID) {
            ue_id_bits_set(&side->replaced.acked, replaced_id, packet->was_acked);
            ue_id_bits_set(&side->replaced.not_delivered, replaced_id,
                           packet->state == UE_TRACKER_PACKET_NOT_DELIVERED);
        }
        bool was_acked = has_bit(side, &side->replaced.acked, id);
        bool is_not_delivered = has_bit(side, &side->replaced.not_delivered, id);
        *packet = (struct ue_tracked_packet){.id = (uint32_t)id,
                                             .was_acked = was_acked,
                                             .state = is_not_delivered ? UE_TRACKER_PACKET_NOT_DELIVERED
                                                      : was_acked      ? UE_TRACKER_PACKET_DELIVERED
                                                                       : UE_TRACKER_PACKET_UNKNOWN};
    }
    return packet;
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
        }
    }
    return tracker;
}

void ue_tracker_free(struct ue_tracker *tracker) {
    const struct ue_allocator allocator = tracker->memory.allocator;
    ue_channel_entries_clear(&tracker->channels, &tracker->memory, sizeof(struct ue_tracked_channel));
    for (unsigned side = 0; side < 2; side++) {
        allocator.resize(allocator.user, tracker->sides[side].packets.entries, 0);
        allocator.resize(allocator.user, tracker->sides[side].ack_states.entries, 0);
        allocator.resize(allocator.user, tracker->sides[side].dependencies.entries, 0);
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

/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/tracker_state.h"

/* Longest hash chain, whatever the input. */
#define CHAIN_MAX 16

#define CAPACITY_MIN 16

/* Number of old entries that are tested for eviction before the table grows. */
#define EVICTION_TESTS 8

/* Adjacent bunches that damage can hide. */
#define DAMAGED_MAX 8

/* Packets with a bunch that are remembered before that of its latest transmission: the bits of earlier_packets. */
#define EARLIER_MAX 32

#define NONE UE_TRACKER_BUNCHES_MAX

/* More chains than entries, so that most have one entry. */
static uint32_t chain_count(uint32_t capacity) {
    return 2 * capacity;
}

static uint16_t *chain_of(const struct ue_tracked_bunches *table, uint32_t channel, int64_t id) {
    uint32_t hash = (uint32_t)id + channel * 2654435761u; /* separates channels with equal ids */
    return &table->chains[hash & (chain_count(table->capacity) - 1)];
}

struct ue_tracked_bunch *ue_reliable_tracker_find(const struct ue_tracker_side *side, uint32_t channel, int64_t id) {
    const struct ue_tracked_bunches *table = &side->reliables;
    uint32_t index = table->capacity != 0 ? *chain_of(table, channel, id) : NONE;
    while (index != NONE && (table->entries[index].id != (uint32_t)id || table->entries[index].channel != channel)) {
        index = table->entries[index].next;
    }
    return index != NONE ? &table->entries[index] : NULL;
}

/* ---- the packets that carry a bunch ---- */

/* A packet carries the bunch again; it may be earlier than the latest that does. */
static void add_packet(const struct ue_tracker_side *side, struct ue_tracked_bunch *bunch, int64_t packet_id) {
    uint32_t *earlier = &ue_reliable_tracker_transmissions(side, bunch)->earlier_packets;
    int64_t step = packet_id - ue_reliable_tracker_last_packet(side, bunch);
    if (step > 0) {
        uint64_t with_latest = (uint64_t)*earlier << 1 | 1;
        *earlier = step <= EARLIER_MAX ? (uint32_t)(with_latest << (step - 1)) : 0;
        bunch->last_packet = (uint32_t)packet_id;
    } else if (step < 0 && step >= -EARLIER_MAX) {
        *earlier |= UINT32_C(1) << (-step - 1);
    }
}

/* Whether an earlier packet than that of the latest transmission is acknowledged. Except for the first one, a packet
   more than EARLIER_MAX before the latest counts only if it was acknowledged before the latest was captured. */
static bool is_earlier_acked(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    int64_t packet_id = ue_reliable_tracker_last_packet(side, bunch);
    uint32_t earlier = ue_reliable_tracker_transmissions(side, bunch)->earlier_packets;
    bool is_acked = ue_tracker_is_acked(side, ue_reliable_tracker_first_packet(side, bunch));
    for (; earlier != 0 && !is_acked; earlier >>= 1) {
        packet_id--;
        is_acked = (earlier & 1) != 0 && ue_tracker_is_acked(side, packet_id);
    }
    return is_acked;
}

bool ue_reliable_tracker_was_delivered(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    return bunch->was_delivered || ue_tracker_is_acked(side, ue_reliable_tracker_last_packet(side, bunch)) ||
           (bunch->was_retransmitted && is_earlier_acked(side, bunch));
}

/* ---- which bunches the sender has released ---- */

/* A packet that is no longer remembered was delivered, else its bunches would have been retransmitted long ago. */
static bool is_forgotten(const struct ue_tracker_side *side, int64_t packet_id) {
    return packet_id <= side->newest_id - UE_TRACKER_PACKETS_MAX;
}

/* Whether the sender can have received an ack of the latest transmission. */
static bool may_be_acked(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    int64_t packet_id = ue_reliable_tracker_last_packet(side, bunch);
    return ue_tracker_is_acked(side, packet_id) || packet_id <= side->unread_id || is_forgotten(side, packet_id) ||
           ue_packet_acks_hold_ack(side, packet_id);
}

/* Whether the sender is shown to know that the latest transmission was not delivered, and may have retransmitted it. It
   does at once, before any new bunch; if it seems not to, the retransmission was in a packet that was not captured, was
   damaged, or could not be read to its end. */
static bool was_retransmitted_unseen(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch,
                                     bool is_new) {
    int64_t packet_id = ue_reliable_tracker_last_packet(side, bunch);
    return (is_new || ue_tracker_may_be_unread(side, packet_id)) && packet_id <= side->shown_id &&
           ue_tracker_is_not_delivered(side, packet_id);
}

/* Whether a bunch that was not captured can have been in a packet that was delivered, or of which no report was
   captured, or that could not be read to its end. Such a packet that is much older than the bunch before it did not
   hold it. */
static bool unseen_may_be_acked(const struct ue_tracker_side *side, uint32_t channel, int64_t id) {
    const struct ue_tracked_bunch *before = ue_reliable_tracker_find(side, channel, id - 1);
    if (before == NULL ? side->has_unread
                       : ue_tracker_may_be_unread(side, ue_reliable_tracker_first_packet(side, before))) {
        return true;
    }
    bool is_unread = side->unread_id > side->first_id && side->unread_id > side->hidden_id;
    int64_t hidden_id = is_unread ? side->unread_id : side->hidden_id;
    if (hidden_id == UE_TRACKER_NO_ID) {
        return false;
    }
    return before == NULL || hidden_id >= ue_reliable_tracker_first_packet(side, before) - UE_TRACKER_PACKETS_MAX;
}

/* Whether all packets between those of its neighbours were captured: then one of them held this bunch, and was damaged
   or cut. */
static bool was_damaged(const struct ue_tracker_side *side, uint32_t channel, int64_t id) {
    const struct ue_tracked_bunch *before = ue_reliable_tracker_find(side, channel, id - 1);
    const struct ue_tracked_bunch *after = NULL;
    for (int64_t next = id + 1; after == NULL && next <= id + DAMAGED_MAX; next++) {
        after = ue_reliable_tracker_find(side, channel, next);
    }
    if (before == NULL || after == NULL) {
        return false;
    }
    int64_t packet_id = ue_reliable_tracker_first_packet(side, before);
    int64_t last_id = ue_reliable_tracker_first_packet(side, after);
    bool is_whole = packet_id <= last_id && last_id - packet_id <= UE_TRACKER_LATE_MAX;
    while (is_whole && ++packet_id < last_id) {
        const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, packet_id);
        is_whole = packet != NULL && packet->is_seen;
    }
    return is_whole;
}

/* Whether the sender is shown to have received an ack of the latest transmission. */
static bool is_shown_acked(const struct ue_tracker *tracker, const struct ue_tracker_side *side,
                           const struct ue_tracked_bunch *bunch) {
    int64_t packet_id = ue_reliable_tracker_last_packet(side, bunch);
    if (packet_id > side->freed_id) {
        return false;
    }
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, packet_id);
    bool may_be_open = tracker->is_legacy && packet != NULL; /* an ack of an older one would have been repeated */
    return is_forgotten(side, packet_id) ||
           (ue_tracker_is_acked(side, packet_id) &&
            (!may_be_open || ue_legacy_acks_have_arrived(tracker, side, packet_id, packet)));
}

/* The bunch after those that are released; NULL if it was not captured or was evicted. */
static const struct ue_tracked_bunch *
find_first(const struct ue_tracker_side *side, const struct ue_channel_state *state, uint32_t channel, uint32_t back) {
    return ue_reliable_tracker_find(side, channel, state->newest - back + 1);
}

static void release_maybe(const struct ue_tracker_side *side, struct ue_channel_state *state, uint32_t channel,
                          bool is_new) {
    while (state->maybe_released_back != 0) {
        uint32_t back = state->maybe_released_back;
        const struct ue_tracked_bunch *bunch = find_first(side, state, channel, back);
        bool was_evicted = bunch == NULL && back > state->evicted_back;
        if (bunch != NULL ? !may_be_acked(side, bunch) && !was_retransmitted_unseen(side, bunch, is_new)
                          : !was_evicted && !unseen_may_be_acked(side, channel, state->newest - back + 1) &&
                                !was_damaged(side, channel, state->newest - back + 1)) {
            return;
        }
        state->maybe_released_back--;
    }
}

static void release_shown(const struct ue_tracker *tracker, const struct ue_tracker_side *side,
                          struct ue_channel_state *state, uint32_t channel) {
    bool is_unseen_done = side->awaited_id == UE_TRACKER_NO_ID;
    while (state->released_back != 0) {
        uint32_t back = state->released_back;
        const struct ue_tracked_bunch *bunch = find_first(side, state, channel, back);
        if (bunch != NULL ? !is_shown_acked(tracker, side, bunch) : back <= state->evicted_back && !is_unseen_done) {
            return;
        }
        state->released_back--;
    }
}

void ue_reliable_tracker_release(const struct ue_tracker *tracker, const struct ue_tracker_side *side,
                                 struct ue_channel_state *state, uint32_t channel, bool is_new) {
    release_maybe(side, state, channel, is_new);
    release_shown(tracker, side, state, channel);
    if (state->maybe_released_back > state->released_back) {
        state->maybe_released_back = state->released_back;
    }
}

/* The sender retransmits a bunch: it has not released it. */
static void retain(struct ue_channel_state *state, int64_t id) {
    int64_t back = state->newest - id + 1;
    if (back <= UE_TRACKER_CHANNEL_SPAN_MAX && back > state->maybe_released_back) {
        state->maybe_released_back = (uint32_t)back & UE_CHANNEL_BACK_MASK;
    }
    if (state->maybe_released_back > state->released_back) {
        state->released_back = state->maybe_released_back;
    }
}

/* Whether a bunch is shown to have left its sender's reliable buffer, with all before it. A capture can lack earlier
   transmissions of those before it: if it was forgotten, one of them would count as sent again when it is captured for
   the first time. */
static bool is_released(struct ue_tracker *tracker, const struct ue_tracker_side *side,
                        const struct ue_tracked_bunch *bunch) {
    const struct ue_tracked_channel *channel = ue_channel_tracker_ensure(tracker, bunch->channel);
    struct ue_channel_state state = channel->states[side - tracker->sides];
    int32_t back = (int32_t)((uint32_t)state.newest - bunch->id);
    if (back < state.released_back) {
        release_shown(tracker, side, &state, bunch->channel);
    }
    return back >= state.released_back;
}

/* Whether no retransmission of a bunch is expected any more: its sender is shown to have released it, and copies of the
   packet do not come so late; or its packet is not among the newest. */
static bool is_evictable(struct ue_tracker *tracker, const struct ue_tracker_side *side,
                         const struct ue_tracked_bunch *bunch) {
    if (side->counts.missing != 0 && side->has_reported && !is_released(tracker, side, bunch)) {
        return false;
    }
    const int64_t packet_id = ue_reliable_tracker_last_packet(side, bunch);
    bool is_late = packet_id < side->newest_id - UE_TRACKER_LATE_MAX;
    return is_forgotten(side, packet_id) ||
           (is_late && !tracker->is_legacy /* whose acks may be retracted */ && is_shown_acked(tracker, side, bunch));
}

/* ---- chains ---- */

static void insert(struct ue_tracked_bunches *table, uint32_t index) {
    struct ue_tracked_bunch *bunch = &table->entries[index];
    uint16_t *chain = chain_of(table, bunch->channel, bunch->id);
    bunch->next = *chain;
    *chain = (uint16_t)index;
}

static void remove_entry(struct ue_tracked_bunches *table, uint32_t index) {
    const struct ue_tracked_bunch *bunch = &table->entries[index];
    uint16_t *link = chain_of(table, bunch->channel, bunch->id);
    while (*link != index) {
        link = &table->entries[*link].next;
    }
    *link = bunch->next;
}

/* The last entry of a hash chain of maximum length; NONE when the chain is shorter. */
static uint32_t last_of_full_chain(const struct ue_tracked_bunches *table, uint32_t channel, int64_t id) {
    uint32_t last = NONE;
    uint32_t steps = 0;
    for (uint32_t index = *chain_of(table, channel, id); index != NONE; index = table->entries[index].next) {
        last = index;
        steps++;
    }
    return steps >= CHAIN_MAX ? last : NONE;
}

/* ---- entries ---- */

static void evict(struct ue_tracker *tracker, struct ue_tracker_side *side, uint32_t index) {
    const struct ue_tracked_bunch *bunch = &side->reliables.entries[index];
    struct ue_tracked_channel *channel = ue_channel_tracker_ensure(tracker, bunch->channel);
    struct ue_channel_state *state = &channel->states[side - tracker->sides];
    int32_t back = (int32_t)((uint32_t)state->newest - bunch->id);
    if (back < state->released_back) {
        ue_reliable_tracker_release(tracker, side, state, bunch->channel, false);
    }
    if (back < state->evicted_back) {
        state->evicted_back = (uint16_t)back;
    }
    remove_entry(&side->reliables, index);
}

static size_t size_of(uint32_t capacity) {
    const struct ue_tracked_bunches *table;
    return capacity * (sizeof *table->entries + sizeof *table->transmissions) +
           chain_count(capacity) * sizeof *table->chains;
}

/* Allocates an empty table; its entries are NULL when there is no memory. */
static struct ue_tracked_bunches empty_table(struct ue_limited_allocator *memory, uint32_t capacity) {
    struct ue_tracked_bunches table = {.entries = ue_limited_allocator_resize(memory, NULL, 0, size_of(capacity)),
                                       .capacity = capacity};
    if (table.entries != NULL) {
        table.transmissions = (struct ue_tracked_transmissions *)&table.entries[capacity];
        table.chains = (uint16_t *)&table.transmissions[capacity];
        for (uint32_t i = 0; i < chain_count(capacity); i++) {
            table.chains[i] = NONE;
        }
    }
    return table;
}

/* Doubles a full table and moves the oldest entry to the front. Returns false at the limit, or when there is no
   memory. */
static bool grow(struct ue_tracker *tracker, struct ue_tracked_bunches *table) {
    uint32_t capacity = table->capacity == 0 ? CAPACITY_MIN : table->capacity * 2;
    struct ue_tracked_bunches grown = {0};
    if (capacity <= UE_TRACKER_BUNCHES_MAX) {
        grown = empty_table(&tracker->memory, capacity);
    }
    if (grown.entries == NULL) {
        return false;
    }
    for (; grown.count < table->count; grown.count++) {
        uint32_t from = (table->oldest + grown.count) & (table->capacity - 1);
        grown.entries[grown.count] = table->entries[from];
        grown.transmissions[grown.count] = table->transmissions[from];
        insert(&grown, grown.count);
    }
    if (table->capacity != 0) {
        ue_limited_allocator_resize(&tracker->memory, table->entries, size_of(table->capacity), 0);
    }
    *table = grown;
    return true;
}

/* Finds an old entry that can be evicted; NONE when there is none. */
static uint32_t find_evictable(struct ue_tracker *tracker, const struct ue_tracker_side *side) {
    const struct ue_tracked_bunches *table = &side->reliables;
    for (uint32_t i = 0; i < EVICTION_TESTS && i < table->count; i++) {
        uint32_t index = (table->oldest + i) & (table->capacity - 1);
        if (is_evictable(tracker, side, &table->entries[index])) {
            return index;
        }
    }
    return NONE;
}

/* The index of a free entry; NONE when there is no memory. */
static uint32_t free_entry(struct ue_tracker *tracker, struct ue_tracker_side *side) {
    struct ue_tracked_bunches *table = &side->reliables;
    uint32_t index = table->count == table->capacity ? find_evictable(tracker, side) : NONE;
    if (index == NONE && (table->count < table->capacity || grow(tracker, table))) {
        return table->count++;
    }
    if (index == NONE) {
        side->counts.untracked++;
        index = table->oldest;
    }
    if (table->count == 0) {
        return NONE;
    }
    evict(tracker, side, index);
    table->oldest = (index + 1) & (table->capacity - 1);
    return index;
}

/* Adds a reliable bunch of a channel that exists. Pointers to other entries become invalid. NULL when there is no
   memory. */
static struct ue_tracked_bunch *add(struct ue_tracker *tracker, struct ue_tracker_side *side, uint32_t channel,
                                    int64_t id) {
    struct ue_tracked_bunches *table = &side->reliables;
    uint32_t index = table->capacity != 0 ? last_of_full_chain(table, channel, id) : NONE;
    if (index != NONE) {
        side->counts.untracked++;
        evict(tracker, side, index);
    } else {
        index = free_entry(tracker, side);
    }
    if (index == NONE) {
        return NULL;
    }
    table->entries[index] = (struct ue_tracked_bunch){.id = (uint32_t)id, .channel = (uint16_t)channel};
    table->transmissions[index] = (struct ue_tracked_transmissions){0};
    insert(table, index);
    return &table->entries[index];
}

/* ---- transmissions ---- */

/* Whether the later of two consecutive bunches does not continue the earlier one; false when one was not captured. */
static bool is_discontinuous(const struct ue_tracked_bunch *earlier, const struct ue_tracked_bunch *later) {
    if (earlier == NULL || later == NULL || !later->is_partial) {
        return false;
    }
    bool is_unfinished = earlier->is_partial && !earlier->is_final;
    return later->is_initial == is_unfinished;
}

static void handle_first(const struct ue_tracker_step *p, struct ue_tracked_bunch *entry, bool is_newest,
                         struct ue_observed_bunch *event) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    const struct ue_bunch *bunch = event->decoded;
    int64_t id = event->reliable_id;
    struct ue_tracked_transmissions *transmissions = ue_reliable_tracker_transmissions(side, entry);
    transmissions->first_frame = p->in->frame & UE_TRACKER_FRAME_MASK;
    transmissions->first_packet = entry->last_packet = (uint32_t)p->packet_id;
    entry->is_partial = bunch->partial;
    entry->is_initial = bunch->partial_initial;
    entry->is_final = bunch->partial_final;
    if (bunch->partial) {
        event->is_partial_error |= is_discontinuous(ue_reliable_tracker_find(side, bunch->channel, id - 1), entry);
    }
    if (!is_newest) {
        event->is_partial_error |= is_discontinuous(entry, ue_reliable_tracker_find(side, bunch->channel, id + 1));
    }
}

static void handle_retransmission(struct ue_tracker_step *p, struct ue_channel_state *state,
                                  struct ue_tracked_bunch *entry, struct ue_observed_bunch *event) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    const struct ue_tracked_transmissions *transmissions = ue_reliable_tracker_transmissions(side, entry);
    int64_t last_packet = ue_reliable_tracker_last_packet(side, entry);
    if (last_packet < p->packet_id) {
        retain(state, event->reliable_id);
        if (p->in->context->profile.packet == UE_PACKET_LEGACY) {
            ue_legacy_acks_mark_retransmitted(p, last_packet);
        }
    }
    entry->was_delivered = ue_reliable_tracker_was_delivered(side, entry);
    entry->was_retransmitted = true;
    add_packet(side, entry, p->packet_id);
    event->first_frame = transmissions->first_frame;
    event->previous_frame = transmissions->last_frame;
    event->previous_item = transmissions->last_item;
    event->was_delivered = entry->was_delivered;
    event->is_spurious =
        entry->was_delivered && last_packet < p->packet_id; /* else this one is the earlier, but late */
}

void ue_reliable_tracker_handle_transmission(struct ue_tracker_step *p, struct ue_channel_state *state, bool is_newest,
                                             struct ue_observed_bunch *event) {
    struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    uint32_t channel = event->decoded->channel;
    int64_t id = event->reliable_id;
    struct ue_tracked_bunch *entry = is_newest ? NULL : ue_reliable_tracker_find(side, channel, id);
    bool is_first = entry == NULL;
    int64_t back = state->newest - id;
    bool was_evicted = is_first && back < state->first_back && back >= state->evicted_back;
    if (is_first && !was_evicted) {
        entry = add(p->tracker, side, channel, id);
    }
    if (entry == NULL) {
        event->copy = is_newest ? 1 : 2; /* a retransmission of an evicted bunch */
        return;
    }
    if (is_first) {
        handle_first(p, entry, is_newest, event);
    } else {
        handle_retransmission(p, state, entry, event);
    }
    struct ue_tracked_transmissions *transmissions = ue_reliable_tracker_transmissions(side, entry);
    event->copy = ++transmissions->count;
    transmissions->last_frame = p->in->frame & UE_TRACKER_FRAME_MASK;
    transmissions->last_item = event->item & ((UINT32_C(1) << UE_TRACKER_REST_BITS) - 1);
}

struct ue_observed_bounds ue_reliable_tracker_in_flight(const struct ue_channel_state *state, int64_t id) {
    int64_t at_least = id - (state->newest - state->maybe_released_back);
    int64_t at_most = id - (state->newest - state->released_back);
    bool is_bounded = state->released_back < UE_TRACKER_CHANNEL_SPAN_MAX;
    return (struct ue_observed_bounds){.at_least = at_least > 1 ? (uint32_t)at_least : 1,
                                       .at_most = !is_bounded   ? UE_OBSERVED_UNBOUNDED
                                                  : at_most > 1 ? (uint32_t)at_most
                                                                : 1};
}

/* SPDX-License-Identifier: MIT */
#include <uerudp/history.h>
#include <uerudp/time_ns.h>
#include "libcodec/base/prefetch.h"
#include "libcodec/observe/tracker_state.h"

/* Looking one up takes so many steps at most, whatever the numbers are. */
#define CHAIN_MAX 16

#define ROOM_MIN 8

/* So many are asked whether they are settled before the table grows. */
#define LOOKS 8

#define SETTLED_NS INT64_C(5000000000)
#define NOWHERE UE_TRACKER_BUNCHES_MAX

/* More than entries: most lead to one. */
static uint32_t chain_count(uint32_t room) {
    return 4 * room;
}

static uint16_t *chain_of(const struct ue_tracked_bunches *table, uint32_t channel, int64_t id) {
    uint32_t hash = (uint32_t)id + channel * 2654435761u; /* channels of equal numbers lie apart */
    return &table->chains[hash & (chain_count(table->room) - 1)];
}

struct ue_tracked_bunch *ue_reliable_tracker_find(const struct ue_tracker_side *side, uint32_t channel, int64_t id) {
    const struct ue_tracked_bunches *table = &side->reliables;
    uint32_t index = table->room != 0 ? *chain_of(table, channel, id) : NOWHERE;
    while (index != NOWHERE && (table->entries[index].id != (uint32_t)id || table->entries[index].channel != channel)) {
        index = table->entries[index].next;
    }
    return index != NOWHERE ? &table->entries[index] : NULL;
}

/* ---- ahead ---- */

void ue_reliable_tracker_prefetch_chain(const struct ue_tracker_side *side, uint32_t channel, int64_t id) {
    if (side->reliables.room != 0) {
        ue_prefetch(chain_of(&side->reliables, channel, id));
    }
}

void ue_reliable_tracker_prefetch_bunch(const struct ue_tracker_side *side, uint32_t channel, int64_t id) {
    const struct ue_tracked_bunches *table = &side->reliables;
    uint32_t index = table->room != 0 ? *chain_of(table, channel, id) : NOWHERE;
    if (index != NOWHERE) {
        ue_prefetch(&table->entries[index]);
    }
}

void ue_reliable_tracker_prefetch_packet(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    const int64_t packet_id = ue_reliable_tracker_last_packet(side, bunch);
    ue_prefetch(ue_tracker_window_slot(&side->packets, sizeof(struct ue_tracked_packet), packet_id));
}

/* They give way one by one. */
const struct ue_tracked_bunch *ue_reliable_tracker_next_evicted(const struct ue_tracker_side *side, uint32_t before) {
    const struct ue_tracked_bunches *table = &side->reliables;
    bool is_full = table->room != 0 && table->count == table->room;
    return is_full ? &table->entries[(table->oldest + before) & (table->room - 1)] : NULL;
}

/* ---- what the sender may have given up ---- */

static bool packet_is_delivered(const struct ue_tracker_side *side, int64_t id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, id);
    return packet != NULL && packet->was_acked;
}

bool ue_reliable_tracker_was_delivered(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    return bunch->was_delivered || packet_is_delivered(side, ue_reliable_tracker_last_packet(side, bunch)) ||
           (bunch->is_resent && packet_is_delivered(side, ue_reliable_tracker_transmissions(side, bunch)->first_packet));
}

/* Also where its packet is forgotten: had that not been delivered, the bunch would have been sent again long ago. */
static bool is_done(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    return ue_reliable_tracker_last_packet(side, bunch) <= side->newest_id - UE_TRACKER_PACKETS_MAX ||
           ue_reliable_tracker_was_delivered(side, bunch);
}

/* The first that is not released; NULL: there is none, or it was not seen or is forgotten. */
static const struct ue_tracked_bunch *find_unreleased(const struct ue_tracker_side *side,
                                                       const struct ue_channel_state *lane, uint32_t channel) {
    return lane->released_back != 0 ? ue_reliable_tracker_find(side, channel, lane->newest - lane->released_back + 1)
                                    : NULL;
}

void ue_reliable_tracker_release(const struct ue_tracker_side *side, struct ue_channel_state *lane, uint32_t channel) {
    const struct ue_tracked_bunch *bunch = find_unreleased(side, lane, channel);
    if (bunch == NULL) {
        return; /* not seen so far */
    }
    while (bunch != NULL ? is_done(side, bunch) : lane->released_back > lane->forgotten_back) {
        lane->released_back--;
        bunch = find_unreleased(side, lane, channel);
    }
}

/* Whether copies of a bunch need no longer be expected, by all that senders do: its packet lies further back than
   reports reach, and than they take. */
static bool is_settled(const struct ue_tracker_side *side, const struct ue_tracked_bunch *bunch) {
    const int64_t packet_id = ue_reliable_tracker_last_packet(side, bunch);
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, packet_id);
    bool is_recent = packet != NULL && (packet_id >= side->newest_id - UE_HISTORY_REACH ||
                                        ue_time_ns_since(side->last_ns, packet->time_ns) < SETTLED_NS);
    return !is_recent && is_done(side, bunch);
}

/* ---- chains ---- */

static void link_in(struct ue_tracked_bunches *table, uint32_t index) {
    struct ue_tracked_bunch *bunch = &table->entries[index];
    uint16_t *chain = chain_of(table, bunch->channel, bunch->id);
    bunch->next = *chain;
    *chain = (uint16_t)index;
}

static void unlink_from(struct ue_tracked_bunches *table, uint32_t index) {
    const struct ue_tracked_bunch *bunch = &table->entries[index];
    uint16_t *link = chain_of(table, bunch->channel, bunch->id);
    while (*link != index) {
        link = &table->entries[*link].next;
    }
    *link = bunch->next;
}

/* The last of a chain that has no room for another; NOWHERE: it has. */
static uint32_t last_of_full(const struct ue_tracked_bunches *table, uint32_t channel, int64_t id) {
    uint32_t last = NOWHERE;
    uint32_t steps = 0;
    for (uint32_t index = *chain_of(table, channel, id); index != NOWHERE; index = table->entries[index].next) {
        last = index;
        steps++;
    }
    return steps >= CHAIN_MAX ? last : NOWHERE;
}

/* ---- places ---- */

static void forget(struct ue_tracker *track, struct ue_tracker_side *side, uint32_t index) {
    const struct ue_tracked_bunch *bunch = &side->reliables.entries[index];
    struct ue_tracked_channel *channel = ue_channel_tracker_ensure(track, bunch->channel);
    struct ue_channel_state *lane = &channel->lanes[side - track->sides];
    int32_t back = (int32_t)((uint32_t)lane->newest - bunch->id);
    if (back < lane->released_back) {
        ue_reliable_tracker_release(side, lane, bunch->channel);
    }
    if (back < lane->forgotten_back) {
        lane->forgotten_back = (uint16_t)back;
    }
    unlink_from(&side->reliables, index);
}

static size_t size_of(uint32_t room) {
    const struct ue_tracked_bunches *table;
    return room * (sizeof *table->entries + sizeof *table->copies) + chain_count(room) * sizeof *table->chains;
}

/* A table with places only; without entries: there is no memory. */
static struct ue_tracked_bunches empty_table(struct ue_limited_allocator *budget, uint32_t room) {
    struct ue_tracked_bunches table = {.entries = ue_limited_allocator_resize(budget, NULL, 0, size_of(room)), .room = room};
    if (table.entries != NULL) {
        table.copies = (struct ue_tracked_transmissions *)&table.entries[room];
        table.chains = (uint16_t *)&table.copies[room];
        for (uint32_t i = 0; i < chain_count(room); i++) {
            table.chains[i] = NOWHERE;
        }
    }
    return table;
}

/* Doubles a full table, where the oldest comes first again; false: there is no memory, or this is all. */
static bool grow(struct ue_tracker *track, struct ue_tracked_bunches *table) {
    uint32_t room = table->room == 0 ? ROOM_MIN : table->room * 2;
    struct ue_tracked_bunches grown = {0};
    if (room <= UE_TRACKER_BUNCHES_MAX) {
        grown = empty_table(&track->budget, room);
    }
    if (grown.entries == NULL) {
        return false;
    }
    for (; grown.count < table->count; grown.count++) {
        uint32_t from = (table->oldest + grown.count) & (table->room - 1);
        grown.entries[grown.count] = table->entries[from];
        grown.copies[grown.count] = table->copies[from];
        link_in(&grown, grown.count);
    }
    if (table->room != 0) {
        ue_limited_allocator_resize(&track->budget, table->entries, size_of(table->room), 0);
    }
    *table = grown;
    return true;
}

/* One of those that stand the longest, and is settled; NOWHERE: none. */
static uint32_t find_settled(const struct ue_tracker_side *side) {
    const struct ue_tracked_bunches *table = &side->reliables;
    for (uint32_t i = 0; i < LOOKS && i < table->count; i++) {
        uint32_t index = (table->oldest + i) & (table->room - 1);
        if (is_settled(side, &table->entries[index])) {
            return index;
        }
    }
    return NOWHERE;
}

/* A place that no chain leads to; NOWHERE: there is no memory. */
static uint32_t free_place(struct ue_tracker *track, struct ue_tracker_side *side) {
    struct ue_tracked_bunches *table = &side->reliables;
    uint32_t index = table->count == table->room ? find_settled(side) : NOWHERE;
    if (index == NOWHERE && (table->count < table->room || grow(track, table))) {
        return table->count++;
    }
    if (index == NOWHERE) {
        side->counts.untracked++;
        index = table->oldest;
    }
    if (table->count == 0) {
        return NOWHERE;
    }
    forget(track, side, index);
    table->oldest = (index + 1) & (table->room - 1);
    return index;
}

struct ue_tracked_bunch *ue_reliable_tracker_add(struct ue_tracker *track, struct ue_tracker_side *side, uint32_t channel,
                                                int64_t id) {
    struct ue_tracked_bunches *table = &side->reliables;
    uint32_t index = table->room != 0 ? last_of_full(table, channel, id) : NOWHERE;
    if (index != NOWHERE) {
        side->counts.untracked++;
        forget(track, side, index);
    } else {
        index = free_place(track, side);
    }
    if (index == NOWHERE) {
        return NULL;
    }
    table->entries[index] = (struct ue_tracked_bunch){.id = (uint32_t)id, .channel = (uint16_t)channel};
    table->copies[index] = (struct ue_tracked_transmissions){0};
    link_in(table, index);
    return &table->entries[index];
}

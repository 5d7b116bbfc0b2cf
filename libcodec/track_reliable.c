/* SPDX-License-Identifier: MIT */
#include "libcodec/history.h"
#include "libcodec/ns.h"
#include "libcodec/track_state.h"

#include <string.h>

/* Looking one up takes so many steps at most, whatever the numbers are. */
#define CHAIN_MAX 16

#define ROOM_MIN 8

/* So many are asked whether they are settled before the table grows. */
#define LOOKS 8

#define SETTLED_NS INT64_C(5000000000)
#define NOWHERE UE_TRACK_RELIABLES_MAX

static uint16_t *chain_of(const struct ue_track_reliables *table, uint32_t channel, int64_t id) {
    uint32_t hash = (uint32_t)id + channel * 2654435761u; /* channels of equal numbers lie apart */
    return (uint16_t *)&table->entries[table->room] + (hash & (table->room - 1));
}

struct ue_track_reliable *ue_track_find_reliable(const struct ue_track_side *side, uint32_t channel, int64_t id) {
    const struct ue_track_reliables *table = &side->reliables;
    uint32_t index = table->room != 0 ? *chain_of(table, channel, id) : NOWHERE;
    while (index != NOWHERE && (table->entries[index].id != id || table->entries[index].channel != channel)) {
        index = table->entries[index].next;
    }
    return index != NOWHERE ? &table->entries[index] : NULL;
}

/* ---- ahead ---- */

void ue_track_expect_chain(const struct ue_track_side *side, uint32_t channel, int64_t id) {
    if (side->reliables.room != 0) {
        __builtin_prefetch(chain_of(&side->reliables, channel, id));
    }
}

void ue_track_expect_reliable(const struct ue_track_side *side, uint32_t channel, int64_t id) {
    const struct ue_track_reliables *table = &side->reliables;
    uint32_t index = table->room != 0 ? *chain_of(table, channel, id) : NOWHERE;
    if (index != NOWHERE) {
        __builtin_prefetch(&table->entries[index]);
    }
}

/* They give way one by one. */
void ue_track_expect_oldest(const struct ue_track_side *side, uint32_t before) {
    const struct ue_track_reliables *table = &side->reliables;
    if (table->room != 0) {
        __builtin_prefetch(&table->entries[(table->oldest + before) & (table->room - 1)]);
    }
}

/* ---- what the sender may have given up ---- */

static bool packet_is_delivered(const struct ue_track_side *side, int64_t id) {
    const struct ue_track_packet *packet = ue_track_find_packet(side, id);
    return packet != NULL && packet->was_acked;
}

bool ue_track_was_delivered(const struct ue_track_side *side, const struct ue_track_reliable *bunch) {
    return bunch->was_delivered || packet_is_delivered(side, bunch->last_packet) ||
           packet_is_delivered(side, bunch->first_packet);
}

/* Also where its packet is forgotten: had that not been delivered, the bunch would have been sent again long ago. */
static bool is_done(const struct ue_track_side *side, const struct ue_track_reliable *bunch) {
    return bunch->last_packet <= side->newest_id - UE_TRACK_PACKETS_MAX || ue_track_was_delivered(side, bunch);
}

/* The first that is not released; NULL: there is none, or it was not seen or is forgotten. */
static const struct ue_track_reliable *find_unreleased(const struct ue_track_side *side,
                                                       const struct ue_track_lane *lane, uint32_t channel) {
    return lane->released_back != 0 ? ue_track_find_reliable(side, channel, lane->newest - lane->released_back + 1)
                                    : NULL;
}

void ue_track_release(const struct ue_track_side *side, struct ue_track_lane *lane, uint32_t channel) {
    const struct ue_track_reliable *bunch = find_unreleased(side, lane, channel);
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
static bool is_settled(const struct ue_track_side *side, const struct ue_track_reliable *bunch) {
    const struct ue_track_packet *packet = ue_track_find_packet(side, bunch->last_packet);
    bool is_recent = packet != NULL && (bunch->last_packet >= side->newest_id - UE_HISTORY_REACH ||
                                        ue_ns_since(side->last_ns, packet->time_ns) < SETTLED_NS);
    return !is_recent && is_done(side, bunch);
}

/* ---- chains ---- */

static void link_in(struct ue_track_reliables *table, uint32_t index) {
    struct ue_track_reliable *bunch = &table->entries[index];
    uint16_t *chain = chain_of(table, bunch->channel, bunch->id);
    bunch->next = *chain;
    *chain = (uint16_t)index;
}

static void unlink_from(struct ue_track_reliables *table, uint32_t index) {
    const struct ue_track_reliable *bunch = &table->entries[index];
    uint16_t *link = chain_of(table, bunch->channel, bunch->id);
    while (*link != index) {
        link = &table->entries[*link].next;
    }
    *link = bunch->next;
}

/* The last of a chain that has no room for another; NOWHERE: it has. */
static uint32_t last_of_full(const struct ue_track_reliables *table, uint32_t channel, int64_t id) {
    uint32_t last = NOWHERE;
    uint32_t steps = 0;
    for (uint32_t index = *chain_of(table, channel, id); index != NOWHERE; index = table->entries[index].next) {
        last = index;
        steps++;
    }
    return steps >= CHAIN_MAX ? last : NOWHERE;
}

/* ---- places ---- */

static void forget(struct ue_track *track, struct ue_track_side *side, uint32_t index) {
    const struct ue_track_reliable *bunch = &side->reliables.entries[index];
    struct ue_track_channel *channel = ue_track_find_channel(track, bunch->channel);
    struct ue_track_lane *lane = &channel->lanes[side - track->sides];
    ue_track_release(side, lane, bunch->channel);
    if (lane->newest - bunch->id < lane->forgotten_back) {
        lane->forgotten_back = (uint16_t)(lane->newest - bunch->id);
    }
    unlink_from(&side->reliables, index);
}

/* The oldest comes first again, and places that are free are behind all others. */
static void unroll(struct ue_track_reliables *table) {
    const size_t entry_bytes = sizeof *table->entries;
    memcpy(&table->entries[table->room], table->entries, table->oldest * entry_bytes);
    memmove(table->entries, &table->entries[table->oldest], table->room * entry_bytes);
    table->oldest = 0;
}

/* Doubles a full table; false: there is no memory, or this is all. */
static bool grow(struct ue_track *track, struct ue_track_reliables *table) {
    const size_t place_bytes = sizeof *table->entries + sizeof(uint16_t);
    uint32_t room = table->room == 0 ? ROOM_MIN : table->room * 2;
    struct ue_track_reliable *entries = NULL;
    if (room <= UE_TRACK_RELIABLES_MAX) {
        entries = ue_budget_resize(&track->budget, table->entries, table->room * place_bytes, room * place_bytes);
    }
    if (entries == NULL) {
        return false;
    }
    table->entries = entries;
    unroll(table);
    table->room = room;
    uint16_t *chains = (uint16_t *)&entries[room];
    for (uint32_t i = 0; i < room; i++) {
        chains[i] = NOWHERE;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        link_in(table, i);
    }
    return true;
}

/* One of those that stand the longest, and is settled; NOWHERE: none. */
static uint32_t find_settled(const struct ue_track_side *side) {
    const struct ue_track_reliables *table = &side->reliables;
    for (uint32_t i = 0; i < LOOKS && i < table->count; i++) {
        uint32_t index = (table->oldest + i) & (table->room - 1);
        if (is_settled(side, &table->entries[index])) {
            return index;
        }
    }
    return NOWHERE;
}

/* A place that no chain leads to; NOWHERE: there is no memory. */
static uint32_t free_place(struct ue_track *track, struct ue_track_side *side) {
    struct ue_track_reliables *table = &side->reliables;
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

struct ue_track_reliable *ue_track_add_reliable(struct ue_track *track, struct ue_track_side *side, uint32_t channel,
                                                int64_t id) {
    struct ue_track_reliables *table = &side->reliables;
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
    table->entries[index] = (struct ue_track_reliable){.id = id, .channel = (uint16_t)channel};
    link_in(table, index);
    return &table->entries[index];
}

/* SPDX-License-Identifier: MIT */
#include "libcodec/history.h"
#include "libcodec/ns.h"
#include "libcodec/track_state.h"

#include <string.h>

/* The places where one bunch may stand. */
#define SET_PLACES 8

#define SETTLED_NS INT64_C(5000000000)

static struct ue_track_reliable *set_of(const struct ue_track_reliables *table, uint32_t channel, int64_t id) {
    uint32_t hash = (uint32_t)id + channel * 2654435761u; /* channels of equal numbers lie apart */
    return &table->entries[(size_t)(hash & (table->set_count - 1)) * SET_PLACES];
}

struct ue_track_reliable *ue_track_find_reliable(const struct ue_track_side *side, uint32_t channel, int64_t id) {
    struct ue_track_reliable *set = side->reliables.set_count != 0 ? set_of(&side->reliables, channel, id) : NULL;
    for (size_t i = 0; set != NULL && i < SET_PLACES; i++) {
        if (set[i].copies != 0 && set[i].id == id && set[i].channel == channel) {
            return &set[i];
        }
    }
    return NULL;
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

void ue_track_release(const struct ue_track_side *side, struct ue_track_lane *lane, uint32_t channel) {
    if (lane->released < lane->newest - UE_TRACK_RELIABLE_MAX) {
        lane->released = lane->first = lane->newest - UE_TRACK_RELIABLE_MAX;
    }
    const struct ue_track_reliable *bunch = ue_track_find_reliable(side, channel, lane->released + 1);
    if (bunch == NULL) {
        return; /* not seen so far */
    }
    while (bunch != NULL ? is_done(side, bunch) : lane->released < lane->forgotten) {
        lane->released++;
        bunch = ue_track_find_reliable(side, channel, lane->released + 1);
    }
}

/* ---- places ---- */

/* Whether copies of a bunch need no longer be expected, by all that senders do: its packet lies further back than
   reports reach, and than they take. */
static bool is_settled(const struct ue_track_side *side, const struct ue_track_reliable *bunch) {
    const struct ue_track_packet *packet = ue_track_find_packet(side, bunch->last_packet);
    bool is_recent = packet != NULL && (bunch->last_packet >= side->newest_id - UE_HISTORY_REACH ||
                                        ue_ns_since(side->last_ns, packet->time_ns) < SETTLED_NS);
    return !is_recent && is_done(side, bunch);
}

static void forget(struct ue_track *track, const struct ue_track_side *side, struct ue_track_reliable *bunch) {
    struct ue_track_channel *channel = ue_track_find_channel(track, bunch->channel);
    struct ue_track_lane *lane = &channel->lanes[side - track->sides];
    ue_track_release(side, lane, bunch->channel);
    lane->forgotten = bunch->id > lane->forgotten ? bunch->id : lane->forgotten;
    bunch->copies = 0;
}

/* Each bunch stays, or moves to the set that has come behind its own. */
static void spread(struct ue_track_reliables *table) {
    size_t half = (size_t)table->set_count / 2 * SET_PLACES;
    for (size_t i = 0; i < half; i++) {
        struct ue_track_reliable *from = &table->entries[i];
        struct ue_track_reliable *to = from + half;
        bool moves = from->copies != 0 && set_of(table, from->channel, from->id) >= &table->entries[half];
        to->copies = 0;
        if (moves) {
            *to = *from;
            from->copies = 0;
        }
    }
}

/* Doubles the sets; false: there is no memory, or these are all. */
static bool grow(struct ue_track *track, struct ue_track_reliables *table) {
    const size_t set_bytes = SET_PLACES * sizeof *table->entries;
    uint32_t count = table->set_count == 0 ? 1 : table->set_count * 2;
    struct ue_track_reliable *entries = NULL;
    if (count <= UE_TRACK_RELIABLES_MAX / SET_PLACES) {
        entries = ue_track_resize(track, table->entries, table->set_count * set_bytes, count * set_bytes);
    }
    if (entries == NULL) {
        return false;
    }
    table->entries = entries;
    if (table->set_count == 0) {
        memset(entries, 0, set_bytes);
    }
    table->set_count = count;
    if (count > 1) {
        spread(table);
    }
    return true;
}

/* A place that is empty, or whose bunch is settled. */
static struct ue_track_reliable *free_place(struct ue_track *track, const struct ue_track_side *side,
                                            struct ue_track_reliable *set) {
    for (size_t i = 0; i < SET_PLACES; i++) {
        if (set[i].copies == 0) {
            return &set[i];
        }
    }
    for (size_t i = 0; i < SET_PLACES; i++) {
        if (is_settled(side, &set[i])) {
            forget(track, side, &set[i]);
            return &set[i];
        }
    }
    return NULL;
}

static struct ue_track_reliable *oldest_of(struct ue_track_reliable *set) {
    struct ue_track_reliable *oldest = set;
    for (size_t i = 1; i < SET_PLACES; i++) {
        oldest = set[i].last_packet < oldest->last_packet ? &set[i] : oldest;
    }
    return oldest;
}

struct ue_track_reliable *ue_track_add_reliable(struct ue_track *track, struct ue_track_side *side, uint32_t channel,
                                                int64_t id) {
    struct ue_track_reliables *table = &side->reliables;
    struct ue_track_reliable *place = NULL;
    bool has_grown = true;
    while (place == NULL && has_grown) {
        place = table->set_count != 0 ? free_place(track, side, set_of(table, channel, id)) : NULL;
        has_grown = place != NULL || grow(track, table);
    }
    if (place == NULL) {
        side->counts.untracked++;
        if (table->set_count == 0) {
            return NULL;
        }
        place = oldest_of(set_of(table, channel, id));
        forget(track, side, place);
    }
    *place = (struct ue_track_reliable){.id = id, .channel = (uint16_t)channel};
    return place;
}

/* SPDX-License-Identifier: MIT */
/* The channels of a connection: when and why they were opened and closed, and what went over them. An index that was
   used several times is one entry. */
#ifndef UERUDP_TOOLS_INFO_CHANNEL_USAGE_H
#define UERUDP_TOOLS_INFO_CHANNEL_USAGE_H

#include <glib.h>

#include <uerudp/packet_tracker.h>

#define UE_CHANNEL_NAME_CHARS 24
#define UE_CLOSE_REASONS 16

/* What one side sent over a channel; resends count again. */
struct ue_channel_flow {
    uint64_t bunches;
    uint64_t bits; /* of payload */
    uint64_t reliable, resends;
    int64_t newest_id; /* the highest reliable number seen; see has_newest */
    bool has_newest;
};

struct ue_channel {
    uint32_t index;
    char name[UE_CHANNEL_NAME_CHARS]; /* empty: not known */
    char *actor;                      /* path of the class of its last actor, or of the actor; NULL: not known */
    uint64_t opens, closes;
    uint64_t opened_frame, closed_frame; /* first opening, last closing; 0: not seen */
    int64_t opened_ns, closed_ns;
    unsigned opened_by, closed_by;
    uint8_t close_reason; /* of the last closing */
    bool is_dormant;
    struct ue_channel_flow flows[2];
};

struct ue_channels {
    GHashTable *table;      /* index to struct ue_channel; NULL: none */
    size_t *budget;         /* channels that may still be made, of all connections together */
    struct ue_channel rest; /* those beyond, as one */
    uint64_t close_reasons[UE_CLOSE_REASONS];
    uint64_t closes;
};

/* Feed events of types BUNCH, OPENED and CLOSED. Returns the channel. */
struct ue_channel *ue_channels_feed(struct ue_channels *channels, const struct ue_track_event *event,
                                    const struct ue_context *context);

/* The channel opened for this actor: it replaces the one before. path: NULL, not known. */
void ue_channels_set_actor(struct ue_channels *channels, uint32_t index, const char *path);

/* NULL: there is none of that index so far, or no room for it. */
const struct ue_channel *ue_channels_find(const struct ue_channels *channels, uint32_t index);

/* The name of a channel; "unnamed" while nothing said it. */
const char *ue_channels_name(const struct ue_channels *channels, uint32_t index);

enum ue_channel_order { UE_CHANNELS_BY_INDEX, UE_CHANNELS_BY_BITS };

/* All channels; the caller unrefs the array. Those for which there was no room are one, of index UINT32_MAX. */
GPtrArray *ue_channels_sorted(const struct ue_channels *channels, enum ue_channel_order order);

uint64_t ue_channel_bits(const struct ue_channel *channel);

/* Why it was closed last; "Dormancy" also where a flag says so (up to 4.21). NULL: it was not, or nothing names it. */
const char *ue_channel_close_reason(const struct ue_channel *channel);

void ue_channels_clear(struct ue_channels *channels);

#endif

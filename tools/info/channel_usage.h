/* SPDX-License-Identifier: MIT */
/* The channels of a connection: when and why they were opened and closed, and what went over them. An index that was
   used several times is one entry. */
#ifndef UERUDP_TOOLS_INFO_CHANNEL_USAGE_H
#define UERUDP_TOOLS_INFO_CHANNEL_USAGE_H

#include <glib.h>

#include <uerudp/packet_tracker.h>

#define INFO_CHANNEL_NAME_CHARS 24
#define INFO_CLOSE_REASONS_MAX 16

/* What one side sent over a channel; resends count again. */
struct info_channel_traffic {
    uint64_t bunches;
    uint64_t bits; /* of payload */
    uint64_t reliable, resends;
    int64_t newest_id; /* the highest reliable number seen; see has_newest */
    bool has_newest;
};

struct info_channel {
    uint32_t index;
    char name[INFO_CHANNEL_NAME_CHARS]; /* empty: not known */
    char *actor;                      /* path of the class of its last actor, or of the actor; NULL: not known */
    uint64_t opens, closes;
    uint64_t opened_frame, closed_frame; /* first opening, last closing; 0: not seen */
    int64_t opened_ns, closed_ns;
    unsigned opened_by, closed_by;
    uint8_t close_reason; /* of the last closing */
    bool is_dormant;
    struct info_channel_traffic flows[2];
};

struct info_channels {
    GHashTable *table;      /* index to struct info_channel; NULL: none */
    size_t *budget;         /* channels that may still be made, of all connections together */
    struct info_channel rest; /* those beyond, as one */
    uint64_t close_reasons[INFO_CLOSE_REASONS_MAX];
    uint64_t closes;
};

/* Feed events of types BUNCH, OPENED and CLOSED. Returns the channel. */
struct info_channel *info_channels_on_event(struct info_channels *channels, const struct ue_tracker_event *event,
                                    const struct ue_context *context);

/* The channel opened for this actor: it replaces the one before. path: NULL, not known. */
void info_channels_set_actor(struct info_channels *channels, uint32_t index, const char *path);

/* NULL: there is none of that index so far, or no room for it. */
const struct info_channel *info_channels_find(const struct info_channels *channels, uint32_t index);

/* The name of a channel; "unnamed" while nothing said it. */
const char *info_channels_name(const struct info_channels *channels, uint32_t index);

enum info_channel_order { INFO_CHANNELS_BY_INDEX, INFO_CHANNELS_BY_BITS };

/* All channels; the caller unrefs the array. Those for which there was no room are one, of index UINT32_MAX. */
GPtrArray *info_channels_sorted(const struct info_channels *channels, enum info_channel_order order);

uint64_t info_channel_bits(const struct info_channel *channel);

/* Why it was closed last; "Dormancy" also where a flag says so (up to 4.21). NULL: it was not, or nothing names it. */
const char *info_channel_close_reason(const struct info_channel *channel);

void info_channels_clear(struct info_channels *channels);

#endif

/* SPDX-License-Identifier: MIT */
/* The channels of a connection: when and why they opened and closed, and their traffic. An index that was used
   several times is one entry. */
#ifndef UERUDP_TOOLS_INFO_CHANNEL_USAGE_H
#define UERUDP_TOOLS_INFO_CHANNEL_USAGE_H

#include <glib.h>

#include <uerudp/packet_tracker.h>

#define INFO_CHANNEL_NAME_CHARS 24
#define INFO_CLOSE_REASONS_MAX 16

/* What one side sent on a channel; retransmissions count again. */
struct info_channel_traffic {
    uint64_t bunches;
    uint64_t bits; /* of payload */
    uint64_t reliable, resends;
};

struct info_channel {
    uint32_t index;
    char name[INFO_CHANNEL_NAME_CHARS]; /* empty: unknown */
    char *actor;                        /* path of the last actor's class, or of the actor; NULL: unknown */
    uint64_t opens, closes;
    uint64_t opened_frame, closed_frame; /* first open, last close; 0: not seen */
    int64_t opened_ns, closed_ns;
    uint8_t close_reason; /* of the last close */
    bool is_dormant;
    struct info_channel_traffic flows[2];
};

struct info_channels {
    GHashTable *table;        /* struct info_channel by index; NULL: no channel yet */
    size_t *channels_left;    /* channels that may still be allocated, for all connections together */
    struct info_channel rest; /* the channels above the limit, as one */
    uint64_t close_reasons[INFO_CLOSE_REASONS_MAX];
    uint64_t closes;
};

/* Handles events of types BUNCH, OPENED and CLOSED. Returns the channel. */
struct info_channel *info_channels_on_event(struct info_channels *channels, const struct ue_observed_event *event,
                                            const struct ue_context *context);

/* Sets the actor of the channel, in place of an earlier one. path NULL: unknown. */
void info_channels_set_actor(struct info_channels *channels, uint32_t index, const char *path);

/* NULL: the index is unknown, or the channel is above the limit. */
const struct info_channel *info_channels_find(const struct info_channels *channels, uint32_t index);

/* The name of a channel; "unnamed" if it is unknown. */
const char *info_channels_name(const struct info_channels *channels, uint32_t index);

enum info_channel_order { INFO_CHANNELS_BY_INDEX, INFO_CHANNELS_BY_BITS };

/* Returns all channels in an array that the caller unrefs. The channels above the limit are one entry with index
   UINT32_MAX. */
GPtrArray *info_channels_sorted(const struct info_channels *channels, enum info_channel_order order);

/* The reason of the last close; "Dormancy" also if a flag says so (up to 4.21). NULL: not closed, or the reason has
   no name. */
const char *info_channel_close_reason(const struct info_channel *channel);

void info_channels_clear(struct info_channels *channels);

#endif

/* SPDX-License-Identifier: MIT */
#include "tools/info/channel_usage.h"

#include <inttypes.h>

#include "tools/print/text_buffer.h"
#include "tools/print/text_escape.h"

static void free_channel(gpointer user) {
    struct info_channel *channel = user;
    g_free(channel->actor);
    g_free(channel);
}

static struct info_channel *find(struct info_channels *channels, uint32_t index) {
    if (channels->table == NULL) {
        channels->table = g_hash_table_new_full(NULL, NULL, NULL, free_channel);
    }
    struct info_channel *channel = g_hash_table_lookup(channels->table, GUINT_TO_POINTER(index));
    if (channel == NULL && *channels->channels_left == 0) {
        return &channels->rest;
    }
    if (channel == NULL) {
        --*channels->channels_left;
        channel = g_new0(struct info_channel, 1);
        channel->index = index;
        g_hash_table_insert(channels->table, GUINT_TO_POINTER(index), channel);
    }
    return channel;
}

static void set_name(struct info_channel *channel, const struct ue_bunch *bunch, const struct ue_context *context) {
    const char *known = ue_bunch_channel_name(context, bunch);
    if (known != NULL) {
        g_strlcpy(channel->name, known, sizeof channel->name);
    } else if (bunch->has_name && !bunch->name.hardcoded) {
        struct text_buffer out = {0};
        text_escape_add_engine_name(&out, &bunch->name, TEXT_ESCAPE_PLAIN);
        text_buffer_add_char(&out, '\0');
        const char *end;
        g_strlcpy(channel->name, out.text, sizeof channel->name);
        if (!g_utf8_validate(channel->name, -1, &end)) {
            channel->name[end - channel->name] = '\0'; /* cut inside a UTF-8 character */
        }
        text_buffer_free(&out);
    }
}

static void count(struct info_channel *channel, const struct ue_observed_event *event) {
    struct info_channel_traffic *flow = &channel->flows[event->side];
    flow->bunches++;
    flow->bits += event->bunch.decoded->data.bits;
    flow->reliable += event->bunch.decoded->reliable;
    flow->resends += event->bunch.copy > 1;
}

static void open(struct info_channel *channel, const struct ue_observed_event *event) {
    if (channel->opens++ == 0) {
        channel->opened_frame = event->frame;
        channel->opened_ns = event->time_ns;
    }
}

static void close(struct info_channels *channels, struct info_channel *channel, const struct ue_observed_event *event) {
    channel->closes++;
    channel->closed_frame = event->frame;
    channel->closed_ns = event->time_ns;
    channel->close_reason = event->channel.close_reason;
    channel->is_dormant = event->channel.bunch->dormant;
    channels->closes++;
    channels->close_reasons[event->channel.close_reason % INFO_CLOSE_REASONS_MAX]++;
}

struct info_channel *info_channels_on_event(struct info_channels *channels, const struct ue_observed_event *event,
                                            const struct ue_context *context) {
    bool is_bunch = event->type == UE_OBSERVED_BUNCH;
    struct info_channel *channel =
        find(channels, is_bunch ? event->bunch.decoded->channel : event->channel.bunch->channel);
    switch (event->type) {
    case UE_OBSERVED_BUNCH:
        if (channel->name[0] == '\0' && channel != &channels->rest) {
            set_name(channel, event->bunch.decoded, context);
        }
        count(channel, event);
        break;
    case UE_OBSERVED_CHANNEL_OPENED: open(channel, event); break;
    case UE_OBSERVED_CHANNEL_CLOSED: close(channels, channel, event); break;
    default: break;
    }
    return channel;
}

void info_channels_set_actor(struct info_channels *channels, uint32_t index, const char *path) {
    struct info_channel *channel = find(channels, index);
    if (channel != &channels->rest) {
        g_free(channel->actor);
        channel->actor = g_strdup(path);
    }
}

const struct info_channel *info_channels_find(const struct info_channels *channels, uint32_t index) {
    return channels->table != NULL ? g_hash_table_lookup(channels->table, GUINT_TO_POINTER(index)) : NULL;
}

const char *info_channels_name(const struct info_channels *channels, uint32_t index) {
    const struct info_channel *channel = info_channels_find(channels, index);
    return channel != NULL && channel->name[0] != '\0' ? channel->name : "unnamed";
}

static uint64_t bits_of_channel(const struct info_channel *channel) {
    return channel->flows[0].bits + channel->flows[1].bits;
}

const char *info_channel_close_reason(const struct info_channel *channel) {
    if (channel->closes == 0) {
        return NULL;
    }
    return channel->is_dormant ? "Dormancy" : ue_values_name(UE_VALUES_CLOSE_REASON, channel->close_reason);
}

static gint by_index(gconstpointer a, gconstpointer b) {
    const struct info_channel *left = *(const struct info_channel *const *)a;
    const struct info_channel *right = *(const struct info_channel *const *)b;
    return left->index < right->index ? -1 : left->index > right->index;
}

static gint by_bits(gconstpointer a, gconstpointer b) {
    uint64_t left = bits_of_channel(*(const struct info_channel *const *)a);
    uint64_t right = bits_of_channel(*(const struct info_channel *const *)b);
    return left > right ? -1 : left < right ? 1 : by_index(a, b);
}

GPtrArray *info_channels_sorted(const struct info_channels *channels, enum info_channel_order order) {
    GPtrArray *sorted = g_ptr_array_new();
    GHashTableIter each;
    gpointer channel;
    if (channels->table != NULL) {
        g_hash_table_iter_init(&each, channels->table);
        while (g_hash_table_iter_next(&each, NULL, &channel)) {
            g_ptr_array_add(sorted, channel);
        }
    }
    if (channels->rest.flows[0].bunches + channels->rest.flows[1].bunches != 0) {
        g_ptr_array_add(sorted, (gpointer)&channels->rest);
    }
    g_ptr_array_sort(sorted, order == INFO_CHANNELS_BY_BITS ? by_bits : by_index);
    return sorted;
}

void info_channels_clear(struct info_channels *channels) {
    g_clear_pointer(&channels->table, g_hash_table_unref);
}

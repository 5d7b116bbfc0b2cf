/* SPDX-License-Identifier: MIT */
#include "tools/info/capture_info.h"

/* Channels of all connections together; further ones of a connection count as one. */
#define CHANNELS_MAX 65536

struct info_capture {
    unsigned findings_max;
    bool with_cost;
    size_t channel_budget;
    struct tracker_table *tracks;
    GHashTable *by_stream;
    GPtrArray *list; /* owns */
};

static void free_info(gpointer info) {
    info_connection_free(info);
}

struct info_capture *info_capture_new(unsigned findings_max, bool with_cost) {
    struct info_capture *infos = g_new0(struct info_capture, 1);
    infos->findings_max = findings_max;
    infos->with_cost = with_cost;
    infos->channel_budget = CHANNELS_MAX;
    infos->tracks = tracker_table_new();
    infos->by_stream = g_hash_table_new(NULL, NULL);
    infos->list = g_ptr_array_new_with_free_func(free_info);
    return infos;
}

void info_capture_free(struct info_capture *infos) {
    tracker_table_free(infos->tracks);
    g_hash_table_unref(infos->by_stream);
    g_ptr_array_unref(infos->list);
    g_free(infos);
}

static bool is_full(struct info_capture *infos) {
    if (infos->list->len < INFO_CONNECTIONS_MAX) {
        return false;
    }
    for (guint i = 0; i < infos->list->len; i++) {
        const struct info_connection *info = g_ptr_array_index(infos->list, i);
        if (info->sides[0].ordinary + info->sides[1].ordinary == 0) {
            g_hash_table_remove(infos->by_stream, GUINT_TO_POINTER(info->stream));
            g_ptr_array_remove_index(infos->list, i);
            return false;
        }
    }
    return true;
}

static struct info_connection *find(struct info_capture *infos, uint32_t stream) {
    struct info_connection *info = g_hash_table_lookup(infos->by_stream, GUINT_TO_POINTER(stream));
    if (info == NULL && !is_full(infos)) {
        info = info_connection_new(stream, infos->findings_max, infos->with_cost, &infos->channel_budget);
        g_hash_table_insert(infos->by_stream, GUINT_TO_POINTER(stream), info);
        g_ptr_array_add(infos->list, info);
    }
    return info;
}

/* From 1970 to 2116: sums and differences of two fit 64 bits. Only damaged captures have other times. */
static bool is_plausible(int64_t time_ns) {
    return time_ns >= 0 && time_ns <= INT64_MAX / 2;
}

void info_capture_on_datagram(struct info_capture *infos, const struct input_datagram *seen) {
    struct info_connection *info = seen->is_foreign ? NULL : find(infos, seen->connection->stream);
    struct observe_datagram held = *seen->held;
    struct input_datagram moved = *seen;
    if (info != NULL && !is_plausible(held.time_ns) && info->implausible++ == 0) {
        info->implausible_frame = held.frame;
    }
    if (info != NULL && info->implausible != 0) { /* its clock stands still */
        held.time_ns = info->last_ns;
        moved.held = &held;
        info_connection_on_datagram(info, &moved, infos->tracks);
    } else if (info != NULL) {
        info_connection_on_datagram(info, seen, infos->tracks);
    }
}

const GPtrArray *info_capture_finish(struct info_capture *infos) {
    for (guint i = 0; i < infos->list->len; i++) {
        info_connection_finish(g_ptr_array_index(infos->list, i));
    }
    return infos->list;
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/capture_info.h"

/* Channels of all connections together; further ones of a connection count as one. */
#define CHANNELS_MAX 65536

struct ue_infos {
    unsigned findings_max;
    bool with_cost;
    size_t channel_budget;
    struct ue_tracks *tracks;
    GHashTable *by_stream;
    GPtrArray *list; /* owns */
};

static void free_info(gpointer info) {
    ue_info_free(info);
}

struct ue_infos *ue_infos_new(unsigned findings_max, bool with_cost) {
    struct ue_infos *infos = g_new0(struct ue_infos, 1);
    infos->findings_max = findings_max;
    infos->with_cost = with_cost;
    infos->channel_budget = CHANNELS_MAX;
    infos->tracks = ue_tracks_new();
    infos->by_stream = g_hash_table_new(NULL, NULL);
    infos->list = g_ptr_array_new_with_free_func(free_info);
    return infos;
}

void ue_infos_free(struct ue_infos *infos) {
    ue_tracks_free(infos->tracks);
    g_hash_table_unref(infos->by_stream);
    g_ptr_array_unref(infos->list);
    g_free(infos);
}

static bool is_full(struct ue_infos *infos) {
    if (infos->list->len < UE_INFOS_MAX) {
        return false;
    }
    for (guint i = 0; i < infos->list->len; i++) {
        const struct ue_info *info = g_ptr_array_index(infos->list, i);
        if (info->sides[0].ordinary + info->sides[1].ordinary == 0) {
            g_hash_table_remove(infos->by_stream, GUINT_TO_POINTER(info->stream));
            g_ptr_array_remove_index(infos->list, i);
            return false;
        }
    }
    return true;
}

static struct ue_info *find(struct ue_infos *infos, uint32_t stream) {
    struct ue_info *info = g_hash_table_lookup(infos->by_stream, GUINT_TO_POINTER(stream));
    if (info == NULL && !is_full(infos)) {
        info = ue_info_new(stream, infos->findings_max, infos->with_cost, &infos->channel_budget);
        g_hash_table_insert(infos->by_stream, GUINT_TO_POINTER(stream), info);
        g_ptr_array_add(infos->list, info);
    }
    return info;
}

/* From 1970 to 2116: sums and differences of two fit 64 bits. Only damaged captures have other times. */
static bool is_plausible(int64_t time_ns) {
    return time_ns >= 0 && time_ns <= INT64_MAX / 2;
}

void ue_infos_feed(struct ue_infos *infos, const struct ue_seen *seen) {
    struct ue_info *info = seen->is_foreign ? NULL : find(infos, seen->connection->stream);
    struct ue_held held = *seen->held;
    struct ue_seen moved = *seen;
    if (info != NULL && !is_plausible(held.time_ns) && info->implausible++ == 0) {
        info->implausible_frame = held.frame;
    }
    if (info != NULL && info->implausible != 0) { /* its clock stands still */
        held.time_ns = info->last_ns;
        moved.held = &held;
        ue_info_feed(info, &moved, infos->tracks);
    } else if (info != NULL) {
        ue_info_feed(info, seen, infos->tracks);
    }
}

const GPtrArray *ue_infos_finish(struct ue_infos *infos) {
    for (guint i = 0; i < infos->list->len; i++) {
        ue_info_finish(g_ptr_array_index(infos->list, i));
    }
    return infos->list;
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/capture_info.h"

/* Channels of all connections together; further channels of a connection share one entry. */
#define CHANNELS_MAX 65536

struct info_capture {
    const struct info_options *options;
    size_t channels_left;
    GHashTable *by_stream; /* struct info_connection, by stream number */
    GPtrArray *list;       /* owns its elements */
};

static void free_info(gpointer info) {
    info_connection_free(info);
}

struct info_capture *info_capture_new(const struct info_options *options) {
    struct info_capture *infos = g_new0(struct info_capture, 1);
    infos->options = options;
    infos->channels_left = CHANNELS_MAX;
    infos->by_stream = g_hash_table_new(NULL, NULL);
    infos->list = g_ptr_array_new_with_free_func(free_info);
    return infos;
}

void info_capture_free(struct info_capture *infos) {
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
        if (info->sides[0].totals->packets + info->sides[1].totals->packets == 0) {
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
        info = info_connection_new(stream, infos->options, &infos->channels_left);
        g_hash_table_insert(infos->by_stream, GUINT_TO_POINTER(stream), info);
        g_ptr_array_add(infos->list, info);
    }
    return info;
}

void info_capture_on_datagram(struct info_capture *infos, const struct input_datagram *captured) {
    struct info_connection *info = captured->is_foreign ? NULL : find(infos, captured->connection->stream);
    if (info != NULL) {
        info_connection_on_datagram(info, captured);
    }
}

static int compare_streams(const void *a, const void *b) {
    const struct info_connection *const *first = a, *const *second = b;
    return ((*first)->stream > (*second)->stream) - ((*first)->stream < (*second)->stream);
}

const GPtrArray *info_capture_finish(struct info_capture *infos, int64_t end_ns) {
    for (guint i = 0; i < infos->list->len; i++) {
        info_connection_finish(g_ptr_array_index(infos->list, i), end_ns);
    }
    g_ptr_array_sort(infos->list, compare_streams);
    return infos->list;
}

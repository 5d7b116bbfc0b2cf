/* SPDX-License-Identifier: MIT */
#include "tools/info/capture_info.h"

#include <stddef.h>
#include <string.h>

#include <uerudp/time_ns.h>

/* Channels of all connections together; further channels of a connection share one entry. */
#define CHANNELS_MAX 65536

/* Goal T8: with many connections, datagrams wait and are then handled one connection after the other, so that the state
   of a connection is read into the cache once for several datagrams. It takes a third less CPU time with 1,000
   connections. What is known of few connections stays in the cache anyway. */
#define BATCH_BYTES ((size_t)8 << 20)
#define BATCH_CONNECTIONS_MIN 8
/* From the first to the last waiting datagram: much less than the silence after which the observer forgets a stream. */
#define BATCH_NS INT64_C(1000000000)

/* A datagram that waits. Its bytes follow. */
struct waiting_datagram {
    struct waiting_datagram *next; /* of the same connection */
    struct input_datagram captured;
    struct ue_observed_datagram observed;
};

struct connection_entry {
    struct info_connection *info;
    struct waiting_datagram *first, **end;
};

struct info_capture {
    const struct info_options *options;
    size_t channels_left;
    GHashTable *by_stream; /* struct connection_entry */
    GPtrArray *list;       /* owns its elements */
    GPtrArray *waiting;    /* struct connection_entry with waiting datagrams */
    char *batch;           /* the waiting datagrams; NULL: none so far */
    size_t batch_bytes;    /* in use */
    int64_t begin_ns;      /* capture time of the first waiting datagram */
};

static void free_info(gpointer info) {
    info_connection_free(info);
}

struct info_capture *info_capture_new(const struct info_options *options) {
    struct info_capture *infos = g_new0(struct info_capture, 1);
    infos->options = options;
    infos->channels_left = CHANNELS_MAX;
    infos->by_stream = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    infos->waiting = g_ptr_array_new();
    infos->list = g_ptr_array_new_with_free_func(free_info);
    return infos;
}

/* Handles the waiting datagrams, one connection after the other. */
static void handle_waiting(struct info_capture *infos) {
    for (guint i = 0; i < infos->waiting->len; i++) {
        struct connection_entry *entry = g_ptr_array_index(infos->waiting, i);
        for (struct waiting_datagram *waiting = entry->first; waiting != NULL; waiting = waiting->next) {
            info_connection_on_datagram(entry->info, &waiting->captured);
            ue_observer_release(waiting->captured.observer, waiting->captured.connection);
        }
        entry->first = NULL;
    }
    g_ptr_array_set_size(infos->waiting, 0);
    infos->batch_bytes = 0;
}

void info_capture_free(struct info_capture *infos) {
    handle_waiting(infos);
    g_hash_table_unref(infos->by_stream);
    g_ptr_array_unref(infos->waiting);
    g_free(infos->batch);
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

/* Copies a datagram to the batch. */
static void add_waiting(struct info_capture *infos, struct connection_entry *entry,
                        const struct input_datagram *captured) {
    size_t size = sizeof(struct waiting_datagram) + captured->size_bytes;
    size += -size % _Alignof(max_align_t);
    if (infos->batch == NULL) {
        infos->batch = g_malloc(BATCH_BYTES);
    }
    int64_t span_ns = ue_time_ns_since(captured->observed->time_ns, infos->begin_ns);
    if (infos->batch_bytes + size > BATCH_BYTES || span_ns < 0 || span_ns > BATCH_NS) {
        handle_waiting(infos);
    }
    if (infos->waiting->len == 0) {
        infos->begin_ns = captured->observed->time_ns;
    }
    struct waiting_datagram *waiting = (struct waiting_datagram *)(infos->batch + infos->batch_bytes);
    infos->batch_bytes += size;
    uint8_t *bytes = memcpy(waiting + 1, captured->bytes, captured->size_bytes);
    waiting->next = NULL;
    waiting->captured = *captured;
    waiting->observed = *captured->observed;
    waiting->captured.observed = &waiting->observed;
    waiting->captured.bytes = waiting->observed.bytes = bytes;
    waiting->observed.start = NULL;
    ue_observer_reference(captured->connection);
    if (entry->first == NULL) {
        g_ptr_array_add(infos->waiting, entry);
        entry->end = &entry->first;
    }
    *entry->end = waiting;
    entry->end = &waiting->next;
}

static struct connection_entry *find(struct info_capture *infos, uint32_t stream) {
    struct connection_entry *entry = g_hash_table_lookup(infos->by_stream, GUINT_TO_POINTER(stream));
    if (entry == NULL && infos->list->len >= INFO_CONNECTIONS_MAX) {
        handle_waiting(infos);
    }
    if (entry == NULL && !is_full(infos)) {
        entry = g_new0(struct connection_entry, 1);
        entry->info = info_connection_new(stream, infos->options, &infos->channels_left);
        g_hash_table_insert(infos->by_stream, GUINT_TO_POINTER(stream), entry);
        g_ptr_array_add(infos->list, entry->info);
    }
    return entry;
}

void info_capture_on_datagram(struct info_capture *infos, const struct input_datagram *captured) {
    struct connection_entry *entry = captured->is_foreign ? NULL : find(infos, captured->connection->stream);
    if (entry == NULL) {
        return;
    }
    if (infos->list->len < BATCH_CONNECTIONS_MIN) {
        info_connection_on_datagram(entry->info, captured);
    } else {
        add_waiting(infos, entry, captured);
    }
}

static int compare_streams(const void *a, const void *b) {
    const struct info_connection *const *first = a, *const *second = b;
    return ((*first)->stream > (*second)->stream) - ((*first)->stream < (*second)->stream);
}

const GPtrArray *info_capture_finish(struct info_capture *infos, int64_t end_ns) {
    handle_waiting(infos);
    g_clear_pointer(&infos->batch, g_free);
    for (guint i = 0; i < infos->list->len; i++) {
        info_connection_finish(g_ptr_array_index(infos->list, i), end_ns);
    }
    g_ptr_array_sort(infos->list, compare_streams);
    return infos->list;
}

/* SPDX-License-Identifier: MIT */
#include "tools/observe/tracker_table.h"

#include <uerudp/time_ns.h>
#include "tools/observe/message_assembler.h"

struct stream_tracker {
    struct ue_tracker *track;
    struct message_assembler *messages; /* NULL: not requested */
    size_t bytes;                       /* of this connection, as counted in the total */
    uint32_t stream;
    int64_t used_ns; /* in capture time */
    GList link;      /* in order of use */
};

struct tracker_table {
    size_t bytes_max;
    size_t bytes;
    GHashTable *kept; /* struct kept by its stream */
    GQueue used;      /* the most recently used at the end */
};

static void free_kept(void *user) {
    struct stream_tracker *kept = user;
    ue_tracker_free(kept->track);
    if (kept->messages != NULL) {
        message_assembler_free(kept->messages);
    }
    g_free(kept);
}

static size_t bytes_of(const struct stream_tracker *kept) {
    return ue_tracker_bytes(kept->track) +
           (kept->messages != NULL ? message_assembler_memory_bytes(kept->messages) : 0);
}

struct tracker_table *tracker_table_new(void) {
    struct tracker_table *tracks = g_new0(struct tracker_table, 1);
    tracks->bytes_max = TRACKER_TABLE_BYTES_MAX;
    tracks->kept = g_hash_table_new_full(g_int_hash, g_int_equal, NULL, free_kept);
    g_queue_init(&tracks->used);
    return tracks;
}

void tracker_table_free(struct tracker_table *tracks) {
    g_hash_table_unref(tracks->kept);
    g_free(tracks);
}

void tracker_table_set_limit(struct tracker_table *tracks, size_t bytes_max) {
    tracks->bytes_max = bytes_max;
}

static struct stream_tracker *add(struct tracker_table *tracks, uint32_t stream) {
    struct stream_tracker *kept = g_new0(struct stream_tracker, 1);
    kept->track = ue_tracker_new(&glib_memory);
    kept->stream = stream;
    kept->link.data = kept;
    kept->bytes = bytes_of(kept);
    tracks->bytes += kept->bytes;
    g_hash_table_insert(tracks->kept, &kept->stream, kept);
    g_queue_push_tail_link(&tracks->used, &kept->link);
    return kept;
}

static void give_up(struct tracker_table *tracks, struct stream_tracker *kept) {
    g_queue_unlink(&tracks->used, &kept->link);
    tracks->bytes -= kept->bytes;
    g_hash_table_remove(tracks->kept, &kept->stream);
}

static void give_up_former(struct tracker_table *tracks, const struct observe_connection *connection) {
    struct stream_tracker *former =
        connection->has_former ? g_hash_table_lookup(tracks->kept, &connection->former) : NULL;
    if (former != NULL) {
        give_up(tracks, former);
    }
}

static struct stream_tracker *find(struct tracker_table *tracks, const struct observe_connection *connection) {
    struct stream_tracker *last = tracks->used.tail != NULL ? tracks->used.tail->data : NULL;
    if (last != NULL && last->stream == connection->stream) {
        return last;
    }
    struct stream_tracker *kept = g_hash_table_lookup(tracks->kept, &connection->stream);
    if (kept == NULL) {
        give_up_former(tracks, connection);
        return add(tracks, connection->stream);
    }
    g_queue_unlink(&tracks->used, &kept->link);
    g_queue_push_tail_link(&tracks->used, &kept->link);
    return kept;
}

static bool is_to_go(const struct tracker_table *tracks, const struct stream_tracker *oldest, int64_t now_ns) {
    return tracks->bytes > tracks->bytes_max || ue_time_ns_since(now_ns, oldest->used_ns) > TRACKER_TABLE_SILENT_NS;
}

/* Keeps the tracker that is in use. */
static void give_up_oldest(struct tracker_table *tracks, int64_t now_ns) {
    while (tracks->used.length > 1 && is_to_go(tracks, tracks->used.head->data, now_ns)) {
        give_up(tracks, tracks->used.head->data);
    }
}

struct message_assembler *tracker_table_messages(struct tracker_table *tracks, const struct input_datagram *captured) {
    struct stream_tracker *kept = find(tracks, captured->connection);
    if (kept->messages == NULL) {
        kept->messages = message_assembler_new(&glib_memory);
    }
    return kept->messages;
}

const struct ue_tracker *tracker_table_on_datagram(struct tracker_table *tracks, const struct input_datagram *captured,
                                                   const struct ue_tracker_callbacks *sink) {
    if (captured->is_foreign || captured->is_cut) {
        return NULL;
    }
    struct stream_tracker *kept = find(tracks, captured->connection);
    const struct ue_tracker_datagram datagram = {.frame = captured->held->frame,
                                                 .time_ns = captured->held->time_ns,
                                                 .side = captured->role,
                                                 .context = &captured->context,
                                                 .packet_ids = &captured->held->link.packet_ids,
                                                 .bytes = captured->bytes,
                                                 .size_bytes = captured->size_bytes};
    ue_tracker_feed(kept->track, &datagram, sink);
    tracks->bytes -= kept->bytes;
    kept->bytes = bytes_of(kept);
    tracks->bytes += kept->bytes;
    kept->used_ns = captured->held->time_ns;
    give_up_oldest(tracks, kept->used_ns);
    return kept->track;
}

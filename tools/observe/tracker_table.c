/* SPDX-License-Identifier: MIT */
#include "tools/observe/tracker_table.h"

#include <uerudp/time_ns.h>
#include "tools/observe/glib_memory.h"

struct kept {
    struct ue_track *track;
    struct ue_messages *messages; /* NULL: nobody asked for them */
    size_t bytes;                 /* that were counted */
    uint32_t stream;
    int64_t used_ns; /* in the time of the capture */
    GList link;      /* in the order of use */
};

struct ue_tracks {
    size_t bytes_max;
    size_t bytes;
    GHashTable *kept; /* struct kept by its stream */
    GQueue used;      /* the one used last at the end */
};

static void free_kept(void *user) {
    struct kept *kept = user;
    ue_track_free(kept->track);
    if (kept->messages != NULL) {
        ue_messages_free(kept->messages);
    }
    g_free(kept);
}

static size_t bytes_of(const struct kept *kept) {
    return ue_track_bytes(kept->track) + (kept->messages != NULL ? ue_messages_bytes(kept->messages) : 0);
}

struct ue_tracks *ue_tracks_new(void) {
    struct ue_tracks *tracks = g_new0(struct ue_tracks, 1);
    tracks->bytes_max = UE_TRACKS_BYTES_MAX;
    tracks->kept = g_hash_table_new_full(g_int_hash, g_int_equal, NULL, free_kept);
    g_queue_init(&tracks->used);
    return tracks;
}

void ue_tracks_free(struct ue_tracks *tracks) {
    g_hash_table_unref(tracks->kept);
    g_free(tracks);
}

void ue_tracks_bound(struct ue_tracks *tracks, size_t bytes_max) {
    tracks->bytes_max = bytes_max;
}

static struct kept *add(struct ue_tracks *tracks, uint32_t stream) {
    struct kept *kept = g_new0(struct kept, 1);
    kept->track = ue_track_new(&ue_heap);
    kept->stream = stream;
    kept->link.data = kept;
    kept->bytes = bytes_of(kept);
    tracks->bytes += kept->bytes;
    g_hash_table_insert(tracks->kept, &kept->stream, kept);
    g_queue_push_tail_link(&tracks->used, &kept->link);
    return kept;
}

static void give_up(struct ue_tracks *tracks, struct kept *kept) {
    g_queue_unlink(&tracks->used, &kept->link);
    tracks->bytes -= kept->bytes;
    g_hash_table_remove(tracks->kept, &kept->stream);
}

static void give_up_former(struct ue_tracks *tracks, const struct ue_connection *connection) {
    struct kept *former = connection->has_former ? g_hash_table_lookup(tracks->kept, &connection->former) : NULL;
    if (former != NULL) {
        give_up(tracks, former);
    }
}

static struct kept *find(struct ue_tracks *tracks, const struct ue_connection *connection) {
    struct kept *last = tracks->used.tail != NULL ? tracks->used.tail->data : NULL;
    if (last != NULL && last->stream == connection->stream) {
        return last;
    }
    struct kept *kept = g_hash_table_lookup(tracks->kept, &connection->stream);
    if (kept == NULL) {
        give_up_former(tracks, connection);
        return add(tracks, connection->stream);
    }
    g_queue_unlink(&tracks->used, &kept->link);
    g_queue_push_tail_link(&tracks->used, &kept->link);
    return kept;
}

static bool is_to_go(const struct ue_tracks *tracks, const struct kept *oldest, int64_t now_ns) {
    return tracks->bytes > tracks->bytes_max || ue_ns_since(now_ns, oldest->used_ns) > UE_TRACKS_SILENT_NS;
}

/* The one in use stays. */
static void give_up_oldest(struct ue_tracks *tracks, int64_t now_ns) {
    while (tracks->used.length > 1 && is_to_go(tracks, tracks->used.head->data, now_ns)) {
        give_up(tracks, tracks->used.head->data);
    }
}

struct ue_messages *ue_tracks_messages(struct ue_tracks *tracks, const struct ue_seen *seen) {
    struct kept *kept = find(tracks, seen->connection);
    if (kept->messages == NULL) {
        kept->messages = ue_messages_new(&ue_heap);
    }
    return kept->messages;
}

const struct ue_track *ue_tracks_feed(struct ue_tracks *tracks, const struct ue_seen *seen,
                                      const struct ue_track_sink *sink) {
    if (seen->is_foreign || seen->is_cut) {
        return NULL;
    }
    struct kept *kept = find(tracks, seen->connection);
    const struct ue_track_datagram datagram = {.frame = seen->held->frame,
                                               .time_ns = seen->held->time_ns,
                                               .side = seen->role,
                                               .context = &seen->context,
                                               .links = &seen->held->link.links,
                                               .bytes = seen->bytes,
                                               .size_bytes = seen->size_bytes};
    ue_track_feed(kept->track, &datagram, sink);
    tracks->bytes -= kept->bytes;
    kept->bytes = bytes_of(kept);
    tracks->bytes += kept->bytes;
    kept->used_ns = seen->held->time_ns;
    give_up_oldest(tracks, kept->used_ns);
    return kept->track;
}

/* SPDX-License-Identifier: MIT */
#include "tools/replay/session_transcript.h"

#include <string.h>

#include "tools/observe/tracker_table.h"
#include "tools/replay/bunch_reassembly.h"

/* While the capture is read. */
struct reading {
    struct ue_tale *tale;
    struct ue_parts *parts;
    struct ue_tracks *tracks;
    GHashTable *lives; /* by channel, the latest life + 1 */
    GHashTable *ended; /* channels that were closed since */
    const struct ue_context *context;
    int64_t first_ns;
    bool is_duplicate; /* the packet that is being read */
    bool is_full;
};

/* ---- channels ---- */

static enum ue_channel_kind kind_of(const struct ue_context *context, const struct ue_bunch *bunch) {
    static const struct {
        const char *name;
        enum ue_channel_kind kind;
    } kinds[] = {{"Control", UE_KIND_CONTROL}, {"Actor", UE_KIND_ACTOR}, {"Voice", UE_KIND_VOICE}};
    const char *name = ue_bunch_channel_name(context, bunch);
    for (size_t i = 0; name != NULL && i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return kinds[i].kind;
        }
    }
    return bunch->channel == 0 ? UE_KIND_CONTROL : UE_KIND_OTHER;
}

/* Where an opening was not captured, the one who may open actors is taken for the opener. */
static uint32_t begin_life(struct reading *r, unsigned side, const struct ue_bunch *bunch) {
    GArray *lives = r->tale->lives;
    const struct ue_life life = {
        .channel = bunch->channel,
        .kind = kind_of(r->context, bunch),
        .by_server = bunch->channel != 0 && (side == 1 || !bunch->open),
    };
    g_array_append_val(lives, life);
    g_hash_table_insert(r->lives, GUINT_TO_POINTER(bunch->channel), GUINT_TO_POINTER(lives->len));
    g_hash_table_remove(r->ended, GUINT_TO_POINTER(bunch->channel));
    return lives->len - 1;
}

static uint32_t life_of(struct reading *r, unsigned side, const struct ue_bunch *bunch) {
    gpointer key = GUINT_TO_POINTER(bunch->channel);
    uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(r->lives, key));
    bool is_new = known == 0 || (bunch->open && g_hash_table_contains(r->ended, key));
    uint32_t life = is_new ? begin_life(r, side, bunch) : known - 1;
    if (bunch->close) {
        g_hash_table_add(r->ended, key);
    }
    return life;
}

/* ---- datagrams ---- */

static uint64_t since_first(const struct reading *r, int64_t time_ns) {
    return time_ns > r->first_ns ? (uint64_t)time_ns - (uint64_t)r->first_ns : 0;
}

static void take_handshake(struct reading *r, const struct ue_track_event *event) {
    const struct ue_handshake *handshake = &event->datagram->handshake;
    if (event->side == 0 && handshake->network_version != 0) {
        r->tale->network_version = handshake->network_version;
        r->tale->network_features = handshake->features;
    }
}

static void take_bunch(struct reading *r, const struct ue_track_event *event) {
    bool is_first = event->bunch->reliable ? event->copy == 1 : !r->is_duplicate;
    if (is_first && !r->is_full) {
        uint32_t life = life_of(r, event->side, event->bunch);
        r->is_full = r->tale->lives->len > UE_TALE_LIVES_MAX ||
                     !ue_parts_add(r->parts, since_first(r, event->time_ns), event->side, life, event->bunch,
                                   event->reliable_id);
    }
}

static void take_event(void *user, const struct ue_track_event *event) {
    struct reading *r = user;
    switch (event->type) {
    case UE_TRACK_HANDSHAKE: take_handshake(r, event); break;
    case UE_TRACK_PACKET: r->is_duplicate = event->is_duplicate; break;
    case UE_TRACK_BUNCH: take_bunch(r, event); break;
    default: break;
    }
}

static void take_datagram(struct reading *r, const struct ue_seen *seen) {
    const struct ue_track_sink sink = {.event = take_event, .user = r};
    if (seen->role == 0) {
        r->tale->context = seen->context;
    }
    r->context = &seen->context;
    r->tale->end_ns = since_first(r, seen->held->time_ns);
    ue_tracks_feed(r->tracks, seen, &sink);
}

/* False, with a message: this is not what can be told. */
static bool take_seen(struct reading *r, const struct ue_replay *replay, const struct ue_seen *seen) {
    struct ue_tale *tale = r->tale;
    if (seen->is_foreign || !ue_selection_takes_stream(&replay->selection, seen->connection->stream)) {
        return true;
    }
    if (!tale->is_begun) {
        tale->is_begun = true;
        tale->stream = seen->connection->stream;
        r->first_ns = seen->held->time_ns;
    }
    if (seen->connection->stream != tale->stream) {
        ue_complain("the capture has several connections; choose one with --stream");
        return false;
    }
    take_datagram(r, seen);
    if (r->is_full) {
        ue_complain("the connection has more than %u MiB of bunches, or %d channels", UE_TALE_BYTES_MAX >> 20,
                    UE_TALE_LIVES_MAX);
    }
    return !r->is_full;
}

static bool read_all(struct reading *r, struct ue_replay *replay) {
    struct ue_seen seen;
    ue_reading_start(&replay->reading, replay->path_count, replay->paths);
    while (ue_reading_next(&replay->reading, &seen)) {
        if (!take_seen(r, replay, &seen)) {
            return false;
        }
    }
    return true;
}

static bool has_login(const struct ue_tale *tale) {
    bool is_good = ue_tale_has(tale, UE_MESSAGE_HELLO) &&
                   (ue_tale_has(tale, UE_MESSAGE_LOGIN) || ue_tale_has(tale, UE_MESSAGE_BEACON_JOIN));
    if (!is_good) {
        ue_complain(tale->is_begun ? "the capture does not show how the client logged in, or not in clear (see "
                                     "--key and --handlers)"
                                   : "there is no connection to replay");
    }
    return is_good;
}

bool ue_tale_read(struct ue_tale *tale, struct ue_replay *replay) {
    *tale = (struct ue_tale){
        .lives = g_array_new(FALSE, TRUE, sizeof(struct ue_life)),
        .lines = g_array_new(FALSE, FALSE, sizeof(struct ue_tale_line)),
        .buffers = g_ptr_array_new_with_free_func(g_free),
        .closed_by = -1,
    };
    struct reading r = {
        .tale = tale,
        .parts = ue_parts_new(),
        .tracks = ue_tracks_new(),
        .lives = g_hash_table_new(NULL, NULL),
        .ended = g_hash_table_new(NULL, NULL),
    };
    bool good = read_all(&r, replay);
    if (good) {
        ue_parts_tell(r.parts, tale);
        good = has_login(tale);
    }
    ue_parts_free(r.parts);
    ue_tracks_free(r.tracks);
    g_hash_table_unref(r.lives);
    g_hash_table_unref(r.ended);
    return good;
}

void ue_tale_clear(struct ue_tale *tale) {
    for (guint i = 0; i < tale->lines->len; i++) {
        g_array_unref(g_array_index(tale->lines, struct ue_tale_line, i).exports);
    }
    g_array_unref(tale->lines);
    g_array_unref(tale->lives);
    g_ptr_array_unref(tale->buffers);
}

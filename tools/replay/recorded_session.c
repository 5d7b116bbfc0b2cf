/* SPDX-License-Identifier: MIT */
#include "tools/replay/recorded_session.h"

#include <string.h>

#include "tools/replay/bunch_reassembly.h"

/* State while the capture is read. */
struct session_reading {
    struct recorded_session *session;
    struct bunch_reassembly *parts;
    GHashTable *channels; /* channel to the index of its latest session_channel + 1 */
    GHashTable *ended;    /* channels that were closed since */
    const struct ue_context *context;
    int64_t first_ns;
    bool is_duplicate; /* the packet being read */
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

/* Where the open was not captured, it counts as opened by the side that may open such channels. */
static uint32_t start_channel(struct session_reading *r, unsigned side, const struct ue_bunch *bunch) {
    GArray *channels = r->session->channels;
    const struct session_channel slot = {
        .channel = bunch->channel,
        .kind = kind_of(r->context, bunch),
        .by_server = bunch->channel != 0 && (side == 1 || !bunch->open),
    };
    g_array_append_val(channels, slot);
    g_hash_table_insert(r->channels, GUINT_TO_POINTER(bunch->channel), GUINT_TO_POINTER(channels->len));
    g_hash_table_remove(r->ended, GUINT_TO_POINTER(bunch->channel));
    return channels->len - 1;
}

static uint32_t slot_of(struct session_reading *r, unsigned side, const struct ue_bunch *bunch) {
    gpointer key = GUINT_TO_POINTER(bunch->channel);
    uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(r->channels, key));
    bool is_new = known == 0 || (bunch->open && g_hash_table_contains(r->ended, key));
    uint32_t slot = is_new ? start_channel(r, side, bunch) : known - 1;
    if (bunch->close) {
        g_hash_table_add(r->ended, key);
    }
    return slot;
}

/* ---- datagrams ---- */

static uint64_t since_first(const struct session_reading *r, int64_t time_ns) {
    return time_ns > r->first_ns ? (uint64_t)time_ns - (uint64_t)r->first_ns : 0;
}

static void handle_handshake(struct session_reading *r, const struct ue_observed_event *event) {
    const struct ue_handshake *handshake = event->handshake.decoded;
    if (event->side == 0 && handshake->network_version != 0) {
        r->session->network_version = handshake->network_version;
        r->session->network_features = handshake->features;
    }
}

static void handle_bunch(struct session_reading *r, const struct ue_observed_event *event) {
    bool is_first = event->bunch.decoded->reliable ? event->bunch.copy == 1 : !r->is_duplicate;
    if (is_first && !event->bunch.is_cut && !r->is_full) {
        uint32_t slot = slot_of(r, event->side, event->bunch.decoded);
        r->is_full =
            r->session->channels->len > RECORDED_SESSION_CHANNELS_MAX ||
            !bunch_reassembly_add(r->parts, since_first(r, event->time_ns), event->side, slot, event->bunch.decoded,
                                  event->bunch.decoded->reliable ? event->bunch.reliable_id : event->packet_id);
    }
}

static void handle_event(void *user, const struct ue_observed_event *event) {
    struct session_reading *r = user;
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: handle_handshake(r, event); break;
    case UE_OBSERVED_PACKET: r->is_duplicate = event->packet.is_duplicate; break;
    case UE_OBSERVED_BUNCH: handle_bunch(r, event); break;
    default: break;
    }
}

static void handle_datagram(struct session_reading *r, const struct input_datagram *seen) {
    const struct ue_observer_callbacks callbacks = {.event = handle_event, .user = r};
    if (seen->role == 0) {
        r->session->context = seen->context;
    }
    r->context = &seen->context;
    r->session->end_ns = since_first(r, seen->observed->time_ns);
    ue_observer_track(seen->observer, seen->observed, &callbacks);
}

/* False, with a message: the connection cannot be transcribed. */
static bool read_datagram(struct session_reading *r, struct replay_command *replay, const struct input_datagram *seen) {
    struct recorded_session *session = r->session;
    if (seen->is_foreign || !capture_reader_selects(&replay->reading, &replay->selection, seen)) {
        return true;
    }
    if (!session->is_begun) {
        session->is_begun = true;
        session->stream = seen->connection->stream;
        r->first_ns = seen->observed->time_ns;
    }
    if (seen->connection->stream != session->stream) {
        return cli_error("the capture has several connections; select one with --stream");
    }
    handle_datagram(r, seen);
    if (r->is_full) {
        cli_error("the connection has more than %u MiB of bunches, or %d channels", RECORDED_SESSION_BYTES_MAX >> 20,
                  RECORDED_SESSION_CHANNELS_MAX);
    }
    return !r->is_full;
}

static bool read_all(struct session_reading *r, struct replay_command *replay) {
    struct input_datagram seen;
    capture_reader_start(&replay->reading, replay->path_count, replay->paths);
    while (capture_reader_next(&replay->reading, &seen)) {
        if (!read_datagram(r, replay, &seen)) {
            return false;
        }
    }
    return true;
}

static bool has_login(const struct recorded_session *session) {
    bool is_good =
        recorded_session_has(session, UE_MESSAGE_HELLO) &&
        (recorded_session_has(session, UE_MESSAGE_LOGIN) || recorded_session_has(session, UE_MESSAGE_BEACON_JOIN));
    if (!is_good) {
        cli_error(session->is_begun
                      ? "the capture has no login of the client, or it is encrypted (see --key and --handlers)"
                      : "no connection to replay");
    }
    return is_good;
}

bool recorded_session_read(struct recorded_session *session, struct replay_command *replay) {
    *session = (struct recorded_session){
        .channels = g_array_new(FALSE, TRUE, sizeof(struct session_channel)),
        .messages = g_array_new(FALSE, FALSE, sizeof(struct recorded_session_message)),
        .buffers = g_ptr_array_new_with_free_func(g_free),
        .closed_by = -1,
    };
    struct session_reading r = {
        .session = session,
        .parts = bunch_reassembly_new(),
        .channels = g_hash_table_new(NULL, NULL),
        .ended = g_hash_table_new(NULL, NULL),
    };
    bool good = read_all(&r, replay);
    if (good) {
        bunch_reassembly_finish(r.parts, session);
        good = has_login(session);
    }
    bunch_reassembly_free(r.parts);
    g_hash_table_unref(r.channels);
    g_hash_table_unref(r.ended);
    return good;
}

void recorded_session_clear(struct recorded_session *session) {
    for (guint i = 0; i < session->messages->len; i++) {
        g_array_unref(g_array_index(session->messages, struct recorded_session_message, i).exports);
    }
    g_array_unref(session->messages);
    g_array_unref(session->channels);
    g_ptr_array_unref(session->buffers);
}

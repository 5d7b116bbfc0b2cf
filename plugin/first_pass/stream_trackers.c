/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/stream_trackers.h"

#include <epan/packet.h>

#include <uerudp/reassembly.h>
#include <uerudp/time_ns.h>
#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/conversation.h"
#include "plugin/first_pass/file_allocator.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/reassembly.h"
#include "plugin/first_pass/sequence_analysis.h"

/* A datagram that waits until the generation is known. */
struct queued_datagram {
    struct queued_datagram *next;
    struct uerudp_frame_state *state;
    int64_t time_ns;
    size_t size; /* 0: cut by the snap length */
    bool is_cut;
    uint8_t bytes[];
};

/* All in file scope. */
struct uerudp_observer {
    struct ue_tracker *track; /* NULL: not started, or dropped to free memory; likewise assembly */
    struct ue_reassembly *assembly;
    struct uerudp_known_objects objects; /* kept for later passes */
    struct uerudp_sequence_analysis analysis;
    struct queued_datagram *first, **end;
    unsigned queued_count;
    GList used;    /* link in observers */
    GList waiting; /* link in waiting */
};

/* The datagram that is being observed. */
struct observed_datagram {
    struct uerudp_observer *observer;
    struct uerudp_frame_state *state;
    const struct ue_context *context;
};

/* The items that the tracker decoded last: a tap listener that runs next needs them again. */
static struct {
    const struct uerudp_frame_state *state;
    const uint8_t *bytes;
    struct ue_tracker_items items;
} latest;

static GQueue observers; /* that have a tracker, the most recently used at the tail */
static GQueue waiting;
static size_t bytes_in_use;

static void reset(void) {
    g_queue_init(&observers);
    g_queue_init(&waiting);
    bytes_in_use = 0;
    latest.state = NULL;
}

void uerudp_stream_trackers_register(void) {
    register_init_routine(reset);
}

/* ---- trackers ---- */

static size_t bytes_of(const struct uerudp_observer *observer) {
    return ue_tracker_bytes(observer->track) + ue_reassembly_bytes(observer->assembly);
}

static struct ue_tracker *require_tracker(struct uerudp_observer *observer) {
    if (observer->track == NULL) {
        observer->track = ue_tracker_new(&uerudp_file_allocator);
        observer->assembly = ue_reassembly_new(&uerudp_file_allocator);
        bytes_in_use += bytes_of(observer);
        g_queue_push_tail_link(&observers, &observer->used);
    } else if (observers.tail != &observer->used) {
        g_queue_unlink(&observers, &observer->used);
        g_queue_push_tail_link(&observers, &observer->used);
    }
    return observer->track;
}

static void drop_tracker(struct uerudp_observer *observer) {
    if (observer->track != NULL) {
        g_queue_unlink(&observers, &observer->used);
        bytes_in_use -= bytes_of(observer);
        ue_reassembly_free(observer->assembly);
        ue_tracker_free(observer->track);
        observer->track = NULL;
        observer->assembly = NULL;
    }
}

static void drop_oldest_trackers(void) {
    while (bytes_in_use > UERUDP_STREAM_TRACKING_BYTES_MAX && observers.length > 1) {
        drop_tracker(observers.head->data);
    }
}

/* ---- one datagram ---- */

static void on_event(void *user, const struct ue_tracker_event *event) {
    const struct observed_datagram *pass = user;
    struct uerudp_observer *observer = pass->observer;
    const struct uerudp_reassembly_target to = {observer->assembly, &observer->objects, pass->state, pass->context};
    enum ue_reassembly_problem problem = uerudp_reassembly_on_event(&to, event);
    uerudp_sequence_analysis_add_event(&observer->analysis, pass->state, pass->context, event, problem);
}

static void on_items(void *user, const struct ue_item *items, size_t count) {
    const struct observed_datagram *pass = user;
    ue_reassembly_prefetch(pass->observer->assembly, items, count);
}

/* While the client is not known, side 0 is the side that was captured first. */
static unsigned side_of(const struct uerudp_frame_state *state, const struct ue_context *x) {
    return x->direction == UE_DIRECTION_UNKNOWN ? state->decode.side : x->direction == UE_SERVER_TO_CLIENT;
}

static void observe_now(struct uerudp_frame_state *state, int64_t time_ns, const struct uerudp_captured_bytes *bytes) {
    struct uerudp_observer *observer = state->connection->observer;
    struct ue_context x;
    if (uerudp_conversation_is_foreign(state, bytes)) {
        return;
    }
    ue_detection_context(&state->connection->detection, &state->decode, &x);
    if (bytes->is_cut) {
        uerudp_sequence_analysis_add_cut(&observer->analysis, side_of(state, &x));
        return;
    }
    state->decode.packet_ids = ue_detection_packet_ids(&state->connection->detection, &state->decode);
    struct observed_datagram pass = {observer, state, &x};
    const struct ue_tracker_callbacks sink = {.event = on_event, .user = &pass, .prefetch = on_items};
    const struct ue_tracker_datagram datagram = {.frame = state->frame_number,
                                                 .time_ns = time_ns,
                                                 .side = side_of(state, &x),
                                                 .context = &x,
                                                 .packet_ids = &state->decode.packet_ids,
                                                 .bytes = bytes->base,
                                                 .size_bytes = bytes->size,
                                                 .reading = &latest.items};
    struct ue_tracker *track = require_tracker(observer);
    bytes_in_use -= bytes_of(observer);
    latest.state = state;
    latest.bytes = bytes->base;
    uerudp_analysis_results_begin(state);
    ue_tracker_feed(track, &datagram, &sink);
    uerudp_reassembly_end_datagram(
        &(const struct uerudp_reassembly_target){observer->assembly, &observer->objects, state, &x});
    uerudp_analysis_results_end();
    bytes_in_use += bytes_of(observer);
    drop_oldest_trackers();
}

/* ---- queue ---- */

static void enqueue(struct uerudp_observer *observer, struct uerudp_frame_state *state, int64_t time_ns,
                    const struct uerudp_captured_bytes *bytes) {
    size_t size = bytes->is_cut ? 0 : bytes->size;
    struct queued_datagram *queued = wmem_alloc(wmem_file_scope(), sizeof *queued + size);
    *queued = (struct queued_datagram){.state = state, .time_ns = time_ns, .size = size, .is_cut = bytes->is_cut};
    memcpy(queued->bytes, bytes->base, size);
    if (observer->queued_count++ == 0) {
        observer->end = &observer->first;
        g_queue_push_tail_link(&waiting, &observer->waiting);
    }
    *observer->end = queued;
    observer->end = &queued->next;
}

static void observe_queued(struct uerudp_observer *observer) {
    struct queued_datagram *queued = observer->first;
    if (queued != NULL) {
        g_queue_unlink(&waiting, &observer->waiting);
    }
    observer->first = NULL;
    observer->queued_count = 0;
    while (queued != NULL) {
        struct queued_datagram *next = queued->next;
        const struct uerudp_captured_bytes bytes = {
            .base = queued->bytes, .size = queued->size, .is_cut = queued->is_cut};
        observe_now(queued->state, queued->time_ns, &bytes);
        wmem_free(wmem_file_scope(), queued);
        queued = next;
    }
}

/* A restart handshake, and a connection that may become one, waits for the cookie of the earlier connection. */
static bool is_ready(const struct uerudp_connection *connection) {
    return connection->detection.is_released && !connection->is_moving && !connection->is_unanswered;
}

static struct uerudp_observer *observer_of(struct uerudp_connection *connection) {
    if (connection->observer == NULL) {
        struct uerudp_observer *observer = wmem_new0(wmem_file_scope(), struct uerudp_observer);
        observer->used.data = observer->waiting.data = observer;
        connection->observer = observer;
    }
    return connection->observer;
}

void uerudp_stream_trackers_datagram(struct uerudp_frame_state *state, const packet_info *pinfo,
                                     const struct uerudp_captured_bytes *bytes,
                                     const struct ue_handshake_match *match) {
    struct uerudp_connection *connection = state->connection;
    struct uerudp_observer *observer = observer_of(connection);
    int64_t time_ns = ue_time_ns_from(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs);
    connection->is_moving |= match != NULL && match->restart && !connection->has_moved;
    connection->is_unanswered &= state->decode.side == 0;
    if (observer->first == NULL && is_ready(connection)) {
        observe_now(state, time_ns, bytes);
        return;
    }
    enqueue(observer, state, time_ns, bytes);
    if (is_ready(connection) || observer->queued_count == UE_DETECTION_HELD_MAX) {
        connection->is_moving = connection->is_unanswered = false;
        observe_queued(observer);
    }
}

void uerudp_stream_trackers_merge(struct uerudp_connection *connection, struct uerudp_connection *earlier) {
    struct uerudp_observer *own = connection->observer;
    struct uerudp_observer *joined = observer_of(earlier);
    connection->is_moving = false;
    connection->has_moved = true;
    if (own == joined) {
        return;
    }
    connection->observer = joined;
    observe_queued(joined);
    if (own != NULL) {
        observe_queued(own);
        drop_tracker(own);
    }
}

void uerudp_stream_trackers_finish(void) {
    while (waiting.head != NULL) {
        observe_queued(waiting.head->data);
    }
}

const struct ue_tracker_items *uerudp_stream_trackers_latest_items(const struct uerudp_frame_state *state,
                                                                   const struct uerudp_captured_bytes *bytes) {
    bool is_latest = state == latest.state && bytes->base == latest.bytes && latest.items.is_whole;
    return is_latest ? &latest.items : NULL;
}

const struct uerudp_known_objects *uerudp_stream_trackers_known_objects(const struct uerudp_connection *connection) {
    static const struct uerudp_known_objects nothing;
    const struct uerudp_observer *observer = connection->observer;
    return observer != NULL ? &observer->objects : &nothing;
}

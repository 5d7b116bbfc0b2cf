/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/observe.h"

#include <epan/packet.h>

#include <uerudp/reassembly.h>
#include <uerudp/time_ns.h>
#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/conversation.h"
#include "plugin/first_pass/file_allocator.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/reassemble.h"
#include "plugin/first_pass/sequence_analysis.h"

/* A datagram that waits for the verdict on the generation. */
struct held {
    struct held *next;
    struct uerudp_frame_state *visit;
    int64_t time_ns;
    size_t size; /* of a cut one: 0 */
    bool is_cut;
    uint8_t bytes[];
};

/* All of it lies in the scope of the capture file. */
struct uerudp_observer {
    struct ue_tracker *track; /* NULL: not begun, or given up; the same of the next */
    struct ue_reassembly *assembly;
    struct uerudp_knowledge knowledge; /* for later passes: not given up */
    struct uerudp_sequence_analysis findings;
    struct held *first, **end;
    unsigned held_count;
    GList used;    /* among the observers with a tracker, in the order of use */
    GList waiting; /* among those that hold datagrams */
};

/* One datagram on its way. */
struct pass {
    struct uerudp_observer *observer;
    struct uerudp_frame_state *visit;
    const struct ue_context *context;
};

/* What the tracker last read, and of which bytes: who listens asks for it right then. */
static struct {
    const struct uerudp_frame_state *visit;
    const uint8_t *bytes;
    struct ue_tracker_items reading;
} latest;

static GQueue observers; /* with a tracker; the one used last at the end */
static GQueue waiting;
static size_t bytes_in_use;

static void forget(void) {
    g_queue_init(&observers);
    g_queue_init(&waiting);
    bytes_in_use = 0;
    latest.visit = NULL;
}

void uerudp_observe_register(void) {
    register_init_routine(forget);
}

/* ---- trackers ---- */

static size_t bytes_of(const struct uerudp_observer *observer) {
    return ue_tracker_bytes(observer->track) + ue_reassembly_bytes(observer->assembly);
}

static struct ue_tracker *track_of(struct uerudp_observer *observer) {
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

static void give_up(struct uerudp_observer *observer) {
    if (observer->track != NULL) {
        g_queue_unlink(&observers, &observer->used);
        bytes_in_use -= bytes_of(observer);
        ue_reassembly_free(observer->assembly);
        ue_tracker_free(observer->track);
        observer->track = NULL;
        observer->assembly = NULL;
    }
}

static void give_up_oldest(void) {
    while (bytes_in_use > UERUDP_OBSERVE_BYTES_MAX && observers.length > 1) {
        give_up(observers.head->data);
    }
}

/* ---- one datagram ---- */

static void on_event(void *user, const struct ue_tracker_event *event) {
    const struct pass *pass = user;
    struct uerudp_observer *observer = pass->observer;
    const struct uerudp_reassemble_target to = {observer->assembly, &observer->knowledge, pass->visit, pass->context};
    enum ue_reassembly_problem problem = uerudp_reassemble_event(&to, event);
    uerudp_sequence_analysis_add_event(&observer->findings, pass->visit, pass->context, event, problem);
}

static void on_items(void *user, const struct ue_item *items, size_t count) {
    const struct pass *pass = user;
    ue_reassembly_prefetch(pass->observer->assembly, items, count);
}

/* Where nothing tells who is the client, it is the one that was seen first. */
static unsigned side_of(const struct uerudp_frame_state *visit, const struct ue_context *x) {
    return x->direction == UE_DIRECTION_UNKNOWN ? visit->frame.side : x->direction == UE_SERVER_TO_CLIENT;
}

static void take(struct uerudp_frame_state *visit, int64_t time_ns, const struct uerudp_captured_bytes *bytes) {
    struct uerudp_observer *observer = visit->connection->observer;
    struct ue_context x;
    if (uerudp_conversation_is_foreign(visit, bytes)) {
        return;
    }
    ue_detection_context(&visit->connection->flow, &visit->frame, &x);
    if (bytes->is_cut) {
        uerudp_sequence_analysis_add_cut(&observer->findings, side_of(visit, &x));
        return;
    }
    visit->frame.links = ue_detection_packet_ids(&visit->connection->flow, &visit->frame);
    struct pass pass = {observer, visit, &x};
    const struct ue_tracker_callbacks sink = {.event = on_event, .user = &pass, .prefetch = on_items};
    const struct ue_tracker_datagram datagram = {.frame = visit->number,
                                               .time_ns = time_ns,
                                               .side = side_of(visit, &x),
                                               .context = &x,
                                               .links = &visit->frame.links,
                                               .bytes = bytes->base,
                                               .size_bytes = bytes->size,
                                               .reading = &latest.reading};
    struct ue_tracker *track = track_of(observer);
    bytes_in_use -= bytes_of(observer);
    latest.visit = visit;
    latest.bytes = bytes->base;
    uerudp_analysis_results_begin(visit);
    ue_tracker_feed(track, &datagram, &sink);
    uerudp_reassemble_end(&(const struct uerudp_reassemble_target){observer->assembly, &observer->knowledge, visit, &x});
    uerudp_analysis_results_end();
    bytes_in_use += bytes_of(observer);
    give_up_oldest();
}

/* ---- waiting ---- */

static void hold(struct uerudp_observer *observer, struct uerudp_frame_state *visit, int64_t time_ns, const struct uerudp_captured_bytes *bytes) {
    size_t size = bytes->is_cut ? 0 : bytes->size;
    struct held *held = wmem_alloc(wmem_file_scope(), sizeof *held + size);
    *held = (struct held){.visit = visit, .time_ns = time_ns, .size = size, .is_cut = bytes->is_cut};
    memcpy(held->bytes, bytes->base, size);
    if (observer->held_count++ == 0) {
        observer->end = &observer->first;
        g_queue_push_tail_link(&waiting, &observer->waiting);
    }
    *observer->end = held;
    observer->end = &held->next;
}

static void take_held(struct uerudp_observer *observer) {
    struct held *held = observer->first;
    if (held != NULL) {
        g_queue_unlink(&waiting, &observer->waiting);
    }
    observer->first = NULL;
    observer->held_count = 0;
    while (held != NULL) {
        struct held *next = held->next;
        const struct uerudp_captured_bytes bytes = {.base = held->bytes, .size = held->size, .is_cut = held->is_cut};
        take(held->visit, held->time_ns, &bytes);
        wmem_free(wmem_file_scope(), held);
        held = next;
    }
}

/* A restart, and what may become one, waits for the cookie that says which connection it continues. */
static bool is_ready(const struct uerudp_connection *connection) {
    return connection->flow.is_released && !connection->is_moving && !connection->is_unanswered;
}

static struct uerudp_observer *observer_of(struct uerudp_connection *connection) {
    if (connection->observer == NULL) {
        struct uerudp_observer *observer = wmem_new0(wmem_file_scope(), struct uerudp_observer);
        observer->used.data = observer->waiting.data = observer;
        connection->observer = observer;
    }
    return connection->observer;
}

void uerudp_observe_datagram(struct uerudp_frame_state *visit, const packet_info *pinfo, const struct uerudp_captured_bytes *bytes,
                const struct ue_handshake_match *shape) {
    struct uerudp_connection *connection = visit->connection;
    struct uerudp_observer *observer = observer_of(connection);
    int64_t time_ns = ue_time_ns_from(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs);
    connection->is_moving |= shape != NULL && shape->restart && !connection->has_moved;
    connection->is_unanswered &= visit->frame.side == 0;
    if (observer->first == NULL && is_ready(connection)) {
        take(visit, time_ns, bytes);
        return;
    }
    hold(observer, visit, time_ns, bytes);
    if (is_ready(connection) || observer->held_count == UE_DETECTION_HELD_MAX) {
        connection->is_moving = connection->is_unanswered = false;
        take_held(observer);
    }
}

void uerudp_observe_merge(struct uerudp_connection *connection, struct uerudp_connection *earlier) {
    struct uerudp_observer *own = connection->observer;
    struct uerudp_observer *joined = observer_of(earlier);
    connection->is_moving = false;
    connection->has_moved = true;
    if (own == joined) {
        return;
    }
    connection->observer = joined;
    take_held(joined);
    if (own != NULL) {
        take_held(own);
        give_up(own);
    }
}

void uerudp_observe_finish(void) {
    while (waiting.head != NULL) {
        take_held(waiting.head->data);
    }
}

const struct ue_tracker_items *uerudp_observe_latest_items(const struct uerudp_frame_state *visit, const struct uerudp_captured_bytes *bytes) {
    bool is_latest = visit == latest.visit && bytes->base == latest.bytes && latest.reading.is_whole;
    return is_latest ? &latest.reading : NULL;
}

const struct uerudp_knowledge *uerudp_observe_knowledge(const struct uerudp_connection *connection) {
    static const struct uerudp_knowledge nothing;
    const struct uerudp_observer *observer = connection->observer;
    return observer != NULL ? &observer->knowledge : &nothing;
}

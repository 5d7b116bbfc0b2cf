/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/observer.h"

#include <epan/packet.h>
#include <wiretap/wtap.h>

#include <uerudp/time_ns.h>
#include "plugin/key_preferences.h"
#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/capture_end.h"
#include "plugin/first_pass/finding_results.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/first_pass/sequence_analysis.h"
#include "plugin/prefs.h"

#define IPV4_BYTES 4

/* In file scope. */
struct stream_results {
    struct uerudp_known_objects objects;
    struct uerudp_sequence_analysis analysis;
};

/* The datagram whose events are handled. */
struct observed_datagram {
    struct stream_results *stream;
    struct uerudp_frame_state *state;
    const struct ue_observed_datagram *observed;
    enum ue_reassembly_problem problem; /* that the bunch revealed in a message */
    bool has_kind;                      /* a message names the kind of the channel */
    bool has_spawn;                     /* a message that the bunch completes spawns an actor */
};

/* The items that the tracker decoded last: a tap listener that runs next needs them again. */
static struct {
    const struct uerudp_frame_state *state;
    const uint8_t *bytes;
    struct ue_observed_items items;
} latest;

static struct ue_observer *observer;    /* NULL before the first datagram of a file */
static struct stream_results **streams; /* by number; in file scope */
static uint32_t stream_count;
static uint32_t stream_capacity;
static bool is_finished; /* the first pass ended */

/* ---- life ---- */

static void finish(void);

static void clear(void) {
    ue_observer_free(observer);
    observer = NULL;
    streams = NULL;
    stream_count = stream_capacity = 0;
    latest.state = NULL;
    is_finished = false;
}

void uerudp_observer_register(void) {
    register_init_routine(clear);
    register_cleanup_routine(clear);
    register_postseq_cleanup_routine(finish);
}

static void *resize(void *user _U_, void *old, size_t size_bytes) {
    return g_realloc(old, size_bytes);
}

/* user is the packet_info of the datagram that begins the connection. */
static void choose(void *user, const struct ue_address sides[2] _U_, unsigned sender,
                   struct ue_connection_settings *chosen) {
    const packet_info *pinfo = *(const packet_info **)user;
    const struct uerudp_prefs_wire *wire = uerudp_prefs_default_wire();
    enum uerudp_prefs_server_end end = uerudp_prefs_find_server(pinfo, &wire);
    chosen->settings = &wire->settings;
    chosen->generation = wire->generation;
    if (end == UERUDP_PREFS_SERVER_NONE) {
        end = uerudp_prefs_server_by_port(pinfo);
    }
    if (end != UERUDP_PREFS_SERVER_NONE) {
        chosen->server_side = end == UERUDP_PREFS_SERVER_SOURCE ? (int)sender : !sender;
    }
}

static const packet_info *current; /* during ue_observer_feed */

static struct ue_observer *require_observer(void) {
    if (observer == NULL) {
        const struct ue_observer_options options = {.allocator = {resize, NULL},
                                                    .hash_seed = (uint64_t)g_random_int() << 32 | g_random_int(),
                                                    .order = uerudp_prefs_analyse() ? UE_OBSERVER_BY_CONNECTION
                                                                                    : UE_OBSERVER_NEVER,
                                                    .is_reread = true,
                                                    .settings = &uerudp_prefs_default_wire()->settings,
                                                    .choose = choose,
                                                    .user = &current,
                                                    .decryption = uerudp_decryption()};
        observer = ue_observer_new(&options);
    }
    return observer;
}

/* ---- streams ---- */

static void grow_streams(uint32_t number) {
    uint32_t capacity = MAX(number + 1, 2 * stream_capacity);
    streams = wmem_realloc(wmem_file_scope(), streams, capacity * sizeof(*streams));
    memset(streams + stream_capacity, 0, (capacity - stream_capacity) * sizeof(*streams));
    stream_capacity = capacity;
}

static struct stream_results *new_stream(const struct ue_observed_connection *connection) {
    struct stream_results *stream = wmem_new0(wmem_file_scope(), struct stream_results);
    uerudp_known_objects_init(&stream->objects, observer, connection);
    return stream;
}

static struct stream_results *require_stream(const struct ue_observed_connection *connection) {
    uint32_t number = connection->stream;
    if (number >= stream_capacity) {
        grow_streams(number);
    }
    stream_count = MAX(stream_count, number + 1);
    if (streams[number] == NULL) {
        streams[number] = new_stream(connection);
    }
    streams[number]->objects.connection = connection; /* the names are those of the latest attempt to connect */
    return streams[number];
}

uint32_t uerudp_observer_stream_count(void) {
    return stream_count;
}

const struct uerudp_known_objects *uerudp_observer_known_objects(uint32_t stream) {
    return stream < stream_count && streams[stream] != NULL ? &streams[stream]->objects : NULL;
}

/* ---- messages ---- */

static void add_to_fragments(const struct observed_datagram *pass, const struct ue_observed_event *event,
                             enum uerudp_analysis_result_type type) {
    for (uint32_t i = 0; i < event->message.fragment_count; i++) {
        const struct ue_fragment *fragment = &event->message.fragments[i];
        struct uerudp_frame_state *state = uerudp_sequence_analysis_find_datagram(pass->state, fragment->frame, NULL);
        const struct uerudp_analysis_result result = {
            .type = type, .item = fragment->item, .frame = pass->state->frame_number, .number = event->message.problem};
        if (state != NULL) {
            uerudp_analysis_results_add(state, &result);
        }
    }
}

static void store_reassembly(const struct observed_datagram *pass, const struct ue_observed_event *event) {
    bool is_whole = event->type == UE_OBSERVED_MESSAGE;
    enum uerudp_analysis_result_type type = is_whole ? UERUDP_RESULT_REASSEMBLED : UERUDP_RESULT_GIVEN_UP;
    uerudp_reassembly_results_add(pass->state, event);
    uerudp_analysis_results_add(pass->state,
                                &(struct uerudp_analysis_result){.type = type, .item = event->message.item});
    add_to_fragments(pass, event, is_whole ? UERUDP_RESULT_REASSEMBLED_IN : UERUDP_RESULT_GIVEN_UP_IN);
}

static void add_message(struct observed_datagram *pass, const struct ue_observed_event *event) {
    pass->has_spawn |= uerudp_known_objects_add_message(&pass->stream->objects, &pass->observed->context, event);
    if (!event->message.is_joined) {
        uerudp_analysis_results_add_kind(pass->state, UERUDP_RESULT_MESSAGE, event->message.item,
                                         event->message.content.kind);
        pass->has_kind = true;
    }
}

static void handle_message(struct observed_datagram *pass, const struct ue_observed_event *event) {
    if (event->type == UE_OBSERVED_MESSAGE) {
        add_message(pass, event);
    }
    bool is_given_up = event->type == UE_OBSERVED_ABANDONED;
    if ((event->message.is_joined || is_given_up) && uerudp_prefs_reassemble()) {
        store_reassembly(pass, event);
        pass->problem = is_given_up ? event->message.problem : pass->problem;
    }
}

/* ---- datagrams ---- */

/* Adds the kind of the channel where neither the bunch nor another result names it. */
static void add_channel_kind(const struct observed_datagram *pass, const struct ue_bunch *bunch, uint32_t item) {
    if (!bunch->has_name && bunch->ch_type == 0) {
        bool is_guessed;
        enum ue_content_kind kind =
            ue_observer_channel_kind(pass->observed->record.connection, bunch->channel, &is_guessed);
        uerudp_analysis_results_add_kind(pass->state, UERUDP_RESULT_CHANNEL_KIND, item, kind);
    }
}

/* The events of its messages precede that of a bunch. */
static void add_bunch(const struct observed_datagram *pass, const struct ue_observed_event *event) {
    const struct ue_bunch *bunch = event->bunch.decoded;
    if (!pass->has_kind) {
        add_channel_kind(pass, bunch, event->bunch.item);
    }
    if (bunch->open && event->bunch.copy <= 1 && !pass->has_spawn) {
        uerudp_known_objects_add_open(&pass->stream->objects, bunch->channel, event->frame);
    }
}

struct other_view {
    const struct observed_datagram *pass;
    uint32_t item;
};

static void visit_item(void *user, const struct ue_item *item) {
    struct other_view *view = user;
    if (!item->is_ack) {
        add_channel_kind(view->pass, &item->bunch, view->item);
    }
    view->item++;
}

/* The observer emits no bunches of a packet that was captured before. */
static void add_other_view(const struct observed_datagram *pass) {
    struct other_view view = {pass, 0};
    struct ue_visitor visitor = {.item = visit_item, .user = &view};
    struct ue_decode_result result;
    ue_datagram_decode(&pass->observed->context, pass->observed->bytes, pass->observed->size_bytes, NULL, &visitor,
                       &result);
}

static void on_event(void *user, const struct ue_observed_event *event) {
    struct observed_datagram *pass = user;
    uerudp_finding_results_add_event(event);
    if (event->type >= UE_OBSERVED_MESSAGE) {
        handle_message(pass, event);
        return;
    }
    if (event->type == UE_OBSERVED_BUNCH) {
        add_bunch(pass, event);
    } else if (event->type == UE_OBSERVED_OTHER_VIEW) {
        add_other_view(pass);
    }
    uerudp_sequence_analysis_add_event(&pass->stream->analysis, pass->state, &pass->observed->context, event,
                                       pass->problem);
    pass->problem = UE_REASSEMBLY_NO_PROBLEM;
    pass->has_kind = pass->has_spawn = false;
}

static void track(const struct ue_observed_datagram *observed, struct uerudp_frame_state *state) {
    struct observed_datagram pass = {
        require_stream(observed->record.connection), state, observed, UE_REASSEMBLY_NO_PROBLEM, false, false};
    const struct ue_observer_callbacks callbacks = {on_event, &pass, true, &latest.items};
    state->protocol = observed->is_foreign ? UERUDP_FRAME_FOREIGN : UERUDP_FRAME_OURS;
    if (observed->is_foreign) {
        return;
    }
    state->decode = observed->record.decode;
    latest.state = state;
    latest.bytes = observed->bytes;
    latest.items.is_whole = false;
    uerudp_analysis_results_begin(state);
    uerudp_finding_results_begin(observed, state);
    ue_observer_track(observer, observed, &callbacks);
    uerudp_finding_results_end(&latest.items);
    uerudp_analysis_results_end();
}

static void track_ready(void) {
    const struct ue_observed_datagram *observed;
    while ((observed = ue_observer_next(observer)) != NULL) {
        struct uerudp_frame_state *state =
            uerudp_frame_state_of_layer((uint32_t)observed->frame, GPOINTER_TO_UINT(observed->tag));
        track(observed, state);
    }
}

static struct ue_address address_of(const address *addr, uint32_t port) {
    struct ue_address result = {.port = (uint16_t)port};
    result.size_bytes = (uint8_t)MIN((size_t)addr->len, sizeof result.bytes);
    if (result.size_bytes == IPV4_BYTES) {
        memcpy(result.bytes, addr->data, IPV4_BYTES); /* a constant size is fast */
    } else if (result.size_bytes != 0) {
        memcpy(result.bytes, addr->data, result.size_bytes);
    }
    return result;
}

/* The interface that captured the frame. */
static uint32_t point_of(const packet_info *pinfo) {
    bool is_known = (pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID) != 0;
    return is_known ? pinfo->rec->rec_header.packet_header.interface_id : 0;
}

const struct uerudp_frame_state *uerudp_observer_feed(const packet_info *pinfo,
                                                      const struct uerudp_captured_bytes *bytes, bool is_ours) {
    const struct ue_captured_datagram captured = {.frame = pinfo->num,
                                                  .time_ns = ue_time_ns_from(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs),
                                                  .source = address_of(&pinfo->src, pinfo->srcport),
                                                  .destination = address_of(&pinfo->dst, pinfo->destport),
                                                  .bytes = bytes->base,
                                                  .captured_bytes = bytes->size,
                                                  .length_bytes = bytes->length,
                                                  .point = point_of(pinfo),
                                                  .is_ours = is_ours,
                                                  .tag = GUINT_TO_POINTER(pinfo->curr_layer_num)};
    struct ue_datagram_record record;
    current = pinfo;
    is_finished = false;
    if (!ue_observer_feed(require_observer(), &captured, &record)) {
        track_ready();
        return NULL;
    }
    struct uerudp_frame_state *state = uerudp_frame_state_add(pinfo);
    state->connection = record.connection;
    state->decode = record.decode;
    if (record.connection->is_proven) {
        require_stream(record.connection);
    }
    track_ready();
    return state;
}

bool uerudp_observer_is_expecting(uint32_t frame) {
    return observer == NULL || ue_observer_is_expecting(observer, frame);
}

/* Called at the end of a file and of a live capture, but not when a datagram is dissected again during the capture, nor
   when Wireshark has dissected all again. */
static void finish(void) {
    is_finished = true;
    if (observer != NULL) {
        ue_observer_flush(observer);
        track_ready();
        uerudp_finding_results_finish(ue_observer_end_ns(observer));
    }
}

void uerudp_observer_on_later_pass(void) {
    if (!is_finished && uerudp_capture_end_was_reached()) {
        finish();
    }
}

bool uerudp_observer_is_finished(void) {
    return is_finished;
}

bool uerudp_observer_is_final(const struct uerudp_frame_state *state) {
    return is_finished || !state->decode.is_held || state->connection->detection.is_released;
}

const struct ue_observed_items *uerudp_observer_latest_items(const struct uerudp_frame_state *state,
                                                             const struct uerudp_captured_bytes *bytes) {
    bool is_latest = state == latest.state && bytes->base == latest.bytes && latest.items.is_whole;
    return is_latest ? &latest.items : NULL;
}

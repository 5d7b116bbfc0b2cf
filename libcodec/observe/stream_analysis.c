/* SPDX-License-Identifier: MIT */
/* The tracker, reassembly and guid map of each stream, within a limit of memory for all. */
#include <uerudp/time_ns.h>
#include "libcodec/observe/observer_state.h"

#include <string.h>

/* Of a UDP payload. */
#define DATAGRAM_BYTES_MAX 65527u

/* ---- streams ---- */

static struct ue_stream *require_stream(struct ue_observer *observer, struct ue_connection *connection) {
    if (connection->stream == NULL) {
        struct ue_stream *stream = ue_observer_allocate(observer, sizeof *stream);
        if (stream != NULL) {
            *stream = (struct ue_stream){.connections = 1};
        }
        connection->stream = stream;
    }
    return connection->stream;
}

/* Frees what only later datagrams need. Names stay if datagrams are read again. */
static void stop_tracking(struct ue_observer *observer, struct ue_stream *stream) {
    if (stream->tracker == NULL) {
        return;
    }
    ue_list_remove(&observer->streams, &stream->used);
    observer->analysis_bytes -= stream->bytes;
    ue_tracker_free(stream->tracker);
    ue_reassembly_free(stream->reassembly);
    stream->tracker = NULL;
    stream->reassembly = NULL;
    stream->bytes = 0;
    if (!observer->options.is_reread) {
        ue_guid_map_free(stream->guids);
        stream->guids = NULL;
    }
}

void ue_stream_leave(struct ue_observer *observer, struct ue_connection *connection) {
    struct ue_stream *stream = connection->stream;
    connection->stream = NULL;
    if (stream != NULL && --stream->connections == 0) {
        stop_tracking(observer, stream);
        if (stream->guids != NULL && observer->options.is_reread) {
            observer->names_bytes -= ue_guid_map_bytes(stream->guids);
        }
        ue_guid_map_free(stream->guids);
        ue_observer_deallocate(observer, stream);
    }
}

void ue_stream_join(struct ue_observer *observer, struct ue_connection *connection, struct ue_connection *earlier) {
    ue_stream_leave(observer, connection);
    connection->stream = require_stream(observer, earlier);
    if (connection->stream != NULL) {
        connection->stream->connections++;
    }
}

/* ---- memory ---- */

static size_t bytes_of(const struct ue_observer *observer, const struct ue_stream *stream) {
    return ue_tracker_bytes(stream->tracker) +
           (stream->reassembly != NULL ? ue_reassembly_bytes(stream->reassembly) : 0) +
           (stream->guids != NULL && !observer->options.is_reread ? ue_guid_map_bytes(stream->guids) : 0);
}

static bool begin_tracking(struct ue_observer *observer, struct ue_stream *stream, bool has_messages) {
    const struct ue_allocator *allocator = &observer->options.allocator;
    if (stream->tracker == NULL) {
        stream->tracker = ue_tracker_new(allocator);
        if (stream->tracker == NULL) {
            return false;
        }
        ue_list_push(&observer->streams, &stream->used, stream);
    }
    ue_list_move_to_end(&observer->streams, &stream->used);
    if (has_messages && stream->reassembly == NULL) {
        stream->reassembly = ue_reassembly_new(allocator);
    }
    return true;
}

/* While gathered datagrams are returned, earlier ones of a stream that seems to be silent may follow. */
static bool is_to_go(const struct ue_observer *observer, const struct ue_stream *oldest, int64_t now_ns) {
    bool is_silent = observer->ready.count == 0 && ue_time_ns_since(now_ns, oldest->used_ns) > UE_OBSERVER_SILENT_NS;
    return is_silent || observer->analysis_bytes > observer->analysis_bytes_max;
}

static void end_tracking(struct ue_observer *observer, struct ue_stream *stream, int64_t now_ns) {
    observer->analysis_bytes -= stream->bytes;
    stream->bytes = bytes_of(observer, stream);
    observer->analysis_bytes += stream->bytes;
    stream->used_ns = now_ns;
    while (observer->streams.count > 1 && is_to_go(observer, ue_list_first(&observer->streams), now_ns)) {
        stop_tracking(observer, ue_list_first(&observer->streams));
    }
}

/* ---- one datagram ---- */

struct tracking {
    struct ue_observer *observer;
    struct ue_stream *stream;
    const struct ue_context *context;
    const struct ue_observer_callbacks *callbacks;
    struct ue_reassembly *reassembly; /* NULL: nobody wants messages, or there is no memory */
    struct ue_observer_callbacks messages;
    bool is_whole; /* else the datagram is cut, and may hold more fragments than those that are captured */
};

static bool may_bind(const struct ue_content *content) {
    return content->has_exports || content->kind == UE_CONTENT_CONTROL;
}

static void learn_names(const struct tracking *tracking, const struct ue_observed_event *event) {
    struct ue_observer *observer = tracking->observer;
    struct ue_guid_map **guids = &tracking->stream->guids;
    if (observer->names_bytes > UE_OBSERVER_NAMES_BYTES_MAX) {
        return;
    }
    size_t before = *guids != NULL ? ue_guid_map_bytes(*guids) : 0;
    if (*guids == NULL) {
        *guids = ue_guid_map_new(&observer->options.allocator);
    }
    if (*guids == NULL) {
        return;
    }
    ue_guid_map_learn(*guids, tracking->context, &event->message.content, event->frame);
    if (observer->options.is_reread) {
        observer->names_bytes += ue_guid_map_bytes(*guids) - before;
    }
}

/* What the reassembly reports. */
static void on_message(void *user, const struct ue_observed_event *event) {
    const struct tracking *tracking = user;
    if (event->type == UE_OBSERVED_MESSAGE && may_bind(&event->message.content)) {
        learn_names(tracking, event);
    }
    tracking->callbacks->event(tracking->callbacks->user, event);
}

/* What the tracker reports. The event of a bunch follows the messages that the bunch completes. */
static void on_event(void *user, const struct ue_observed_event *event) {
    const struct tracking *tracking = user;
    bool is_bunch = event->type == UE_OBSERVED_BUNCH;
    if (tracking->reassembly != NULL && (tracking->is_whole || (is_bunch && !event->bunch.is_cut))) {
        ue_reassembly_feed(tracking->reassembly, tracking->context, event, &tracking->messages);
    }
    tracking->callbacks->event(tracking->callbacks->user, event);
}

/* Completes a cut datagram with zeros and terminators. NULL: there is no memory. */
static const uint8_t *complete(struct ue_observer *observer, const struct ue_observed_datagram *datagram,
                               size_t size_bytes) {
    if (observer->completed_capacity < size_bytes) {
        const struct ue_allocator *allocator = &observer->options.allocator;
        uint8_t *bytes = allocator->resize(allocator->user, observer->completed, size_bytes);
        if (bytes == NULL) {
            return NULL;
        }
        observer->completed = bytes;
        observer->completed_capacity = size_bytes;
    }
    if (datagram->captured_bytes != 0) {
        memcpy(observer->completed, datagram->bytes, datagram->captured_bytes);
    }
    memset(observer->completed + datagram->captured_bytes, 0, size_bytes - datagram->captured_bytes);
    observer->completed[size_bytes - 1] = ue_observer_terminator(&datagram->context.settings);
    return observer->completed;
}

/* Returns false if there is no memory. */
static bool complete_cut(struct ue_observer *observer, const struct ue_observed_datagram *datagram,
                         struct ue_tracker_datagram *tracked) {
    size_t least_bytes = datagram->captured_bytes + 1;
    size_t length_bytes = datagram->length_bytes < DATAGRAM_BYTES_MAX ? datagram->length_bytes : DATAGRAM_BYTES_MAX;
    tracked->size_bytes = length_bytes > least_bytes ? length_bytes : least_bytes;
    tracked->bytes = complete(observer, datagram, tracked->size_bytes);
    tracked->is_cut = true;
    tracked->captured_bytes = datagram->captured_bytes;
    return tracked->bytes != NULL;
}

static void feed(const struct tracking *tracking, const struct ue_observed_datagram *datagram) {
    const struct ue_observer_callbacks events = {
        .event = on_event, .user = (void *)tracking, .items = tracking->callbacks->items};
    struct ue_tracker_datagram tracked = {.frame = datagram->frame,
                                          .time_ns = datagram->time_ns,
                                          .side = datagram->role,
                                          .point = datagram->point,
                                          .context = &datagram->context,
                                          .packet_ids = &datagram->record.decode.packet_ids,
                                          .bytes = datagram->bytes,
                                          .size_bytes = datagram->size_bytes,
                                          .start = datagram->start};
    if (!tracking->is_whole && !complete_cut(tracking->observer, datagram, &tracked)) {
        return;
    }
    ue_tracker_feed(tracking->stream->tracker, &tracked, &events);
    if (tracking->reassembly != NULL) {
        ue_reassembly_end_datagram(tracking->reassembly, &tracking->messages);
    }
}

bool ue_observer_track(struct ue_observer *observer, const struct ue_observed_datagram *datagram,
                       const struct ue_observer_callbacks *callbacks) {
    struct ue_connection *connection = (struct ue_connection *)datagram->record.connection;
    if (datagram->is_foreign) {
        return false;
    }
    struct ue_stream *stream = require_stream(observer, connection);
    if (stream == NULL || !begin_tracking(observer, stream, callbacks->wants_messages)) {
        return false;
    }
    struct tracking tracking = {.observer = observer,
                                .stream = stream,
                                .context = &datagram->context,
                                .callbacks = callbacks,
                                .reassembly = callbacks->wants_messages ? stream->reassembly : NULL,
                                .messages = {.event = on_message, .user = &tracking},
                                .is_whole = !datagram->is_cut};
    feed(&tracking, datagram);
    end_tracking(observer, stream, datagram->time_ns);
    return true;
}

const struct ue_tracker *ue_observer_tracker(const struct ue_observed_connection *connection) {
    const struct ue_stream *stream = ((const struct ue_connection *)connection)->stream;
    return stream != NULL ? stream->tracker : NULL;
}

enum ue_content_kind ue_observer_channel_kind(const struct ue_observed_connection *connection, uint32_t channel,
                                              bool *is_guessed) {
    const struct ue_stream *stream = ((const struct ue_connection *)connection)->stream;
    *is_guessed = true;
    return stream != NULL && stream->reassembly != NULL
               ? ue_reassembly_channel_kind(stream->reassembly, channel, is_guessed)
               : UE_CONTENT_UNKNOWN;
}

/* ---- names ---- */

static const char *path_of(void *user, uint64_t guid) {
    struct ue_observer *observer = user;
    bool is_known =
        observer->named != NULL && ue_guid_map_path(observer->named, guid, observer->named_frame, observer->path) != 0;
    return is_known ? observer->path : NULL;
}

struct ue_guid_names ue_observer_names(struct ue_observer *observer, const struct ue_observed_connection *connection,
                                       uint64_t frame) {
    const struct ue_stream *stream = ((const struct ue_connection *)connection)->stream;
    observer->named = stream != NULL ? stream->guids : NULL;
    observer->named_frame = frame;
    return (struct ue_guid_names){path_of, observer};
}

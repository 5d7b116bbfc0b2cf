/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/end_capture.h"

#include <inttypes.h>
#include <string.h>

#include "tools/print/phrase.h"

/* ---- the hash ---- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t end_capture_hash(const uint8_t *bytes, size_t captured_bytes, size_t length_bytes, bool head_only) {
    size_t size_bytes = head_only ? MIN(captured_bytes, END_HEAD_BYTES) : captured_bytes;
    uint64_t hash = mix(0, length_bytes), word = 0;
    size_t at = 0;
    for (; at + sizeof word <= size_bytes; at += sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    if (at < size_bytes) {
        memcpy(&word, bytes + at, size_bytes - at);
    }
    return mix(hash, word);
}

/* ---- reading ---- */

struct recording {
    struct end_stream *stream;
    int64_t packet_id; /* of the current datagram */
};

static void on_event(void *user, const struct ue_observed_event *event) {
    struct recording *recording = user;
    if (event->type == UE_OBSERVED_PACKET) {
        recording->packet_id = event->packet_id;
    } else if (event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK) {
        struct end_report report = {event->ack.packet_id, event->type == UE_OBSERVED_ACK};
        g_array_append_val(recording->stream->reports[!event->side], report);
    }
}

static struct end_stream *new_stream(uint32_t number) {
    struct end_stream *stream = g_new0(struct end_stream, 1);
    stream->stream = number;
    for (unsigned role = 0; role < 2; role++) {
        stream->datagrams[role] = g_array_new(FALSE, FALSE, sizeof(struct end_datagram));
        stream->reports[role] = g_array_new(FALSE, FALSE, sizeof(struct end_report));
    }
    return stream;
}

static void free_stream(gpointer element) {
    struct end_stream *stream = element;
    for (unsigned role = 0; role < 2; role++) {
        g_array_unref(stream->datagrams[role]);
        g_array_unref(stream->reports[role]);
    }
    g_free(stream);
}

static void record(struct end_stream *stream, const struct input_datagram *captured, bool is_selected, bool head_only) {
    const struct ue_observed_datagram *observed = captured->observed;
    struct recording recording = {stream, -1};
    const struct ue_observer_callbacks events = {.event = on_event, .user = &recording};
    ue_observer_track(captured->observer, observed, &events);
    struct end_datagram datagram = {
        .hash = end_capture_hash(observed->bytes, observed->captured_bytes, observed->length_bytes, head_only),
        .time_ns = observed->time_ns,
        .frame = observed->frame,
        .packet_id = recording.packet_id,
        .bytes = (uint32_t)observed->length_bytes,
        .is_selected = is_selected};
    g_array_append_val(stream->datagrams[captured->role], datagram);
}

/* The times of a capture that runs backwards somewhere span from the lowest to the highest. */
static void extend(struct end_capture *capture, int64_t time_ns) {
    capture->first_ns = capture->has_packets ? MIN(capture->first_ns, time_ns) : time_ns;
    capture->last_ns = capture->has_packets ? MAX(capture->last_ns, time_ns) : time_ns;
    capture->has_packets = true;
}

static void read_all(struct end_capture *capture, struct capture_reader *reader, const struct selection *selection,
                     bool head_only) {
    g_autoptr(GHashTable) by_number = g_hash_table_new(NULL, NULL);
    struct input_datagram captured;
    while (capture_reader_next(reader, &captured)) {
        gpointer key = GUINT_TO_POINTER(captured.connection->stream);
        struct end_stream *stream = captured.is_foreign ? NULL : g_hash_table_lookup(by_number, key);
        extend(capture, captured.observed->time_ns);
        capture->is_cut |= captured.is_cut;
        if (capture->name == NULL && captured.interface != NULL) {
            capture->name = g_utf8_make_valid(captured.interface, -1);
        }
        if (stream == NULL && !captured.is_foreign) {
            stream = new_stream(captured.connection->stream);
            g_hash_table_insert(by_number, key, stream);
            g_ptr_array_add(capture->streams, stream);
        }
        if (stream != NULL) {
            record(stream, &captured, capture_reader_selects(reader, selection, &captured), head_only);
        }
    }
}

void end_source_start(const struct end_source *source, struct capture_reader *reader,
                      const struct capture_reader *options) {
    capture_reader_init_like(reader, options);
    reader->has_one_interface = source->has_interface;
    reader->one_interface = source->interface_number;
    capture_reader_start(reader, source->path_count, source->paths);
}

/* "server.pcapng", "server1.pcapng (with 2 more files)" */
static char *names_of(const struct end_source *source) {
    g_autofree char *base = g_path_get_basename(source->paths[0]);
    g_autofree char *name = g_utf8_make_valid(base, -1);
    return source->path_count > 1
               ? g_strdup_printf("%s (with %s)", name, phrase_count((uint64_t)source->path_count - 1, "more file").text)
               : g_steal_pointer(&name);
}

struct end_capture *end_capture_read(const struct capture_reader *options, const struct selection *selection,
                                     const struct end_source *source, bool head_only) {
    struct end_capture *capture = g_new0(struct end_capture, 1);
    struct capture_reader reader;
    capture->name = source->has_interface ? NULL : names_of(source);
    capture->streams = g_ptr_array_new_with_free_func(free_stream);
    end_source_start(source, &reader, options);
    read_all(capture, &reader, selection, head_only);
    if (reader.has_begun) {
        extend(capture, reader.begin_ns);
    }
    if (capture->name == NULL) {
        capture->name = g_strdup_printf("interface %" PRIu32, source->interface_number);
    }
    capture_reader_clear(&reader);
    return capture;
}

void end_capture_free(struct end_capture *capture) {
    if (capture != NULL) {
        g_ptr_array_unref(capture->streams);
        g_free(capture->name);
        g_free(capture);
    }
}

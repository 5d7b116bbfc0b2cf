/* SPDX-License-Identifier: MIT */
#include <uerudp/observer.h>

#include <string.h>

#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/observer_state.h"

struct ue_observer *ue_observer_new(const struct ue_observer_options *options) {
    struct ue_observer *observer = options->allocator.resize(options->allocator.user, NULL, sizeof *observer);
    if (observer != NULL) {
        memset(observer, 0, sizeof *observer);
        observer->options = *options;
        observer->analysis_bytes_max = UE_OBSERVER_ANALYSIS_BYTES_MAX;
        observer->connections_max = UE_OBSERVER_CONNECTIONS_MAX;
        observer->pending_max = UE_OBSERVER_PENDING_MAX;
        ue_connection_table_init(observer);
    }
    return observer;
}

void ue_observer_free(struct ue_observer *observer) {
    if (observer != NULL) {
        ue_datagram_queue_clear(observer);
        ue_connection_table_clear(observer);
        ue_observer_deallocate(observer, observer->completed);
        ue_observer_deallocate(observer, observer);
    }
}

void ue_observer_set_limit(struct ue_observer *observer, size_t analysis_bytes_max) {
    observer->analysis_bytes_max = analysis_bytes_max;
}

bool ue_observer_feed(struct ue_observer *observer, const struct ue_captured_datagram *captured,
                      struct ue_datagram_record *record) {
    struct ue_connection *connection = ue_connection_table_feed(observer, captured, &record->decode);
    observer->has_direct = false;
    if (connection == NULL) {
        return false;
    }
    observer->end_ns = captured->time_ns;
    record->connection = &connection->shown;
    return observer->options.order == UE_OBSERVER_NEVER ||
           ue_datagram_queue_add(observer, connection, captured, &record->decode);
}

int64_t ue_observer_end_ns(const struct ue_observer *observer) {
    return observer->end_ns;
}

bool ue_observer_is_expecting(const struct ue_observer *observer, uint64_t frame) {
    return observer->expecting != 0 || ue_recognition_is_awake(&observer->recognition, frame);
}

/* ---- datagrams ---- */

/* A cut datagram is terminated, so that its captured part can be decoded. */
static void terminate(struct ue_observed_datagram *out) {
    uint8_t *after = (uint8_t *)out->bytes + out->captured_bytes;
    *after = out->context.settings.terminators > 1 ? 3 : 1;
    out->size_bytes++;
}

/* While nothing shows which side is the server, it is assumed to be the one with the lower port, since clients mostly
   have ports that their system chose. */
static unsigned role_of(const struct ue_observed_connection *connection, enum ue_direction direction, unsigned side) {
    const struct ue_address *sides = connection->sides;
    bool is_lower = sides[side].port < sides[!side].port;
    bool is_assumed_server = sides[0].port == sides[1].port ? side : is_lower;
    return direction == UE_DIRECTION_UNKNOWN ? is_assumed_server : direction == UE_SERVER_TO_CLIENT;
}

/* What the detection decoded is of the datagram that does not wait, with its result of then. */
static const struct ue_datagram_start *start_of(const struct ue_observer *observer,
                                                const struct ue_waiting_datagram *datagram,
                                                const struct ue_observed_datagram *out) {
    const struct ue_detection *detection = &datagram->connection->shown.detection;
    bool is_same = datagram == &observer->direct && observer->start.is_valid &&
                   ue_detection_is_resolved(detection, &out->record.decode.result) &&
                   detection->resolved.direction == out->context.direction;
    return is_same ? &observer->start : NULL;
}

static void describe(const struct ue_observer *observer, const struct ue_waiting_datagram *datagram,
                     struct ue_observed_datagram *out) {
    const struct ue_detection *detection = &datagram->connection->shown.detection;
    struct ue_decode_state *decode = &out->record.decode;
    out->record = (struct ue_datagram_record){&datagram->connection->shown, datagram->decode};
    out->frame = datagram->frame;
    out->time_ns = datagram->time_ns;
    out->tag = datagram->tag;
    out->point = datagram->point;
    out->bytes = datagram->bytes;
    out->captured_bytes = out->size_bytes = datagram->captured_bytes;
    out->length_bytes = datagram->length_bytes;
    out->is_cut = datagram->captured_bytes < datagram->length_bytes;
    decode->packet_ids = ue_detection_packet_ids(detection, decode);
    ue_detection_context(detection, decode, &out->context);
    out->start = start_of(observer, datagram, out);
    if (out->is_cut) {
        terminate(out);
    }
    out->role = role_of(&datagram->connection->shown, out->context.direction, decode->side);
    out->is_foreign = ue_detection_is_foreign(detection, decode, out->bytes, out->size_bytes);
}

const struct ue_observed_datagram *ue_observer_next(struct ue_observer *observer) {
    bool is_wanted = observer->options.order != UE_OBSERVER_NEVER;
    const struct ue_waiting_datagram *datagram = is_wanted ? ue_datagram_queue_pop(observer) : NULL;
    if (datagram == NULL) {
        return NULL;
    }
    describe(observer, datagram, &observer->out);
    return &observer->out;
}

void ue_observer_flush(struct ue_observer *observer) {
    ue_datagram_queue_flush(observer);
}

uint64_t ue_observer_oldest_frame(const struct ue_observer *observer) {
    const struct ue_waiting_datagram *oldest = ue_list_first(&observer->datagrams);
    return oldest != NULL ? oldest->frame : UINT64_MAX;
}

/* ---- connections ---- */

void ue_observer_reference(const struct ue_observed_connection *connection) {
    ((struct ue_connection *)connection)->references++;
}

void ue_observer_release(struct ue_observer *observer, const struct ue_observed_connection *connection) {
    ue_connection_release(observer, (struct ue_connection *)connection);
}

void *ue_observer_user(const struct ue_observed_connection *connection) {
    return ((struct ue_connection *)connection)->user;
}

uint64_t ue_observer_stream_count(const struct ue_observer *observer) {
    return observer->numbered - observer->moved;
}

uint64_t ue_observer_forgotten_count(const struct ue_observer *observer) {
    return observer->forgotten;
}

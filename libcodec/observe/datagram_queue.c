/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "libcodec/observe/detection_cut.h"
#include "libcodec/observe/detection_evidence.h"
#include "libcodec/observe/detection_handlers.h"
#include "libcodec/observe/observer_state.h"

/* Bits set after the captured part of a cut datagram, so that it can be decoded as far as it goes. */
#define TERMINATOR_BYTES 1

static bool is_in_order(const struct ue_observer *observer) {
    return observer->options.order == UE_OBSERVER_IN_CAPTURE_ORDER;
}

/* Limit of the bytes of gathered datagrams. */
#define GATHERED_BYTES_MAX (16u << 20)

/* Number of datagrams of a connection that wait, if a snap length cut some: those are no evidence for a generation. */
#define WAITING_CUT_MAX (8 * UE_DETECTION_HELD_MAX)

/* Those that share a stream are not gathered, which keeps the order of its datagrams. */
static bool is_gathered(const struct ue_observer *observer, const struct ue_connection *connection) {
    const struct ue_observer_options *options = &observer->options;
    return options->gathered_max != 0 && options->order == UE_OBSERVER_BY_CONNECTION &&
           observer->proven.count > observer->ungathered_max && !connection->is_moved && !connection->is_continued;
}

/* ---- adding ---- */

static struct ue_waiting_datagram *copy(struct ue_observer *observer, const struct ue_waiting_datagram *datagram) {
    size_t size_bytes = datagram->captured_bytes;
    struct ue_waiting_datagram *waiting =
        ue_observer_allocate(observer, sizeof *waiting + size_bytes + TERMINATOR_BYTES);
    if (waiting != NULL) {
        uint8_t *bytes = (uint8_t *)(waiting + 1);
        *waiting = *datagram;
        waiting->bytes = bytes;
        if (size_bytes != 0) {
            memcpy(bytes, datagram->bytes, size_bytes);
        }
        memset(bytes + size_bytes, 0, TERMINATOR_BYTES);
    }
    return waiting;
}

static void push(struct ue_observer *observer, struct ue_connection *connection, struct ue_waiting_datagram *waiting) {
    connection->references++;
    observer->waiting_count++;
    observer->waiting_bytes += waiting->captured_bytes;
    if (is_in_order(observer)) {
        ue_list_push(&observer->datagrams, &waiting->link, waiting);
        return;
    }
    ue_list_push(&connection->datagrams, &waiting->link, waiting);
    if (connection->datagrams.count == 1) {
        ue_list_push(&observer->waiting, &connection->turn, connection);
    }
}

/* The datagram that waits longest waits no longer, nor do gathered ones. */
static void push_out(struct ue_observer *observer) {
    observer->is_releasing = true;
    const struct ue_waiting_datagram *oldest = ue_list_first(&observer->datagrams);
    struct ue_connection *connection = oldest != NULL ? oldest->connection : ue_list_first(&observer->waiting);
    if (connection != NULL) {
        ue_connection_stop_waiting(observer, connection);
    }
}

bool ue_datagram_queue_add(struct ue_observer *observer, struct ue_connection *connection,
                           const struct ue_captured_datagram *captured, const struct ue_decode_state *decode) {
    observer->direct = (struct ue_waiting_datagram){.connection = connection,
                                                    .decode = *decode,
                                                    .frame = captured->frame,
                                                    .time_ns = captured->time_ns,
                                                    .tag = captured->tag,
                                                    .point = captured->point,
                                                    .captured_bytes = captured->captured_bytes,
                                                    .length_bytes = captured->length_bytes,
                                                    .bytes = captured->bytes};
    bool is_cut = captured->captured_bytes < captured->length_bytes;
    bool is_first = (is_in_order(observer) ? &observer->datagrams : &connection->datagrams)->count == 0;
    bool must_gather = is_gathered(observer, connection);
    observer->is_releasing |= !must_gather; /* of the stream that it shares, too */
    if (is_first && !is_cut && !must_gather && ue_connection_is_ready(observer, connection)) {
        observer->has_direct = true;
        return true;
    }
    struct ue_waiting_datagram *waiting = copy(observer, &observer->direct);
    if (waiting == NULL) {
        return false;
    }
    push(observer, connection, waiting);
    ue_connection_update_turn(observer, connection);
    unsigned waiting_max = connection->shown.detection.has_cut ? WAITING_CUT_MAX : UE_DETECTION_HELD_MAX;
    if (connection->datagrams.count >= waiting_max) {
        ue_connection_stop_waiting(observer, connection);
    }
    return true;
}

/* ---- removing ---- */

static void free_datagram(struct ue_observer *observer, struct ue_waiting_datagram *waiting) {
    if (waiting != NULL) {
        struct ue_connection *connection = waiting->connection;
        ue_observer_deallocate(observer, waiting);
        ue_connection_release(observer, connection);
    }
}

static struct ue_waiting_datagram *first_of_connection(struct ue_observer *observer) {
    const struct ue_connection *connection = ue_list_first(&observer->ready);
    observer->is_releasing |=
        observer->waiting_count >= observer->options.gathered_max || observer->waiting_bytes >= GATHERED_BYTES_MAX;
    observer->is_releasing &= connection != NULL;
    return observer->is_releasing ? ue_list_first(&connection->datagrams) : NULL;
}

/* The first one that need not wait, or that is to be dropped; NULL: none. */
static struct ue_waiting_datagram *first_ready(struct ue_observer *observer) {
    if (!is_in_order(observer)) {
        return first_of_connection(observer);
    }
    struct ue_waiting_datagram *first = ue_list_first(&observer->datagrams);
    bool is_over = first != NULL && (ue_connection_is_ready(observer, first->connection) ||
                                     ue_connection_is_hopeless(first->connection));
    return is_over ? first : NULL;
}

static void remove_first(struct ue_observer *observer, struct ue_waiting_datagram *first) {
    struct ue_connection *connection = first->connection;
    observer->waiting_count--;
    observer->waiting_bytes -= first->captured_bytes;
    if (is_in_order(observer)) {
        ue_list_remove(&observer->datagrams, &first->link);
        return;
    }
    ue_list_remove(&connection->datagrams, &first->link);
    if (connection->datagrams.count == 0) {
        ue_list_remove(connection->is_ready ? &observer->ready : &observer->waiting, &connection->turn);
        connection->is_ready = false;
    }
}

/* The next datagram that is ready; NULL: none. It is valid until the next call. */
static const struct ue_waiting_datagram *pop(struct ue_observer *observer) {
    free_datagram(observer, observer->latest_out);
    observer->latest_out = NULL;
    if (observer->waiting_count > observer->pending_max) {
        push_out(observer);
    }
    struct ue_waiting_datagram *first;
    while ((first = first_ready(observer)) != NULL) {
        remove_first(observer, first);
        if (!ue_connection_is_hopeless(first->connection)) {
            return observer->latest_out = first;
        }
        free_datagram(observer, first);
    }
    bool has_direct = observer->has_direct;
    observer->has_direct = false;
    return has_direct ? &observer->direct : NULL;
}

void ue_observer_flush(struct ue_observer *observer) {
    observer->is_releasing = true;
    for (const struct ue_list_link *link = observer->datagrams.first; link != NULL; link = link->next) {
        ue_connection_stop_waiting(observer, ((struct ue_waiting_datagram *)link->element)->connection);
    }
    while (observer->waiting.first != NULL) {
        ue_connection_stop_waiting(observer, ue_list_first(&observer->waiting));
    }
}

void ue_datagram_queue_clear(struct ue_observer *observer) {
    ue_observer_flush(observer);
    while (pop(observer) != NULL) {
    }
}

/* ---- what is returned ---- */

/* A cut datagram is terminated, so that its captured part can be decoded. */
static void terminate(struct ue_observed_datagram *out) {
    uint8_t *after = (uint8_t *)out->bytes + out->captured_bytes;
    *after = out->context.settings.terminators > 1 ? 3 : 1;
    out->size_bytes++;
}

/* While nothing shows which side is the server, it is assumed to be the one with the lower port, since clients mostly
   have ports that their system chose. */
unsigned ue_observed_role(const struct ue_observed_connection *connection, enum ue_direction direction, unsigned side) {
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
    struct ue_detection *detection = &datagram->connection->shown.detection;
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
    ue_detection_context(detection, decode, &out->context);
    if (!out->is_cut) {
        ue_detection_reread(detection, decode, &out->context, out->bytes, out->size_bytes);
        ue_detection_leave_unbounded(detection, decode, &out->context, out->bytes, out->size_bytes);
    }
    decode->packet_ids = ue_detection_packet_ids(detection, decode);
    out->start = start_of(observer, datagram, out);
    if (out->is_cut) {
        terminate(out);
        ue_detection_limit_cut(detection, decode, out->bytes, out->size_bytes, &out->context);
    }
    ue_detection_reread_cut(detection, decode, &out->context, out->bytes, out->size_bytes, out->captured_bytes);
    out->role = ue_observed_role(&datagram->connection->shown, out->context.direction, decode->side);
    out->is_foreign = ue_detection_is_foreign(detection, decode, out->bytes, out->size_bytes, out->is_cut);
}

const struct ue_observed_datagram *ue_observer_next(struct ue_observer *observer) {
    bool is_wanted = observer->options.order != UE_OBSERVER_NEVER;
    const struct ue_waiting_datagram *datagram = is_wanted ? pop(observer) : NULL;
    if (datagram == NULL) {
        return NULL;
    }
    describe(observer, datagram, &observer->out);
    return &observer->out;
}

uint64_t ue_observer_oldest_frame(const struct ue_observer *observer) {
    const struct ue_waiting_datagram *oldest = ue_list_first(&observer->datagrams);
    return oldest != NULL ? oldest->frame : UINT64_MAX;
}

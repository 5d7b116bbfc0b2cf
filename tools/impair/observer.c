/* SPDX-License-Identifier: MIT */
#include "tools/impair/observer.h"

#include "tools/observe/two_sides.h"

struct impair_observer {
    uint32_t stream;
    struct observe_two_sides *sides;
    const struct ue_observed_connection *connection; /* of the newest datagram; NULL: none yet */
    struct ue_context context;                       /* of the newest datagram */
    struct datagram_facts facts;
    bool is_closed;
};

struct impair_observer *impair_observer_new(const struct wire_options *options, uint32_t stream, int64_t begun_ns) {
    struct impair_observer *observer = g_new0(struct impair_observer, 1);
    observer->stream = stream;
    observer->sides = observe_two_sides_new(&options->settings, options->generation);
    datagram_facts_init(&observer->facts);
    observer->facts.begun_ns = begun_ns;
    return observer;
}

void impair_observer_free(struct impair_observer *observer) {
    if (observer != NULL) {
        observe_two_sides_free(observer->sides);
        datagram_facts_clear(&observer->facts);
        g_free(observer);
    }
}

static void on_event(void *user, const struct ue_observed_event *event) {
    struct impair_observer *observer = user;
    observer->is_closed |= event->type == UE_OBSERVED_CHANNEL_CLOSED && event->channel.bunch->channel == 0;
    datagram_facts_on_event(&observer->facts, event);
}

/* A new handshake begins another connection. */
static void begin_if_new(struct impair_observer *observer, const struct ue_observed_connection *connection) {
    if (observer->connection != connection) {
        observer->connection = connection;
        observer->is_closed = false;
    }
}

const struct datagram_facts *impair_observer_read(struct impair_observer *observer, uint64_t frame, int64_t time_ns,
                                                  unsigned side, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_observed_datagram *observed =
        observe_two_sides_feed(observer->sides, frame, time_ns, side, bytes, size_bytes);
    struct ue_tracker_datagram datagram = {
        .frame = frame, .time_ns = time_ns, .side = side, .bytes = bytes, .size_bytes = size_bytes};
    if (observed != NULL) {
        begin_if_new(observer, observed->record.connection);
        observer->context = observed->context;
        datagram.packet_ids = &observed->record.decode.packet_ids;
        datagram.context = observed->is_foreign ? NULL : &observer->context;
    }
    datagram_facts_read(&observer->facts, observer->stream, &datagram);
    if (observed != NULL) {
        observe_two_sides_track(observer->sides, observed, on_event, observer);
    }
    return &observer->facts;
}

bool impair_observer_is_closed(const struct impair_observer *observer) {
    return observer->is_closed;
}

/* Whether something proves that the traffic is of this protocol. */
static bool is_certain(const struct ue_observed_connection *connection) {
    enum ue_detection_reason reason = (enum ue_detection_reason)connection->detection.result.reason;
    return connection->has_handshake || (reason != UE_DETECTION_REASON_NONE && reason != UE_DETECTION_REASON_CLOSEST);
}

const char *impair_observer_generation(const struct impair_observer *observer) {
    bool is_known = observer->connection != NULL && is_certain(observer->connection);
    return is_known ? observer->context.profile.name : NULL;
}

/* SPDX-License-Identifier: MIT */
#include "tools/impair/observer.h"

#include <uerudp/detection.h>
#include "tools/observe/message_assembler.h"

struct impair_observer {
    const struct wire_options *options;
    uint32_t stream;
    struct ue_detection detection;
    struct ue_context context; /* of the newest datagram */
    struct ue_tracker *track;
    struct datagram_facts facts;
    bool has_handshake;
    bool is_closed;
};

static void begin(struct impair_observer *observer) {
    ue_detection_init(&observer->detection, &observer->options->settings, observer->options->generation, 1);
    observer->track = ue_tracker_new(&glib_memory);
    observer->has_handshake = observer->is_closed = false;
}

struct impair_observer *impair_observer_new(const struct wire_options *options, uint32_t stream, int64_t begun_ns) {
    struct impair_observer *observer = g_new0(struct impair_observer, 1);
    observer->options = options;
    observer->stream = stream;
    datagram_facts_init(&observer->facts);
    observer->facts.begun_ns = begun_ns;
    begin(observer);
    return observer;
}

static void end_track(struct impair_observer *observer) {
    if (observer->track != NULL) {
        ue_tracker_free(observer->track);
        observer->track = NULL;
    }
}

void impair_observer_free(struct impair_observer *observer) {
    if (observer != NULL) {
        end_track(observer);
        datagram_facts_clear(&observer->facts);
        g_free(observer);
    }
}

static void on_event(void *user, const struct ue_tracker_event *event) {
    struct impair_observer *observer = user;
    observer->is_closed |= event->type == UE_TRACKER_CHANNEL_CLOSED && event->bunch->channel == 0;
    datagram_facts_on_event(&observer->facts, event);
}

/* Detects from a datagram how to decode the next ones. A new handshake on the same addresses starts another
   connection. */
static void learn(struct impair_observer *observer, unsigned side, const uint8_t *bytes, size_t size_bytes,
                  struct ue_decode_state *decode_state) {
    struct ue_handshake_match shape;
    bool is_handshake = ue_profile_match_handshake(&observer->detection.settings, bytes, size_bytes, &shape);
    if (is_handshake && ue_detection_is_new_connection(&observer->detection, &shape)) {
        end_track(observer);
        begin(observer);
    }
    observer->has_handshake |= is_handshake;
    ue_detection_feed(&observer->detection, side, bytes, size_bytes, is_handshake ? &shape : NULL, decode_state);
    ue_detection_context(&observer->detection, decode_state, &observer->context);
}

/* Whether something proves that the traffic is of this protocol. */
static bool is_certain(const struct impair_observer *observer) {
    enum ue_detection_reason reason = (enum ue_detection_reason)observer->detection.result.reason;
    return observer->has_handshake || (reason != UE_DETECTION_REASON_NONE && reason != UE_DETECTION_REASON_CLOSEST);
}

const struct datagram_facts *impair_observer_read(struct impair_observer *observer, uint64_t frame, int64_t time_ns,
                                                  unsigned side, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_tracker_callbacks sink = {.event = on_event, .user = observer};
    struct ue_decode_state decode_state;
    learn(observer, side, bytes, size_bytes, &decode_state);
    struct ue_tracker_datagram datagram = {.frame = frame,
                                           .time_ns = time_ns,
                                           .side = side,
                                           .packet_ids = &decode_state.packet_ids,
                                           .bytes = bytes,
                                           .size_bytes = size_bytes};
    if (!ue_detection_is_foreign(&observer->detection, &decode_state, bytes, size_bytes)) {
        datagram.context = &observer->context;
    }
    datagram_facts_read(&observer->facts, observer->stream, &datagram);
    if (datagram.context != NULL && observer->track != NULL) {
        ue_tracker_feed(observer->track, &datagram, &sink);
    }
    return &observer->facts;
}

bool impair_observer_is_closed(const struct impair_observer *observer) {
    return observer->is_closed;
}

const char *impair_observer_generation(const struct impair_observer *observer) {
    return is_certain(observer) ? observer->context.profile.name : NULL;
}

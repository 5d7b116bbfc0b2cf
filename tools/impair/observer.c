/* SPDX-License-Identifier: MIT */
#include "tools/impair/observer.h"

#include <uerudp/detection.h>
#include "tools/observe/glib_memory.h"

struct impair_observer {
    const struct wire_options *options;
    uint32_t stream;
    struct ue_detection flow;
    struct ue_context context; /* of the latest datagram */
    struct ue_tracker *track;
    struct datagram_facts facts;
    bool has_handshake;
    bool is_closed;
};

static void begin(struct impair_observer *insight) {
    ue_detection_init(&insight->flow, &insight->options->settings, insight->options->generation, 1);
    insight->track = ue_tracker_new(&glib_memory);
    insight->has_handshake = insight->is_closed = false;
}

struct impair_observer *impair_observer_new(const struct wire_options *options, uint32_t stream,
                                              int64_t begun_ns) {
    struct impair_observer *insight = g_new0(struct impair_observer, 1);
    insight->options = options;
    insight->stream = stream;
    datagram_facts_init(&insight->facts);
    insight->facts.begun_ns = begun_ns;
    begin(insight);
    return insight;
}

static void end_track(struct impair_observer *insight) {
    if (insight->track != NULL) {
        ue_tracker_free(insight->track);
        insight->track = NULL;
    }
}

void impair_observer_free(struct impair_observer *insight) {
    if (insight != NULL) {
        end_track(insight);
        datagram_facts_clear(&insight->facts);
        g_free(insight);
    }
}

static void on_event(void *user, const struct ue_tracker_event *event) {
    struct impair_observer *insight = user;
    insight->is_closed |= event->type == UE_TRACKER_CHANNEL_CLOSED && event->bunch->channel == 0;
    datagram_facts_on_event(&insight->facts, event);
}

/* Learns from a datagram how to read it. A new handshake on the same addresses is another connection. */
static void learn(struct impair_observer *insight, unsigned side, const uint8_t *bytes, size_t size_bytes,
                  struct ue_decode_state *frame) {
    struct ue_handshake_match shape;
    bool is_handshake = ue_profile_match_handshake(&insight->flow.settings, bytes, size_bytes, &shape);
    if (is_handshake && ue_detection_is_new_connection(&insight->flow, &shape)) {
        end_track(insight);
        begin(insight);
    }
    insight->has_handshake |= is_handshake;
    ue_detection_feed(&insight->flow, side, bytes, size_bytes, is_handshake ? &shape : NULL, frame);
    ue_detection_context(&insight->flow, frame, &insight->context);
}

/* Whether something proves that this protocol is spoken. */
static bool is_certain(const struct impair_observer *insight) {
    enum ue_detection_reason reason = (enum ue_detection_reason)insight->flow.choice.reason;
    return insight->has_handshake || (reason != UE_DETECTION_REASON_NONE && reason != UE_DETECTION_REASON_CLOSEST);
}

const struct datagram_facts *impair_observer_read(struct impair_observer *insight, uint64_t frame, int64_t time_ns,
                                             unsigned side, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_tracker_callbacks sink = {.event = on_event, .user = insight};
    struct ue_decode_state link;
    learn(insight, side, bytes, size_bytes, &link);
    struct ue_tracker_datagram datagram = {.frame = frame,
                                         .time_ns = time_ns,
                                         .side = side,
                                         .links = &link.links,
                                         .bytes = bytes,
                                         .size_bytes = size_bytes};
    if (!ue_detection_is_foreign(&insight->flow, &link, bytes, size_bytes)) {
        datagram.context = &insight->context;
    }
    datagram_facts_read(&insight->facts, insight->stream, &datagram);
    if (datagram.context != NULL && insight->track != NULL) {
        ue_tracker_feed(insight->track, &datagram, &sink);
    }
    return &insight->facts;
}

bool impair_observer_is_closed(const struct impair_observer *insight) {
    return insight->is_closed;
}

const char *impair_observer_generation(const struct impair_observer *insight) {
    return is_certain(insight) ? insight->context.profile.name : NULL;
}

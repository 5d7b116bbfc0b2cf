/* SPDX-License-Identifier: MIT */
#include "tools/impair/observer.h"

#include <uerudp/detection.h>
#include "tools/observe/glib_memory.h"

struct ue_relay_insight {
    const struct ue_wire_options *options;
    uint32_t stream;
    struct ue_flow flow;
    struct ue_context context; /* of the latest datagram */
    struct ue_track *track;
    struct ue_facts facts;
    bool has_handshake;
    bool is_closed;
};

static void begin(struct ue_relay_insight *insight) {
    ue_flow_init(&insight->flow, &insight->options->settings, insight->options->generation, 1);
    insight->track = ue_track_new(&ue_heap);
    insight->has_handshake = insight->is_closed = false;
}

struct ue_relay_insight *ue_relay_insight_new(const struct ue_wire_options *options, uint32_t stream,
                                              int64_t begun_ns) {
    struct ue_relay_insight *insight = g_new0(struct ue_relay_insight, 1);
    insight->options = options;
    insight->stream = stream;
    ue_facts_init(&insight->facts);
    insight->facts.begun_ns = begun_ns;
    begin(insight);
    return insight;
}

static void end_track(struct ue_relay_insight *insight) {
    if (insight->track != NULL) {
        ue_track_free(insight->track);
        insight->track = NULL;
    }
}

void ue_relay_insight_free(struct ue_relay_insight *insight) {
    if (insight != NULL) {
        end_track(insight);
        ue_facts_clear(&insight->facts);
        g_free(insight);
    }
}

static void on_event(void *user, const struct ue_track_event *event) {
    struct ue_relay_insight *insight = user;
    insight->is_closed |= event->type == UE_TRACK_CLOSED && event->bunch->channel == 0;
    ue_facts_track(&insight->facts, event);
}

/* Learns from a datagram how to read it. A new handshake on the same addresses is another connection. */
static void learn(struct ue_relay_insight *insight, unsigned side, const uint8_t *bytes, size_t size_bytes,
                  struct ue_frame *frame) {
    struct ue_shape shape;
    bool is_handshake = ue_detect_handshake(&insight->flow.settings, bytes, size_bytes, &shape);
    if (is_handshake && ue_flow_is_over(&insight->flow, &shape)) {
        end_track(insight);
        begin(insight);
    }
    insight->has_handshake |= is_handshake;
    ue_flow_feed(&insight->flow, side, bytes, size_bytes, is_handshake ? &shape : NULL, frame);
    ue_flow_context(&insight->flow, frame, &insight->context);
}

/* Whether something proves that this protocol is spoken. */
static bool is_certain(const struct ue_relay_insight *insight) {
    enum ue_reason reason = (enum ue_reason)insight->flow.choice.reason;
    return insight->has_handshake || (reason != UE_REASON_NONE && reason != UE_REASON_CLOSEST);
}

const struct ue_facts *ue_relay_insight_read(struct ue_relay_insight *insight, uint64_t frame, int64_t time_ns,
                                             unsigned side, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_track_sink sink = {.event = on_event, .user = insight};
    struct ue_frame link;
    learn(insight, side, bytes, size_bytes, &link);
    struct ue_track_datagram datagram = {.frame = frame,
                                         .time_ns = time_ns,
                                         .side = side,
                                         .links = &link.links,
                                         .bytes = bytes,
                                         .size_bytes = size_bytes};
    if (!ue_flow_is_foreign(&insight->flow, &link, bytes, size_bytes)) {
        datagram.context = &insight->context;
    }
    ue_facts_read(&insight->facts, insight->stream, &datagram);
    if (datagram.context != NULL && insight->track != NULL) {
        ue_track_feed(insight->track, &datagram, &sink);
    }
    return &insight->facts;
}

bool ue_relay_insight_is_closed(const struct ue_relay_insight *insight) {
    return insight->is_closed;
}

const char *ue_relay_insight_generation(const struct ue_relay_insight *insight) {
    return is_certain(insight) ? insight->context.profile.name : NULL;
}

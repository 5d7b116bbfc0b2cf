/* SPDX-License-Identifier: MIT */
#include "tools/live/endpoint_log.h"

#include <uerudp/detection.h>
#include "libcodec/cipher/cipher.h"
#include "tools/events/tracker_events.h"
#include "tools/observe/glib_memory.h"

/* Client and server by their role; the server is side 1. */
#define SERVER_SIDE 1

struct ue_inside {
    struct ue_log *log;
    uint32_t stream;
    struct ue_settings settings;
    struct ue_cipher *cipher; /* NULL: nothing is encrypted */
    struct ue_opener opener;
    struct ue_flow flow;
    struct ue_track *track;
    uint64_t smoothed_ns;
    int64_t now_ns;  /* of all that one datagram or event has for a consequence */
    int64_t closing; /* the channel that the other side closes; -1 none */
    uint8_t close_reason;
};

static void use_key(struct ue_inside *inside, const struct ue_live_options *options) {
    char hex[2 * UE_CIPHER_KEY_BYTES + 1] = "";
    for (size_t i = 0; i < UE_CIPHER_KEY_BYTES; i++) {
        g_snprintf(hex + 2 * i, 3, "%02x", options->key[i]);
    }
    inside->cipher = ue_cipher_new();
    if (inside->cipher != NULL && ue_cipher_add_key(inside->cipher, hex)) {
        ue_cipher_opener(inside->cipher, &inside->opener);
        inside->settings.opener = &inside->opener;
    }
}

struct ue_inside *ue_inside_new(struct ue_log *log, const struct ue_live_options *options, uint32_t stream) {
    struct ue_inside *inside = g_new0(struct ue_inside, 1);
    inside->log = log;
    inside->stream = stream;
    inside->closing = -1;
    inside->settings = options->settings;
    if (options->has_key) {
        use_key(inside, options);
    }
    ue_flow_init(&inside->flow, &inside->settings, options->profile, SERVER_SIDE);
    inside->track = ue_track_new(&ue_heap);
    return inside;
}

void ue_inside_free(struct ue_inside *inside) {
    if (inside != NULL) {
        ue_track_free(inside->track);
        ue_cipher_free(inside->cipher);
        g_free(inside);
    }
}

/* Real time, which is set back now and then by a little; a log never goes back. */
static int64_t now_ns(void) {
    static int64_t last_ns;
    last_ns = MAX(last_ns, g_get_real_time() * 1000);
    return last_ns;
}

/* Role of whoever did it. */
static struct ue_log_place place_of(const struct ue_inside *inside, bool is_own) {
    unsigned own = (unsigned)ue_log_vantage(inside->log);
    return (struct ue_log_place){0, inside->now_ns, inside->stream, is_own ? own : !own};
}

void ue_inside_datagram(struct ue_inside *inside, bool is_sent, const uint8_t *bytes, size_t size_bytes) {
    inside->now_ns = now_ns();
    unsigned side = place_of(inside, is_sent).role;
    struct ue_shape shape;
    struct ue_frame frame;
    struct ue_context context;
    bool is_handshake = ue_detect_handshake(&inside->settings, bytes, size_bytes, &shape);
    ue_flow_feed(&inside->flow, side, bytes, size_bytes, is_handshake ? &shape : NULL, &frame);
    ue_flow_context(&inside->flow, &frame, &context);
    struct ue_log_tracked tracked = {
        .log = inside->log, .context = &context, .stream = inside->stream, .size_bytes = size_bytes};
    const struct ue_track_sink sink = {.event = ue_log_tracked, .user = &tracked};
    const struct ue_track_datagram datagram = {.time_ns = inside->now_ns,
                                               .side = side,
                                               .context = &context,
                                               .links = &frame.links,
                                               .bytes = bytes,
                                               .size_bytes = size_bytes};
    ue_track_feed(inside->track, &datagram, &sink);
}

/* ---- events ---- */

static const char *kind_name(enum ue_channel_kind kind) {
    static const char *const names[] = {
        [UE_KIND_CONTROL] = "Control", [UE_KIND_ACTOR] = "Actor", [UE_KIND_VOICE] = "Voice", [UE_KIND_OTHER] = NULL};
    return names[kind];
}

static void put_state(struct ue_inside *inside, const struct ue_event *event) {
    static const char *const names[] = {[UE_CONN_INVALID] = "invalid",
                                        [UE_CONN_SHAKING] = "handshaking",
                                        [UE_CONN_PENDING] = "pending",
                                        [UE_CONN_OPEN] = "open",
                                        [UE_CONN_CLOSED] = "closed"};
    struct ue_log_place place = place_of(inside, true);
    if (event->reason == UE_CLOSE_CONTROL_CHANNEL_CLOSE) {
        struct ue_log_place peer = place_of(inside, false);
        ue_log_closed(inside->log, &peer, 0, inside->closing == 0 ? inside->close_reason : 0);
    }
    ue_log_begin(inside->log, &place, "connectivity:connection_state_updated");
    ue_log_text(inside->log, "new", names[event->state]);
    ue_log_text(inside->log, "reason", event->reason != UE_CLOSE_NONE ? ue_close_reason_name(event->reason) : NULL);
    ue_log_end(inside->log);
}

static void put_delivered(struct ue_inside *inside, const struct ue_event *event) {
    struct ue_log_place place = place_of(inside, false);
    ue_log_begin(inside->log, &place, "transport:bunch_delivered");
    ue_log_number(inside->log, "packet_id", event->packet_id);
    ue_log_number(inside->log, "channel", event->channel);
    ue_log_text(inside->log, "channel_name", kind_name(event->kind));
    ue_log_number(inside->log, "bits", (int64_t)event->data.bits);
    if (event->reliable) {
        ue_log_number(inside->log, "reliable_id", event->ch_seq);
    }
    ue_log_flag(inside->log, "open", event->open);
    ue_log_flag(inside->log, "close", event->close);
    ue_log_end(inside->log);
}

static void put_fault(struct ue_inside *inside, const struct ue_event *event) {
    struct ue_log_place place = place_of(inside, false);
    ue_log_begin(inside->log, &place, "connectivity:fault");
    ue_log_text(inside->log, "reason", ue_close_reason_name(event->reason));
    ue_log_end(inside->log);
}

/* The round-trip time is updated by verdicts. */
static void put_metrics(struct ue_inside *inside, const struct ue_conn *conn) {
    const struct ue_ping *ping = ue_conn_ping(conn);
    if (ping->smoothed_ns != inside->smoothed_ns) {
        struct ue_log_place place = place_of(inside, true);
        inside->smoothed_ns = ping->smoothed_ns;
        ue_log_begin(inside->log, &place, "recovery:metrics_updated");
        ue_log_number(inside->log, "latest_rtt_ns", (int64_t)ping->last_ns);
        ue_log_number(inside->log, "smoothed_rtt_ns", (int64_t)ping->smoothed_ns);
        ue_log_end(inside->log);
    }
}

/* A channel is cleaned up for the other side's close, or for an own one, which was told when it was sent. */
static void take_clean_up(struct ue_inside *inside, const struct ue_event *event) {
    if (inside->closing == (int64_t)event->channel && event->channel != 0) {
        struct ue_log_place place = place_of(inside, false);
        ue_log_closed(inside->log, &place, event->channel, inside->close_reason);
    }
}

void ue_inside_event(struct ue_inside *inside, const struct ue_conn *conn, const struct ue_event *event) {
    inside->now_ns = now_ns();
    struct ue_log_place own = place_of(inside, true);
    struct ue_log_place peer = place_of(inside, false);
    switch (event->type) {
    case UE_EVENT_STATE: put_state(inside, event); break;
    case UE_EVENT_CHANNEL_OPENED: ue_log_opened(inside->log, &peer, event->channel, kind_name(event->kind)); break;
    case UE_EVENT_BUNCH:
        inside->closing = event->close ? (int64_t)event->channel : -1;
        inside->close_reason = event->close_reason;
        put_delivered(inside, event);
        break;
    case UE_EVENT_CHANNEL_CLOSED: take_clean_up(inside, event); break;
    case UE_EVENT_PACKET:
        ue_log_verdict(inside->log, &own, event->packet_id, event->delivered, (struct ue_log_sent){.elapsed_ns = -1});
        put_metrics(inside, conn);
        break;
    case UE_EVENT_FAULT: put_fault(inside, event); break;
    case UE_EVENT_EXPORTS: break; /* a part of a bunch that is still to come */
    }
}

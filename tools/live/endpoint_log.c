/* SPDX-License-Identifier: MIT */
#include "tools/live/endpoint_log.h"

#include <uerudp/detection.h>
#include "libcodec/cipher/cipher.h"
#include "tools/events/tracker_events.h"
#include "tools/observe/glib_memory.h"

/* Client and server by their role; the server is side 1. */
#define SERVER_SIDE 1

struct endpoint_log {
    struct event_log *log;
    uint32_t stream;
    struct ue_settings settings;
    struct ue_cipher *cipher; /* NULL: nothing is encrypted */
    struct ue_decryptor decryptor;
    struct ue_detection flow;
    struct ue_tracker *track;
    uint64_t smoothed_ns;
    int64_t now_ns;  /* of all that one datagram or event has for a consequence */
    int64_t closing; /* the channel that the other side closes; -1 none */
    uint8_t close_reason;
};

static void use_key(struct endpoint_log *inside, const struct live_options *options) {
    char hex[2 * UE_CIPHER_KEY_BYTES + 1] = "";
    for (size_t i = 0; i < UE_CIPHER_KEY_BYTES; i++) {
        g_snprintf(hex + 2 * i, 3, "%02x", options->key[i]);
    }
    inside->cipher = ue_cipher_new();
    if (inside->cipher != NULL && ue_cipher_add_key(inside->cipher, hex)) {
        ue_cipher_decryptor(inside->cipher, &inside->decryptor);
        inside->settings.decryptor = &inside->decryptor;
    }
}

struct endpoint_log *endpoint_log_new(struct event_log *log, const struct live_options *options, uint32_t stream) {
    struct endpoint_log *inside = g_new0(struct endpoint_log, 1);
    inside->log = log;
    inside->stream = stream;
    inside->closing = -1;
    inside->settings = options->settings;
    if (options->has_key) {
        use_key(inside, options);
    }
    ue_detection_init(&inside->flow, &inside->settings, options->profile, SERVER_SIDE);
    inside->track = ue_tracker_new(&glib_memory);
    return inside;
}

void endpoint_log_free(struct endpoint_log *inside) {
    if (inside != NULL) {
        ue_tracker_free(inside->track);
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
static struct event_log_place place_of(const struct endpoint_log *inside, bool is_own) {
    unsigned own = (unsigned)event_log_vantage(inside->log);
    return (struct event_log_place){0, inside->now_ns, inside->stream, is_own ? own : !own};
}

void endpoint_log_write_datagram(struct endpoint_log *inside, bool is_sent, const uint8_t *bytes, size_t size_bytes) {
    inside->now_ns = now_ns();
    unsigned side = place_of(inside, is_sent).role;
    struct ue_handshake_match shape;
    struct ue_decode_state frame;
    struct ue_context context;
    bool is_handshake = ue_profile_match_handshake(&inside->settings, bytes, size_bytes, &shape);
    ue_detection_feed(&inside->flow, side, bytes, size_bytes, is_handshake ? &shape : NULL, &frame);
    ue_detection_context(&inside->flow, &frame, &context);
    struct event_log_from_tracker tracked = {
        .log = inside->log, .context = &context, .stream = inside->stream, .size_bytes = size_bytes};
    const struct ue_tracker_callbacks sink = {.event = event_log_from_tracker, .user = &tracked};
    const struct ue_tracker_datagram datagram = {.time_ns = inside->now_ns,
                                               .side = side,
                                               .context = &context,
                                               .links = &frame.links,
                                               .bytes = bytes,
                                               .size_bytes = size_bytes};
    ue_tracker_feed(inside->track, &datagram, &sink);
}

/* ---- events ---- */

static const char *kind_name(enum ue_channel_kind kind) {
    static const char *const names[] = {
        [UE_KIND_CONTROL] = "Control", [UE_KIND_ACTOR] = "Actor", [UE_KIND_VOICE] = "Voice", [UE_KIND_OTHER] = NULL};
    return names[kind];
}

static void put_state(struct endpoint_log *inside, const struct ue_event *event) {
    static const char *const names[] = {[UE_CONN_INVALID] = "invalid",
                                        [UE_CONN_HANDSHAKE] = "handshaking",
                                        [UE_CONN_PENDING] = "pending",
                                        [UE_CONN_OPEN] = "open",
                                        [UE_CONN_CLOSED] = "closed"};
    struct event_log_place place = place_of(inside, true);
    if (event->reason == UE_CLOSE_CONTROL_CHANNEL_CLOSE) {
        struct event_log_place peer = place_of(inside, false);
        event_log_channel_closed(inside->log, &peer, 0, inside->closing == 0 ? inside->close_reason : 0);
    }
    event_log_begin(inside->log, &place, "connectivity:connection_state_updated");
    event_log_text(inside->log, "new", names[event->state]);
    event_log_text(inside->log, "reason", event->reason != UE_CLOSE_NONE ? ue_close_reason_name(event->reason) : NULL);
    event_log_end(inside->log);
}

static void put_delivered(struct endpoint_log *inside, const struct ue_event *event) {
    struct event_log_place place = place_of(inside, false);
    event_log_begin(inside->log, &place, "transport:bunch_delivered");
    event_log_number(inside->log, "packet_id", event->packet_id);
    event_log_number(inside->log, "channel", event->channel);
    event_log_text(inside->log, "channel_name", kind_name(event->kind));
    event_log_number(inside->log, "bits", (int64_t)event->data.bits);
    if (event->reliable) {
        event_log_number(inside->log, "reliable_id", event->ch_seq);
    }
    event_log_flag(inside->log, "open", event->open);
    event_log_flag(inside->log, "close", event->close);
    event_log_end(inside->log);
}

static void put_fault(struct endpoint_log *inside, const struct ue_event *event) {
    struct event_log_place place = place_of(inside, false);
    event_log_begin(inside->log, &place, "connectivity:fault");
    event_log_text(inside->log, "reason", ue_close_reason_name(event->reason));
    event_log_end(inside->log);
}

/* The round-trip time is updated by verdicts. */
static void put_metrics(struct endpoint_log *inside, const struct ue_conn *conn) {
    const struct ue_ping *ping = ue_conn_ping(conn);
    if (ping->smoothed_ns != inside->smoothed_ns) {
        struct event_log_place place = place_of(inside, true);
        inside->smoothed_ns = ping->smoothed_ns;
        event_log_begin(inside->log, &place, "recovery:metrics_updated");
        event_log_number(inside->log, "latest_rtt_ns", (int64_t)ping->last_ns);
        event_log_number(inside->log, "smoothed_rtt_ns", (int64_t)ping->smoothed_ns);
        event_log_end(inside->log);
    }
}

/* A channel is cleaned up for the other side's close, or for an own one, which was told when it was sent. */
static void take_clean_up(struct endpoint_log *inside, const struct ue_event *event) {
    if (inside->closing == (int64_t)event->channel && event->channel != 0) {
        struct event_log_place place = place_of(inside, false);
        event_log_channel_closed(inside->log, &place, event->channel, inside->close_reason);
    }
}

void endpoint_log_write_event(struct endpoint_log *inside, const struct ue_conn *conn, const struct ue_event *event) {
    inside->now_ns = now_ns();
    struct event_log_place own = place_of(inside, true);
    struct event_log_place peer = place_of(inside, false);
    switch (event->type) {
    case UE_EVENT_STATE: put_state(inside, event); break;
    case UE_EVENT_CHANNEL_OPENED: event_log_channel_opened(inside->log, &peer, event->channel, kind_name(event->kind)); break;
    case UE_EVENT_BUNCH:
        inside->closing = event->close ? (int64_t)event->channel : -1;
        inside->close_reason = event->close_reason;
        put_delivered(inside, event);
        break;
    case UE_EVENT_CHANNEL_CLOSED: take_clean_up(inside, event); break;
    case UE_EVENT_PACKET:
        event_log_delivery(inside->log, &own, event->packet_id, event->delivered, (struct event_log_sent_packet){.elapsed_ns = -1});
        put_metrics(inside, conn);
        break;
    case UE_EVENT_FAULT: put_fault(inside, event); break;
    case UE_EVENT_EXPORTS: break; /* a part of a bunch that is still to come */
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/events/endpoint_log.h"

#include "libcodec/cipher/aes_decryption.h"
#include "tools/events/observed_event_lines.h"
#include "tools/observe/two_sides.h"

struct endpoint_log {
    struct event_log *log;
    uint32_t stream;
    struct ue_settings settings;
    struct ue_cipher *cipher; /* NULL: no encryption */
    struct ue_decryptor decryptor;
    struct observe_two_sides *sides;
    uint64_t smoothed_ns;
    int64_t now_ns;  /* time of the datagram or event being logged, and of everything that follows from it */
    int64_t closing; /* the channel that the peer closes; -1: none */
    uint8_t close_reason;
};

static void use_key(struct endpoint_log *endpoint_log, const struct live_options *options) {
    endpoint_log->cipher = ue_cipher_new();
    if (endpoint_log->cipher != NULL && ue_cipher_add_key(endpoint_log->cipher, options->key_text)) {
        ue_cipher_decryptor(endpoint_log->cipher, &endpoint_log->decryptor);
        endpoint_log->settings.decryptor = &endpoint_log->decryptor;
    }
}

struct endpoint_log *endpoint_log_new(struct event_log *log, const struct live_options *options, uint32_t stream) {
    struct endpoint_log *endpoint_log = g_new0(struct endpoint_log, 1);
    endpoint_log->log = log;
    endpoint_log->stream = stream;
    endpoint_log->closing = -1;
    endpoint_log->settings = options->settings;
    if (options->has_key) {
        use_key(endpoint_log, options);
    }
    endpoint_log->sides = observe_two_sides_new(&endpoint_log->settings, options->profile);
    return endpoint_log;
}

void endpoint_log_free(struct endpoint_log *endpoint_log) {
    if (endpoint_log != NULL) {
        observe_two_sides_free(endpoint_log->sides);
        ue_cipher_free(endpoint_log->cipher);
        g_free(endpoint_log);
    }
}

/* The system's clock; small steps backwards are hidden, because the times of a log never decrease. */
static int64_t now_ns(void) {
    static int64_t last_ns;
    last_ns = MAX(last_ns, g_get_real_time() * 1000);
    return last_ns;
}

/* Source of an event: the role of its sender. */
static struct event_log_place source_of(const struct endpoint_log *endpoint_log, bool is_own) {
    unsigned own = (unsigned)event_log_vantage(endpoint_log->log);
    return (struct event_log_place){0, endpoint_log->now_ns, endpoint_log->stream, is_own ? own : !own};
}

void endpoint_log_write_datagram(struct endpoint_log *endpoint_log, bool is_sent, const uint8_t *bytes,
                                 size_t size_bytes) {
    endpoint_log->now_ns = now_ns();
    unsigned side = source_of(endpoint_log, is_sent).role;
    const struct ue_observed_datagram *observed =
        observe_two_sides_feed(endpoint_log->sides, 0, endpoint_log->now_ns, side, bytes, size_bytes);
    if (observed != NULL) {
        struct event_log_from_tracker tracked = {.log = endpoint_log->log,
                                                 .context = &observed->context,
                                                 .stream = endpoint_log->stream,
                                                 .size_bytes = size_bytes};
        observe_two_sides_track(endpoint_log->sides, observed, event_log_from_tracker, &tracked);
    }
}

/* ---- events ---- */

/* NULL: the engine's name is not known. */
static const char *kind_name(enum ue_channel_kind kind) {
    return kind != UE_KIND_OTHER ? ue_channel_kind_name(kind) : NULL;
}

static void put_state(struct endpoint_log *endpoint_log, const struct ue_event *event) {
    struct event_log_place source = source_of(endpoint_log, true);
    if (event->reason == UE_CLOSE_CONTROL_CHANNEL_CLOSE) {
        struct event_log_place peer = source_of(endpoint_log, false);
        event_log_channel_closed(endpoint_log->log, &peer, 0,
                                 endpoint_log->closing == 0 ? endpoint_log->close_reason : 0);
    }
    event_log_begin(endpoint_log->log, &source, "connectivity:connection_state_updated");
    event_log_text(endpoint_log->log, "new", ue_conn_state_name(event->state));
    event_log_text(endpoint_log->log, "reason",
                   event->reason != UE_CLOSE_NONE ? ue_close_reason_name(event->reason) : NULL);
    event_log_end(endpoint_log->log);
}

static void put_delivered(struct endpoint_log *endpoint_log, const struct ue_event *event) {
    struct event_log_place source = source_of(endpoint_log, false);
    event_log_begin(endpoint_log->log, &source, "transport:bunch_delivered");
    event_log_number(endpoint_log->log, "packet_id", event->packet_id);
    event_log_number(endpoint_log->log, "channel", event->channel);
    event_log_text(endpoint_log->log, "channel_name", kind_name(event->kind));
    event_log_number(endpoint_log->log, "bits", (int64_t)event->data.bits);
    if (event->reliable) {
        event_log_number(endpoint_log->log, "reliable_id", event->ch_seq);
    }
    event_log_flag(endpoint_log->log, "open", event->open);
    event_log_flag(endpoint_log->log, "close", event->close);
    event_log_end(endpoint_log->log);
}

static void put_fault(struct endpoint_log *endpoint_log, const struct ue_event *event) {
    struct event_log_place source = source_of(endpoint_log, false);
    event_log_begin(endpoint_log->log, &source, "connectivity:fault");
    event_log_text(endpoint_log->log, "reason", ue_close_reason_name(event->reason));
    event_log_end(endpoint_log->log);
}

/* Writes the round-trip time, which changes with each reported packet. */
static void write_metrics(struct endpoint_log *endpoint_log, const struct ue_conn *conn) {
    const struct ue_ping *ping = ue_conn_ping(conn);
    if (ping->smoothed_ns != endpoint_log->smoothed_ns) {
        struct event_log_place source = source_of(endpoint_log, true);
        endpoint_log->smoothed_ns = ping->smoothed_ns;
        event_log_begin(endpoint_log->log, &source, "recovery:metrics_updated");
        event_log_number(endpoint_log->log, "latest_rtt_ns", (int64_t)ping->last_ns);
        event_log_number(endpoint_log->log, "smoothed_rtt_ns", (int64_t)ping->smoothed_ns);
        event_log_end(endpoint_log->log);
    }
}

/* A channel is removed after the peer's close, or after an own one, which was logged when it was sent. */
static void write_channel_closed(struct endpoint_log *endpoint_log, const struct ue_event *event) {
    if (endpoint_log->closing == (int64_t)event->channel && event->channel != 0) {
        struct event_log_place source = source_of(endpoint_log, false);
        event_log_channel_closed(endpoint_log->log, &source, event->channel, endpoint_log->close_reason);
    }
}

void endpoint_log_write_event(struct endpoint_log *endpoint_log, const struct ue_conn *conn,
                              const struct ue_event *event) {
    endpoint_log->now_ns = now_ns();
    struct event_log_place own = source_of(endpoint_log, true);
    struct event_log_place peer = source_of(endpoint_log, false);
    switch (event->type) {
    case UE_EVENT_STATE: put_state(endpoint_log, event); break;
    case UE_EVENT_CHANNEL_OPENED:
        event_log_channel_opened(endpoint_log->log, &peer, event->channel, kind_name(event->kind));
        break;
    case UE_EVENT_BUNCH:
        endpoint_log->closing = event->close ? (int64_t)event->channel : -1;
        endpoint_log->close_reason = event->close_reason;
        put_delivered(endpoint_log, event);
        break;
    case UE_EVENT_CHANNEL_CLOSED: write_channel_closed(endpoint_log, event); break;
    case UE_EVENT_PACKET:
        event_log_delivery(endpoint_log->log, &own, event->packet_id, event->delivered,
                           (struct event_log_sent_packet){.elapsed_ns = -1});
        write_metrics(endpoint_log, conn);
        break;
    case UE_EVENT_FAULT: put_fault(endpoint_log, event); break;
    case UE_EVENT_EXPORTS: break; /* fragment of a bunch that is not complete yet */
    }
}

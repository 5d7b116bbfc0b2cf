/* SPDX-License-Identifier: MIT */
#include "tools/events/capture_log.h"

#include "tools/events/tracker_events.h"

struct capture_log {
    struct event_log *log;
};

struct capture_log *capture_log_open(const char *path, const char *title) {
    struct event_log *log = event_log_open(path, EVENT_LOG_VANTAGE_NETWORK, title);
    if (log == NULL) {
        return NULL;
    }
    struct capture_log *events = g_new0(struct capture_log, 1);
    events->log = log;
    return events;
}

static void put_malformed(struct event_log *log, const struct input_datagram *captured) {
    const struct ue_fault *fault = &captured->result.fault;
    const struct event_log_place place = {captured->observed->frame, captured->observed->time_ns,
                                          captured->connection->stream, captured->role};
    event_log_begin(log, &place, "transport:datagram_malformed");
    event_log_number(log, "length", (int64_t)captured->size_bytes);
    event_log_text(log, "status", ue_status_text(fault->status));
    event_log_number(log, "bit", (int64_t)fault->bit);
    event_log_end(log);
}

void capture_log_on_datagram(struct capture_log *events, const struct input_datagram *captured) {
    struct event_log_from_tracker tracked = {.log = events->log,
                                             .context = &captured->context,
                                             .stream = captured->connection->stream,
                                             .size_bytes = captured->observed->length_bytes,
                                             .has_frames = true};
    const struct ue_observer_callbacks callbacks = {.event = event_log_from_tracker, .user = &tracked};
    if (ue_observer_track(captured->observer, captured->observed, &callbacks) && !captured->is_cut &&
        captured->result.fault.status != UE_OK) {
        put_malformed(events->log, captured);
    }
}

void capture_log_flush(struct capture_log *events) {
    event_log_flush(events->log);
}

bool capture_log_close(struct capture_log *events, bool is_good) {
    if (events == NULL) {
        return true;
    }
    is_good = event_log_close(events->log, is_good);
    g_free(events);
    return is_good;
}

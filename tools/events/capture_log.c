/* SPDX-License-Identifier: MIT */
#include "tools/events/capture_log.h"

#include "tools/events/tracker_events.h"

struct capture_log {
    struct event_log *log;
    struct tracker_table *tracks;
};

struct capture_log *capture_log_open(const char *path, const char *title) {
    struct event_log *log = event_log_open(path, EVENT_LOG_VANTAGE_NETWORK, title);
    if (log == NULL) {
        return NULL;
    }
    struct capture_log *captured = g_new0(struct capture_log, 1);
    captured->log = log;
    captured->tracks = tracker_table_new();
    return captured;
}

static void put_malformed(struct event_log *log, const struct input_datagram *seen) {
    const struct ue_fault *fault = &seen->verdict.fault;
    const struct event_log_place place = {seen->held->frame, seen->held->time_ns, seen->connection->stream, seen->role};
    event_log_begin(log, &place, "transport:datagram_malformed");
    event_log_number(log, "length", (int64_t)seen->size_bytes);
    event_log_text(log, "status", ue_status_text(fault->status));
    event_log_number(log, "bit", (int64_t)fault->bit);
    event_log_end(log);
}

void capture_log_on_datagram(struct capture_log *captured, const struct input_datagram *seen) {
    struct event_log_from_tracker tracked = {.log = captured->log,
                                     .context = &seen->context,
                                     .stream = seen->connection->stream,
                                     .size_bytes = seen->size_bytes,
                                     .has_frames = true};
    const struct ue_tracker_callbacks sink = {.event = event_log_from_tracker, .user = &tracked};
    if (tracker_table_on_datagram(captured->tracks, seen, &sink) != NULL && seen->verdict.fault.status != UE_OK) {
        put_malformed(captured->log, seen);
    }
}

void capture_log_flush(struct capture_log *captured) {
    event_log_flush(captured->log);
}

bool capture_log_close(struct capture_log *captured, bool is_good) {
    if (captured == NULL) {
        return true;
    }
    is_good = event_log_close(captured->log, is_good);
    tracker_table_free(captured->tracks);
    g_free(captured);
    return is_good;
}

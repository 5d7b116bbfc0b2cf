/* SPDX-License-Identifier: MIT */
#include "tools/events/capture_log.h"

#include "tools/events/tracker_events.h"

struct ue_captured {
    struct ue_log *log;
    struct ue_tracks *tracks;
};

struct ue_captured *ue_captured_open(const char *path, const char *title) {
    struct ue_log *log = ue_log_open(path, UE_VANTAGE_NETWORK, title);
    if (log == NULL) {
        return NULL;
    }
    struct ue_captured *captured = g_new0(struct ue_captured, 1);
    captured->log = log;
    captured->tracks = ue_tracks_new();
    return captured;
}

static void put_malformed(struct ue_log *log, const struct ue_seen *seen) {
    const struct ue_fault *fault = &seen->verdict.fault;
    const struct ue_log_place place = {seen->held->frame, seen->held->time_ns, seen->connection->stream, seen->role};
    ue_log_begin(log, &place, "transport:datagram_malformed");
    ue_log_number(log, "length", (int64_t)seen->size_bytes);
    ue_log_text(log, "status", ue_status_text(fault->status));
    ue_log_number(log, "bit", (int64_t)fault->bit);
    ue_log_end(log);
}

void ue_captured_feed(struct ue_captured *captured, const struct ue_seen *seen) {
    struct ue_log_tracked tracked = {.log = captured->log,
                                     .context = &seen->context,
                                     .stream = seen->connection->stream,
                                     .size_bytes = seen->size_bytes,
                                     .has_frames = true};
    const struct ue_track_sink sink = {.event = ue_log_tracked, .user = &tracked};
    if (ue_tracks_feed(captured->tracks, seen, &sink) != NULL && seen->verdict.fault.status != UE_OK) {
        put_malformed(captured->log, seen);
    }
}

void ue_captured_flush(struct ue_captured *captured) {
    ue_log_flush(captured->log);
}

bool ue_captured_close(struct ue_captured *captured, bool is_good) {
    if (captured == NULL) {
        return true;
    }
    is_good = ue_log_close(captured->log, is_good);
    ue_tracks_free(captured->tracks);
    g_free(captured);
    return is_good;
}

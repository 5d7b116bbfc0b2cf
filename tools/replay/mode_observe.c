/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/events/capture_log.h"
#include "tools/observe/tracker_table.h"
#include "tools/replay/observation_text.h"
#include "tools/replay/replay.h"

/* Output waits for this much of it, unless somebody is watching. */
#define FLUSH_BYTES 65536

struct observation {
    struct ue_replay *replay;
    struct ue_tracks *tracks;
    struct ue_transcript transcript;
    bool is_watched;
    bool failed; /* to write */
};

static bool is_selected(const struct observation *o, const struct ue_seen *seen) {
    return ue_selection_takes(&o->replay->selection, seen->connection->stream, seen->is_foreign ? NULL : &seen->context,
                              seen->bytes, seen->size_bytes);
}

static void take(struct observation *o, const struct ue_seen *seen) {
    struct ue_transcript *t = &o->transcript;
    const struct ue_track_sink sink = {.event = ue_transcript_tell, .user = t};
    t->is_wanted = is_selected(o, seen);
    t->stream = seen->connection->stream;
    t->size_bytes = seen->held->length_bytes;
    t->context = &seen->context;
    size_t before = t->out.length;
    ue_tracks_feed(o->tracks, seen, &sink);
    ue_transcript_end(t);
    if (t->is_wanted && t->out.length == before) {
        const char *what = seen->is_foreign ? "data of no known form"
                           : seen->is_cut   ? "cut by the capture"
                                            : "nothing readable";
        ue_transcript_other(t, seen->held->frame, seen->held->time_ns, seen->role, what);
    }
}

static void flush(struct observation *o) {
    if (!o->failed && !ue_out_flush(&o->transcript.out, stdout)) {
        ue_complain("cannot write: %s", g_strerror(errno));
        o->failed = true;
    }
}

/* As a log of events. */
static enum ue_exit observe_events(struct ue_replay *replay) {
    struct ue_seen seen;
    bool is_watched = isatty(STDOUT_FILENO) != 0;
    struct ue_captured *log = ue_captured_open("-", replay->paths[0]);
    if (log == NULL) {
        return UE_EXIT_UNUSABLE;
    }
    while (ue_reading_next(&replay->reading, &seen)) {
        if (ue_selection_takes_stream(&replay->selection, seen.connection->stream)) {
            ue_captured_feed(log, &seen);
        }
        if (is_watched || ue_reading_is_live(&replay->reading)) {
            ue_captured_flush(log);
        }
    }
    bool is_good = ue_captured_close(log, replay->reading.is_any);
    ue_reading_print_summary(&replay->reading);
    return is_good ? ue_reading_status(&replay->reading) : UE_EXIT_UNUSABLE;
}

static enum ue_exit observe_text(struct ue_replay *replay) {
    struct ue_seen seen;
    struct observation o = {.replay = replay, .tracks = ue_tracks_new(), .is_watched = isatty(STDOUT_FILENO) != 0};
    o.transcript.names_streams = replay->selection.streams == NULL || replay->selection.streams->len > 1;
    while (!o.failed && ue_reading_next(&replay->reading, &seen)) {
        take(&o, &seen);
        if (o.is_watched || ue_reading_is_live(&replay->reading) || o.transcript.out.length >= FLUSH_BYTES) {
            flush(&o);
        }
    }
    flush(&o);
    ue_reading_print_summary(&replay->reading);
    ue_transcript_free(&o.transcript);
    ue_tracks_free(o.tracks);
    return o.failed ? UE_EXIT_UNUSABLE : ue_reading_status(&replay->reading);
}

enum ue_exit ue_replay_observe(struct ue_replay *replay) {
    ue_reading_start(&replay->reading, replay->path_count, replay->paths);
    return replay->json ? observe_events(replay) : observe_text(replay);
}

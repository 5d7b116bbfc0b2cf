/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/events/capture_log.h"
#include "tools/replay/observation_text.h"
#include "tools/replay/replay.h"

/* Output is buffered up to this size, unless it goes to a terminal. */
#define FLUSH_BYTES 65536

struct observation {
    struct replay_command *replay;
    struct observation_text text;
    bool is_watched;
    bool failed; /* a write failed */
};

static bool is_selected(const struct observation *o, const struct input_datagram *seen) {
    return capture_reader_selects(&o->replay->reading, &o->replay->selection, seen);
}

static void print_datagram(struct observation *o, const struct input_datagram *seen) {
    struct observation_text *t = &o->text;
    const struct ue_observer_callbacks callbacks = {.event = observation_text_event, .user = t};
    t->is_wanted = is_selected(o, seen);
    t->stream = seen->connection->stream;
    t->size_bytes = seen->observed->length_bytes;
    t->context = &seen->context;
    size_t before = t->out.length;
    ue_observer_track(seen->observer, seen->observed, &callbacks);
    observation_text_end_datagram(t);
    if (t->is_wanted && t->out.length == before) {
        const char *what = seen->is_foreign ? "data of an unknown form"
                           : seen->is_cut   ? "cut by the capture"
                                            : "not decodable";
        observation_text_other(t, seen->observed->frame, seen->observed->time_ns, seen->role, what);
    }
}

static void flush(struct observation *o) {
    if (!o->failed && !text_buffer_flush(&o->text.out, stdout)) {
        cli_error("cannot write: %s", g_strerror(errno));
        o->failed = true;
    }
}

/* Writes an event log. */
static enum cli_exit observe_events(struct replay_command *replay) {
    struct input_datagram seen;
    bool is_watched = isatty(STDOUT_FILENO) != 0;
    struct capture_log *log = capture_log_open("-", replay->paths[0], false);
    if (log == NULL) {
        return CLI_EXIT_UNUSABLE;
    }
    while (capture_reader_next(&replay->reading, &seen)) {
        if (capture_reader_selects(&replay->reading, &replay->selection, &seen)) {
            capture_log_on_datagram(log, &seen);
        }
        if (is_watched || capture_reader_is_live(&replay->reading)) {
            capture_log_flush(log);
        }
    }
    bool is_good =
        capture_log_close(log, capture_reader_end_ns(&replay->reading, &replay->selection), replay->reading.is_any);
    capture_reader_print_summary(&replay->reading);
    return is_good ? capture_reader_exit_status(&replay->reading) : CLI_EXIT_UNUSABLE;
}

static enum cli_exit observe_text(struct replay_command *replay) {
    struct input_datagram seen;
    struct observation o = {.replay = replay, .is_watched = isatty(STDOUT_FILENO) != 0};
    o.text.names_streams = replay->selection.streams == NULL || replay->selection.streams->len > 1;
    while (!o.failed && capture_reader_next(&replay->reading, &seen)) {
        print_datagram(&o, &seen);
        if (o.is_watched || capture_reader_is_live(&replay->reading) || o.text.out.length >= FLUSH_BYTES) {
            flush(&o);
        }
    }
    flush(&o);
    capture_reader_print_summary(&replay->reading);
    observation_text_free(&o.text);
    return o.failed ? CLI_EXIT_UNUSABLE : capture_reader_exit_status(&replay->reading);
}

enum cli_exit replay_observe(struct replay_command *replay) {
    capture_reader_start(&replay->reading, replay->path_count, replay->paths);
    return replay->json ? observe_events(replay) : observe_text(replay);
}

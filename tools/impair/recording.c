/* SPDX-License-Identifier: MIT */
#include "tools/impair/recording.h"

#include <string.h>

#include "tools/live/capture_file.h"

/* Limit of datagrams that wait; above it the oldest is written with what is known of it. */
#define WAITING_BYTES_MAX (64u << 20)

struct impair_recording {
    struct live_capture *files[3]; /* both sides, client side, server side */
    GQueue records;                /* not written yet, in the order of time */
    size_t waiting_bytes;
};

struct impair_record {
    struct impair_recording *recording;
    enum impair_side side;
    int64_t time_ns;
    struct net_address from, to;
    GString *comment;
    unsigned open_count;
    bool is_written;
    size_t size_bytes;
    uint8_t bytes[];
};

/* ---- files ---- */

static const char *const names[2] = {[IMPAIR_SIDE_CLIENT] = "client side", [IMPAIR_SIDE_SERVER] = "server side"};

static bool open_file(struct live_capture **file, const char *path, const char *name) {
    *file = path != NULL ? live_capture_open(path, name) : NULL;
    return path == NULL || *file != NULL;
}

struct impair_recording *impair_recording_open(const struct impair_recording_paths *paths) {
    struct impair_recording *recording = g_new0(struct impair_recording, 1);
    bool good = open_file(&recording->files[0], paths->both, names[IMPAIR_SIDE_CLIENT]);
    for (size_t side = 0; good && side < 2; side++) {
        good = open_file(&recording->files[1 + side], paths->sides[side], names[side]);
    }
    if (!good) {
        impair_recording_close(recording);
        return NULL;
    }
    if (recording->files[0] != NULL) {
        live_capture_add_interface(recording->files[0], names[IMPAIR_SIDE_SERVER]);
    }
    return recording;
}

bool impair_recording_close(struct impair_recording *recording) {
    bool good = true;
    for (size_t i = 0; recording != NULL && i < G_N_ELEMENTS(recording->files); i++) {
        good = live_capture_close(recording->files[i]) && good;
    }
    g_free(recording);
    return good;
}

static void write_to(struct live_capture *file, uint32_t interface, const struct impair_record *record) {
    if (file != NULL) {
        live_capture_write(file, interface, record->time_ns, &record->from, &record->to, record->bytes,
                           record->size_bytes, record->comment->len != 0 ? record->comment->str : NULL);
    }
}

/* ---- records ---- */

static void free_record(struct impair_record *record) {
    g_string_free(record->comment, TRUE);
    g_free(record);
}

static void write_first(struct impair_recording *recording) {
    struct impair_record *record = g_queue_pop_head(&recording->records);
    write_to(recording->files[0], record->side, record);
    write_to(recording->files[1 + record->side], 0, record);
    recording->waiting_bytes -= record->size_bytes;
    record->is_written = true;
    if (record->open_count == 0) {
        free_record(record);
    }
}

static void write_done(struct impair_recording *recording) {
    const struct impair_record *first;
    while ((first = g_queue_peek_head(&recording->records)) != NULL &&
           (first->open_count == 0 || recording->waiting_bytes > WAITING_BYTES_MAX)) {
        write_first(recording);
    }
}

struct impair_record *impair_record_new(struct impair_recording *recording, enum impair_side side,
                                        const struct net_address *from, const struct net_address *to,
                                        const uint8_t *bytes, size_t size_bytes) {
    if (recording->files[0] == NULL && recording->files[1 + side] == NULL) {
        return NULL;
    }
    struct impair_record *record = g_malloc0(sizeof *record + size_bytes);
    record->recording = recording;
    record->side = side;
    record->time_ns = g_get_real_time() * 1000;
    record->from = *from;
    record->to = *to;
    record->comment = g_string_new(NULL);
    record->open_count = 1;
    record->size_bytes = size_bytes;
    memcpy(record->bytes, bytes, size_bytes);
    g_queue_push_tail(&recording->records, record);
    recording->waiting_bytes += size_bytes;
    write_done(recording);
    return record;
}

void impair_record_add_comment(struct impair_record *record, const char *text) {
    if (record != NULL && *text != '\0') {
        g_string_append_printf(record->comment, "%s%s", record->comment->len != 0 ? "; " : "", text);
    }
}

void impair_record_hold(struct impair_record *record) {
    if (record != NULL) {
        record->open_count++;
    }
}

void impair_record_release(struct impair_record *record) {
    if (record == NULL || --record->open_count > 0) {
        return;
    }
    if (record->is_written) {
        free_record(record);
    } else {
        write_done(record->recording);
    }
}

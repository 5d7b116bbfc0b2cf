/* SPDX-License-Identifier: MIT */
#include "tools/impair/recording.h"

#include <string.h>

#include "tools/live/capture_file.h"

/* Of datagrams that wait; beyond it the first of them is written with what is known. */
#define WAITING_BYTES_MAX (64u << 20)

struct impair_recording {
    struct live_capture *files[3]; /* both, client side, server side */
    GQueue notes;                    /* not yet written, in the order of time */
    size_t waiting_bytes;
};

struct impair_record {
    struct impair_recording *record;
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
    struct impair_recording *record = g_new0(struct impair_recording, 1);
    bool good = open_file(&record->files[0], paths->both, names[IMPAIR_SIDE_CLIENT]);
    for (size_t side = 0; good && side < 2; side++) {
        good = open_file(&record->files[1 + side], paths->sides[side], names[side]);
    }
    if (!good) {
        impair_recording_close(record);
        return NULL;
    }
    if (record->files[0] != NULL) {
        live_capture_add_interface(record->files[0], names[IMPAIR_SIDE_SERVER]);
    }
    return record;
}

bool impair_recording_close(struct impair_recording *record) {
    bool good = true;
    for (size_t i = 0; record != NULL && i < G_N_ELEMENTS(record->files); i++) {
        good = live_capture_close(record->files[i]) && good;
    }
    g_free(record);
    return good;
}

static void write_to(struct live_capture *file, uint32_t interface, const struct impair_record *note) {
    if (file != NULL) {
        live_capture_write(file, interface, note->time_ns, &note->from, &note->to, note->bytes, note->size_bytes,
                        note->comment->len != 0 ? note->comment->str : NULL);
    }
}

/* ---- notes ---- */

static void free_note(struct impair_record *note) {
    g_string_free(note->comment, TRUE);
    g_free(note);
}

static void write_first(struct impair_recording *record) {
    struct impair_record *note = g_queue_pop_head(&record->notes);
    write_to(record->files[0], note->side, note);
    write_to(record->files[1 + note->side], 0, note);
    record->waiting_bytes -= note->size_bytes;
    note->is_written = true;
    if (note->open_count == 0) {
        free_note(note);
    }
}

static void write_done(struct impair_recording *record) {
    const struct impair_record *first;
    while ((first = g_queue_peek_head(&record->notes)) != NULL &&
           (first->open_count == 0 || record->waiting_bytes > WAITING_BYTES_MAX)) {
        write_first(record);
    }
}

struct impair_record *impair_record_new(struct impair_recording *record, enum impair_side side,
                                        const struct net_address *from, const struct net_address *to,
                                        const uint8_t *bytes, size_t size_bytes) {
    if (record->files[0] == NULL && record->files[1 + side] == NULL) {
        return NULL;
    }
    struct impair_record *note = g_malloc0(sizeof *note + size_bytes);
    note->record = record;
    note->side = side;
    note->time_ns = g_get_real_time() * 1000;
    note->from = *from;
    note->to = *to;
    note->comment = g_string_new(NULL);
    note->open_count = 1;
    note->size_bytes = size_bytes;
    memcpy(note->bytes, bytes, size_bytes);
    g_queue_push_tail(&record->notes, note);
    record->waiting_bytes += size_bytes;
    write_done(record);
    return note;
}

void impair_record_add_comment(struct impair_record *note, const char *text) {
    if (note != NULL && *text != '\0') {
        g_string_append_printf(note->comment, "%s%s", note->comment->len != 0 ? "; " : "", text);
    }
}

void impair_record_hold(struct impair_record *note) {
    if (note != NULL) {
        note->open_count++;
    }
}

void impair_record_release(struct impair_record *note) {
    if (note == NULL || --note->open_count > 0) {
        return;
    }
    if (note->is_written) {
        free_note(note);
    } else {
        write_done(note->record);
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/events/event_log.h"

#include <glib.h>
#include <uerudp/version.h>

#include "tools/cli/output_file.h"
#include "tools/print/json.h"
#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"

#define FLUSH_BYTES 65536

struct event_log {
    struct output_file output;
    struct text_buffer lines;
    enum event_log_vantage vantage;
    bool is_first; /* member of this event */
    bool has_failed;
};

static void put_key(struct event_log *log, const char *key) {
    text_buffer_add(&log->lines, log->is_first ? "\"" : ",\"");
    text_buffer_add(&log->lines, key);
    text_buffer_add(&log->lines, "\":");
    log->is_first = false;
}

/* A title may be a file name in any encoding. */
static void put_escaped(struct event_log *log, const char *text) {
    text_buffer_add_char(&log->lines, '"');
    text_escape_add_utf8(&log->lines, text, TEXT_ESCAPE_JSON);
    text_buffer_add_char(&log->lines, '"');
}

static void put_header(struct event_log *log, const char *title) {
    text_buffer_add_format(&log->lines,
                           "{\"schema\":%d,\"format\":\"uerudp-events\",\"generator\":\"uerudp %s\",\"title\":",
                           PRINT_JSON_SCHEMA, UE_VERSION);
    put_escaped(log, title);
    text_buffer_add_format(
        &log->lines,
        ",\"vantage_point\":{\"type\":\"%s\"},\"reference_time\":{\"epoch\":\"1970-01-01T00:00:00Z\",\"unit\":"
        "\"ns\"}}\n",
        log->vantage == EVENT_LOG_VANTAGE_NETWORK ? "network" : phrase_side(log->vantage));
}

struct event_log *event_log_open(const char *path, enum event_log_vantage vantage, const char *title) {
    struct event_log *log = g_new0(struct event_log, 1);
    log->vantage = vantage;
    if (!output_file_open(&log->output, path)) {
        g_free(log);
        return NULL;
    }
    put_header(log, title);
    return log;
}

void event_log_flush(struct event_log *log) {
    if (!log->has_failed && !text_buffer_flush(&log->lines, log->output.file)) {
        log->has_failed = true; /* event_log_close reports it */
    }
    log->lines.length = 0;
}

bool event_log_close(struct event_log *log, bool is_good) {
    if (log == NULL) {
        return true;
    }
    event_log_flush(log);
    is_good = output_file_close(&log->output, is_good && !log->has_failed);
    text_buffer_free(&log->lines);
    g_free(log);
    return is_good;
}

enum event_log_vantage event_log_vantage(const struct event_log *log) {
    return log->vantage;
}

void event_log_begin(struct event_log *log, const struct event_log_place *place, const char *name) {
    struct text_buffer *out = &log->lines;
    text_buffer_add_format(out, "{\"schema\":%d,\"time\":\"", PRINT_JSON_SCHEMA);
    text_buffer_add_signed(out, place->time_ns);
    text_buffer_add(out, "\",\"name\":\"");
    text_buffer_add(out, name);
    text_buffer_add(out, "\",\"stream\":");
    text_buffer_add_unsigned(out, place->stream);
    if (place->frame != 0) {
        text_buffer_add(out, ",\"frame\":");
        text_buffer_add_unsigned(out, place->frame);
    }
    text_buffer_add(out, ",\"role\":\"");
    text_buffer_add(out, phrase_side(place->role));
    text_buffer_add(out, "\",\"data\":{");
    log->is_first = true;
}

void event_log_number(struct event_log *log, const char *key, int64_t value) {
    put_key(log, key);
    text_buffer_add_signed(&log->lines, value);
}

void event_log_flag(struct event_log *log, const char *key, bool value) {
    if (value) {
        put_key(log, key);
        text_buffer_add(&log->lines, "true");
    }
}

void event_log_text(struct event_log *log, const char *key, const char *value) {
    if (value != NULL) {
        put_key(log, key);
        put_escaped(log, value);
    }
}

void event_log_numbers(struct event_log *log, const char *key, const uint64_t *values, size_t count) {
    put_key(log, key);
    for (size_t i = 0; i < count; i++) {
        text_buffer_add_char(&log->lines, i == 0 ? '[' : ',');
        text_buffer_add_unsigned(&log->lines, values[i]);
    }
    text_buffer_add(&log->lines, count == 0 ? "[]" : "]");
}

void event_log_end(struct event_log *log) {
    text_buffer_add(&log->lines, "}}\n");
    if (log->lines.length >= FLUSH_BYTES) {
        event_log_flush(log);
    }
}

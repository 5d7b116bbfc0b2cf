/* SPDX-License-Identifier: MIT */
#include "tools/events/log.h"

#include <glib.h>

#include "tools/cli/output_file.h"
#include "tools/print/json.h"
#include "tools/print/phrase.h"
#include "uerudp_version.h"

#define FLUSH_BYTES 65536

struct ue_log {
    struct ue_output output;
    struct ue_out lines;
    enum ue_vantage vantage;
    bool is_first; /* datum of this event */
    bool has_failed;
};

static void put_key(struct ue_log *log, const char *key) {
    ue_out_text(&log->lines, log->is_first ? "\"" : ",\"");
    ue_out_text(&log->lines, key);
    ue_out_text(&log->lines, "\":");
    log->is_first = false;
}

/* A title may be a file name, in any encoding. */
static void put_escaped(struct ue_log *log, const char *text) {
    char *valid = g_utf8_make_valid(text, -1);
    ue_out_char(&log->lines, '"');
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        ue_out_character(&log->lines, g_utf8_get_char(at), UE_ESCAPE_JSON);
    }
    ue_out_char(&log->lines, '"');
    g_free(valid);
}

static void put_header(struct ue_log *log, const char *title) {
    ue_out_format(&log->lines,
                  "{\"schema\":%d,\"format\":\"uerudp-events\",\"generator\":\"uerudp %s\",\"title\":", UE_JSON_SCHEMA,
                  UERUDP_VERSION);
    put_escaped(log, title);
    ue_out_format(
        &log->lines,
        ",\"vantage_point\":{\"type\":\"%s\"},\"reference_time\":{\"epoch\":\"1970-01-01T00:00:00Z\",\"unit\":"
        "\"ns\"}}\n",
        log->vantage == UE_VANTAGE_NETWORK ? "network" : ue_side_name(log->vantage));
}

struct ue_log *ue_log_open(const char *path, enum ue_vantage vantage, const char *title) {
    struct ue_log *log = g_new0(struct ue_log, 1);
    log->vantage = vantage;
    if (!ue_output_open(&log->output, path)) {
        g_free(log);
        return NULL;
    }
    put_header(log, title);
    return log;
}

void ue_log_flush(struct ue_log *log) {
    if (!log->has_failed && !ue_out_flush(&log->lines, log->output.file)) {
        log->has_failed = true; /* closing says so */
    }
    log->lines.length = 0;
}

bool ue_log_close(struct ue_log *log, bool is_good) {
    if (log == NULL) {
        return true;
    }
    ue_log_flush(log);
    is_good = ue_output_close(&log->output, is_good && !log->has_failed);
    ue_out_free(&log->lines);
    g_free(log);
    return is_good;
}

enum ue_vantage ue_log_vantage(const struct ue_log *log) {
    return log->vantage;
}

void ue_log_begin(struct ue_log *log, const struct ue_log_place *place, const char *name) {
    struct ue_out *out = &log->lines;
    ue_out_format(out, "{\"schema\":%d,\"time\":\"", UE_JSON_SCHEMA);
    ue_out_signed(out, place->time_ns);
    ue_out_text(out, "\",\"name\":\"");
    ue_out_text(out, name);
    ue_out_text(out, "\",\"stream\":");
    ue_out_unsigned(out, place->stream);
    if (place->frame != 0) {
        ue_out_text(out, ",\"frame\":");
        ue_out_unsigned(out, place->frame);
    }
    ue_out_text(out, ",\"role\":\"");
    ue_out_text(out, ue_side_name(place->role));
    ue_out_text(out, "\",\"data\":{");
    log->is_first = true;
}

void ue_log_number(struct ue_log *log, const char *key, int64_t value) {
    put_key(log, key);
    ue_out_signed(&log->lines, value);
}

void ue_log_flag(struct ue_log *log, const char *key, bool value) {
    if (value) {
        put_key(log, key);
        ue_out_text(&log->lines, "true");
    }
}

void ue_log_text(struct ue_log *log, const char *key, const char *value) {
    if (value != NULL) {
        put_key(log, key);
        put_escaped(log, value);
    }
}

void ue_log_end(struct ue_log *log) {
    ue_out_text(&log->lines, "}}\n");
    if (log->lines.length >= FLUSH_BYTES) {
        ue_log_flush(log);
    }
}

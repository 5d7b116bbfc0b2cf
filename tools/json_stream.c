/* SPDX-License-Identifier: MIT */
#include "tools/json_stream.h"

#include <ctype.h>
#include <string.h>

void ue_json_stream_init(struct ue_json_stream *stream, FILE *file) {
    *stream = (struct ue_json_stream){.file = file, .line = 1};
}

/* One character at a time, so that nothing behind the value is consumed. */
static size_t feed(void *buffer, size_t size, void *user) {
    struct ue_json_stream *stream = user;
    int character = size > 0 && stream->length < UE_JSON_VALUE_MAX ? getc_unlocked(stream->file) : EOF;
    if (character == EOF) {
        return 0;
    }
    stream->length++;
    stream->line += character == '\n';
    *(char *)buffer = (char)character;
    return 1;
}

static bool skip_space(struct ue_json_stream *stream) {
    int character;
    while ((character = getc(stream->file)) != EOF && isspace(character)) {
        stream->line += character == '\n';
    }
    if (character != EOF) {
        ungetc(character, stream->file);
    }
    return character != EOF;
}

json_t *ue_json_stream_next(struct ue_json_stream *stream) {
    json_error_t error;
    stream->error[0] = '\0';
    if (!skip_space(stream)) {
        if (ferror(stream->file)) {
            snprintf(stream->error, sizeof stream->error, "cannot be read");
        }
        return NULL;
    }
    stream->begin_line = stream->line;
    stream->length = 0;
    json_t *value =
        json_load_callback(feed, stream, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &error);
    if (value == NULL && stream->length >= UE_JSON_VALUE_MAX) {
        snprintf(stream->error, sizeof stream->error, "a value of more than %u characters", UE_JSON_VALUE_MAX);
    } else if (value == NULL) {
        stream->begin_line += error.line > 0 ? (size_t)error.line - 1 : 0;
        snprintf(stream->error, sizeof stream->error, "not JSON: %s", error.text);
    } else if (!json_is_object(value)) {
        snprintf(stream->error, sizeof stream->error, "not a JSON object");
        json_decref(value);
        value = NULL;
    }
    return value;
}

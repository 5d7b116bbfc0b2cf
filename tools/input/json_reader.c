/* SPDX-License-Identifier: MIT */
#include "tools/input/json_reader.h"

#include <ctype.h>
#include <string.h>

void input_json_reader_init(struct input_json_reader *stream, FILE *file) {
    *stream = (struct input_json_reader){.file = file, .line = 1};
}

static int next_character(struct input_json_reader *stream) {
    int character = getc_unlocked(stream->file);
    if (stream->head_bytes < sizeof stream->head && character != EOF) {
        stream->head[stream->head_bytes++] = (uint8_t)character;
    }
    return character;
}

/* Whether the file starts like a pcapng or a pcap of either byte order. No JSON is read from such a file. */
static bool is_capture(struct input_json_reader *stream) {
    static const uint8_t magics[][INPUT_JSON_HEAD_BYTES] = {
        {0x0a, 0x0d, 0x0d, 0x0a}, {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0xc3, 0xd4},
        {0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d},
    };
    while (stream->head_bytes < sizeof stream->head && next_character(stream) != EOF) {
    }
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (memcmp(stream->head, magics[i], sizeof stream->head) == 0) {
            return true;
        }
    }
    return false;
}

static void set_not_json(struct input_json_reader *stream, const char *why) {
    if (is_capture(stream)) {
        snprintf(stream->error, sizeof stream->error,
                 "a capture, not JSON: convert it with uerudp decode --json, or change it with uerudp edit");
    } else {
        snprintf(stream->error, sizeof stream->error, "not JSON: %s", why);
    }
}

/* One character at a time, so that nothing after the value is consumed. */
static size_t read_character(void *buffer, size_t size, void *user) {
    struct input_json_reader *stream = user;
    int character = size > 0 && stream->length < INPUT_JSON_VALUE_CHARS_MAX ? next_character(stream) : EOF;
    if (character == EOF) {
        return 0;
    }
    stream->length++;
    stream->line += character == '\n';
    *(char *)buffer = (char)character;
    return 1;
}

static bool skip_space(struct input_json_reader *stream) {
    int character;
    while ((character = next_character(stream)) != EOF && isspace(character)) {
        stream->line += character == '\n';
    }
    if (character != EOF) {
        ungetc(character, stream->file);
        stream->head_bytes -= stream->head_bytes < sizeof stream->head;
    }
    return character != EOF;
}

json_t *input_json_reader_next(struct input_json_reader *stream) {
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
    json_t *value = json_load_callback(read_character, stream,
                                       JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &error);
    if (value == NULL && stream->length >= INPUT_JSON_VALUE_CHARS_MAX) {
        snprintf(stream->error, sizeof stream->error, "a value of more than %u characters", INPUT_JSON_VALUE_CHARS_MAX);
    } else if (value == NULL) {
        stream->begin_line += error.line > 0 ? (size_t)error.line - 1 : 0;
        set_not_json(stream, error.text);
    } else if (!json_is_object(value)) {
        snprintf(stream->error, sizeof stream->error, "not a JSON object");
        json_decref(value);
        value = NULL;
    }
    return value;
}

/* SPDX-License-Identifier: MIT */
/* Reads consecutive JSON values from a file, regardless of line breaks. */
#ifndef UERUDP_TOOLS_INPUT_JSON_READER_H
#define UERUDP_TOOLS_INPUT_JSON_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Longer values are rejected. */
#define INPUT_JSON_VALUE_CHARS_MAX (64u << 20)

#define INPUT_JSON_HEAD_BYTES 4

struct input_json_reader {
    FILE *file;
    uint8_t head[INPUT_JSON_HEAD_BYTES]; /* the first bytes of the file */
    size_t head_bytes;
    size_t line;       /* of the next character, from 1 */
    size_t begin_line; /* line where the last value starts, or where the error is */
    size_t length;     /* of the current value */
    char error[JSON_ERROR_TEXT_LENGTH + 64];
};

void input_json_reader_init(struct input_json_reader *stream, FILE *file);

/* Returns the next value, which the caller frees with json_decref; NULL at the end, or with a message in error. */
json_t *input_json_reader_next(struct input_json_reader *stream);

#endif

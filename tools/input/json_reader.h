/* SPDX-License-Identifier: MIT */
/* JSON values one after the other from a file, however their lines are broken. */
#ifndef UERUDP_TOOLS_INPUT_JSON_READER_H
#define UERUDP_TOOLS_INPUT_JSON_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A value of more characters is refused. */
#define INPUT_JSON_VALUE_CHARS_MAX (64u << 20)

#define INPUT_JSON_HEAD_BYTES 4

struct input_json_reader {
    FILE *file;
    uint8_t head[INPUT_JSON_HEAD_BYTES]; /* how the file begins */
    size_t head_bytes;
    size_t line;       /* of the next character, from 1 */
    size_t begin_line; /* where the last value began, or where it went wrong */
    size_t length;     /* of the last value so far */
    char error[JSON_ERROR_TEXT_LENGTH + 64];
};

void input_json_reader_init(struct input_json_reader *stream, FILE *file);

/* The next value, which the caller releases with json_decref; NULL at the end, and when error is not empty. */
json_t *input_json_reader_next(struct input_json_reader *stream);

#endif

/* SPDX-License-Identifier: MIT */
/* Converts JSON values to field values: numbers, hex bytes and texts. */
#ifndef UERUDP_TOOLS_INPUT_JSON_VALUE_CONVERSION_H
#define UERUDP_TOOLS_INPUT_JSON_VALUE_CONVERSION_H

#include <glib.h>
#include <jansson.h>

#include <uerudp/trace.h>

/* Memory for one datagram, freed as a whole. */
struct input_arena {
    GPtrArray *blocks;
};

void *input_arena_alloc(struct input_arena *arena, size_t bytes); /* zeroed */
void input_arena_clear(struct input_arena *arena);

/* Each sets *record according to the kind of its field, or returns a static text that says what the value should be. */
const char *input_json_value(const json_t *value, struct input_arena *arena, struct ue_record *record);

/* Parses the raw bits of a REAL in hexadecimal: 16 digits, or 8 for a float. */
const char *input_json_raw_real(const json_t *value, struct ue_record *record);

/* Parses hex digits; returns NULL on success. */
const char *input_json_bytes(const json_t *value, struct input_arena *arena, struct ue_view *view);

#endif

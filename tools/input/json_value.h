/* SPDX-License-Identifier: MIT */
/* Values of JSON as values of fields: numbers, hex bytes and texts, with what is wrong with those that are not. */
#ifndef UERUDP_TOOLS_INPUT_JSON_VALUE_H
#define UERUDP_TOOLS_INPUT_JSON_VALUE_H

#include <glib.h>
#include <jansson.h>

#include <uerudp/trace.h>

/* Memory of one datagram, freed all at once. */
struct input_arena {
    GPtrArray *blocks;
};

void *input_arena_alloc(struct input_arena *arena, size_t bytes); /* zeroed */
void input_arena_clear(struct input_arena *arena);

/* Each fills *record, whose field says the kind, or returns a static text of what the value should have been. */
const char *input_json_value(const json_t *value, struct input_arena *arena, struct ue_record *record);

/* Raw bits of a REAL in hexadecimal: 16 digits, or 8 for a float. */
const char *input_json_raw_real(const json_t *value, struct ue_record *record);

/* Hex digits to bytes; NULL when good. */
const char *input_json_bytes(const json_t *value, struct input_arena *arena, struct ue_view *view);

#endif

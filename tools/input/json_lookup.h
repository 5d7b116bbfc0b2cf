/* SPDX-License-Identifier: MIT */
/* Finds the key of a field in the JSON object of a datagram. */
#ifndef UERUDP_TOOLS_INPUT_JSON_LOOKUP_H
#define UERUDP_TOOLS_INPUT_JSON_LOOKUP_H

#include "tools/input/json_fields.h"

struct input_json_position {
    json_t *object; /* NULL: absent */
    const char *key;
};

/* The part of a field name after the name of its array element. */
const char *input_json_lookup_name(const char *name);

/* Where the value of the field with this dotted name belongs. */
struct input_json_position input_json_lookup_position(const struct input_json_fields *source, const char *name);

/* The value of a field; NULL: its key is absent. */
json_t *input_json_lookup_value(const struct input_json_fields *source, enum ue_field field);

bool input_json_lookup_has(const struct input_json_fields *source, enum ue_field field);

#endif

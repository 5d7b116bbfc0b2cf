/* SPDX-License-Identifier: MIT */
/* Default values for keys that a hand-written datagram omits. */
#ifndef UERUDP_TOOLS_INPUT_JSON_DEFAULTS_H
#define UERUDP_TOOLS_INPUT_JSON_DEFAULTS_H

#include "tools/input/json_fields.h"

/* Derives the value of a missing key from other keys; false: use the codec's default. */
bool input_json_default(const struct input_json_fields *source, struct ue_record *record);

/* Whether an optional part is present. */
bool input_json_default_presence(const struct input_json_fields *source, enum ue_field field);

/* Whether the key names a control message. */
bool input_json_is_message(const char *key);

#endif

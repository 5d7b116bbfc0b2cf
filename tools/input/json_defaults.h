/* SPDX-License-Identifier: MIT */
/* What a hand-written datagram need not say. */
#ifndef UERUDP_TOOLS_INPUT_JSON_DEFAULTS_H
#define UERUDP_TOOLS_INPUT_JSON_DEFAULTS_H

#include "tools/input/json_fields.h"

/* Fills a record whose key is missing from what other keys say; false leaves the codec's own default. */
bool input_json_default(const struct input_json_fields *source, struct ue_record *record);

/* Whether an optional part is meant to be there. */
bool input_json_default_presence(const struct input_json_fields *source, enum ue_field field);

/* The type of a handshake as it is given or as its other keys tell; -1 when they do not. */
int input_json_handshake_type(const json_t *handshake);

/* Whether this is the key of a control message. */
bool input_json_is_message(const char *key);

/* The message type whose name is a key of the object ({"hello": ...}), or -1. */
int input_json_message_type(const json_t *message);

#endif

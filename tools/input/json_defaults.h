/* SPDX-License-Identifier: MIT */
/* What a hand-written datagram need not say. */
#ifndef UERUDP_TOOLS_INPUT_JSON_DEFAULTS_H
#define UERUDP_TOOLS_INPUT_JSON_DEFAULTS_H

#include "tools/input/json_fields.h"

/* Fills a record whose key is missing from what other keys say; false leaves the codec's own default. */
bool ue_json_default(const struct ue_json_source *source, struct ue_record *record);

/* Whether an optional part is meant to be there. */
bool ue_json_default_more(const struct ue_json_source *source, enum ue_field field);

/* The type of a handshake as it is given or as its other keys tell; -1 when they do not. */
int ue_json_handshake_type(const json_t *handshake);

/* Whether this is the key of a control message. */
bool ue_json_is_message(const char *key);

/* The message type whose name is a key of the object ({"hello": ...}), or -1. */
int ue_json_message_type(const json_t *message);

#endif

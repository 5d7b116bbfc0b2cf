/* SPDX-License-Identifier: MIT */
/* Fields from a JSON object, for the codec's builders. Taken keys are removed, so that what is left over was of no use:
   a mistake of the author, reported with its name. */
#ifndef UERUDP_TOOLS_INPUT_JSON_FIELDS_H
#define UERUDP_TOOLS_INPUT_JSON_FIELDS_H

#include <uerudp/datagram.h>
#include "tools/input/json_value.h"

#define INPUT_JSON_PATH_BYTES 160
#define INPUT_JSON_ERROR_BYTES 512

struct input_json_fields {
    const struct ue_context *context;
    struct input_arena *arena;
    json_t *datagram;
    json_t *item;                    /* the bunch or acknowledgement being built; NULL outside */
    json_t *message;                 /* the control message being built; NULL outside */
    uint64_t channel;                /* of the item */
    struct ue_view data;             /* payload of the item, from its data or its messages */
    bool has_body_field;             /* handshake: secret id, timestamp or cookie was given */
    bool restart;                    /* handshake: as given, or as its type demands */
    int type;                        /* handshake: as given, or as orig_cookie or a bare restart bit tell, else -1 */
    size_t history;                  /* words taken */
    char where[INPUT_JSON_PATH_BYTES]; /* path of item and message, for messages: "bunches[0].messages[1]." */
    char error[INPUT_JSON_ERROR_BYTES]; /* the first mistake; "" while there is none */
};

/* Begins a datagram; the object loses the keys that are taken. */
void input_json_fields_begin(struct input_json_fields *source, const struct ue_context *context, struct input_arena *arena,
                          json_t *datagram);

/* The codec's view of the source. */
void input_json_fields_bind(struct input_json_fields *source, struct ue_field_source *binding);

/* Whether a key is there; name is a field's dotted name. */
bool input_json_fields_has(const struct input_json_fields *source, enum ue_field field);

/* Notes a mistake at a key of the current place; the first one stays. */
void input_json_fields_set_error(struct input_json_fields *source, const char *key, const char *what);

/* Notes the codec's fault. */
void input_json_fields_set_fault(struct input_json_fields *source, const struct ue_fault *fault);

/* Notes a mistake if object still holds a key that is neither generated nor among ignored (ends with NULL). prefix is
   that of its fields' names: "", "bunch.", "control.". */
void input_json_fields_check_unused(struct input_json_fields *source, json_t *object, const char *prefix,
                             const char *const *ignored);

#endif

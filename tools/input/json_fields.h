/* SPDX-License-Identifier: MIT */
/* Reads fields from a JSON object for the codec's builders. Used keys are removed; a key that remains is an error of
   the author and is reported. */
#ifndef UERUDP_TOOLS_INPUT_JSON_FIELDS_H
#define UERUDP_TOOLS_INPUT_JSON_FIELDS_H

#include <uerudp/datagram.h>
#include "tools/input/json_value_conversion.h"

#define INPUT_JSON_PATH_BYTES 160
#define INPUT_JSON_ERROR_BYTES 512

struct input_json_fields {
    const struct ue_context *context;
    struct input_arena *arena;
    json_t *datagram;
    json_t *item;        /* the bunch or acknowledgement being built; NULL: none */
    json_t *message;     /* the control message being built; NULL: none */
    uint64_t channel;    /* of the item */
    struct ue_view data; /* payload of the item, from its data or its messages */
    bool has_body_field; /* handshake: a secret id, timestamp or cookie is given */
    bool restart;        /* handshake: as given, or as its type implies */
    int type;            /* handshake: as given, or as orig_cookie or a bare restart bit implies; else -1 */
    size_t history;      /* number of words used */
    char where[INPUT_JSON_PATH_BYTES];  /* path of item and message, for error messages: "bunches[0].messages[1]." */
    char error[INPUT_JSON_ERROR_BYTES]; /* the first error; "": none */
};

/* Starts a datagram; used keys are removed from the object. */
void input_json_fields_begin(struct input_json_fields *source, const struct ue_context *context,
                             struct input_arena *arena, json_t *datagram);

/* Whether the key of a field is present. */
bool input_json_fields_have(const struct input_json_fields *source, enum ue_field field);

/* The type of a handshake as given or as other keys imply; -1: unknown. */
int input_json_handshake_type(const json_t *handshake);

/* Gives the codec access to the fields. */
void input_json_fields_bind(struct input_json_fields *source, struct ue_field_source *binding);

/* Records an error at a key of the current object; the first error stays. */
void input_json_fields_set_error(struct input_json_fields *source, const char *key, const char *what);

/* Records a fault of the codec. */
void input_json_fields_set_fault(struct input_json_fields *source, const struct ue_fault *fault);

/* Records an error if object still has a key that is neither generated nor in ignored (which ends with NULL). prefix
   is that of its field names: "", "bunch.", "control.". */
void input_json_fields_check_unused(struct input_json_fields *source, json_t *object, const char *prefix,
                                    const char *const *ignored);

#endif

/* SPDX-License-Identifier: MIT */
/* JSON Lines: one object per datagram, nested at the dots of the field names. */
#ifndef UE_PRINT_JSON_H
#define UE_PRINT_JSON_H

#include "tools/print/out.h"
#include "tools/print/shown.h"

/* Grows when a key changes its meaning. */
#define UE_JSON_SCHEMA 1

#define UE_JSON_DEPTH 8

/* The writer's state; zeroed but for the options, which the caller sets. */
struct ue_json {
    struct ue_out line; /* finished lines; the caller flushes it */
    bool with_bits;     /* add an array of [key, bit offset, length] in wire order; a fourth element, true, tells that
                           the offset counts in the decrypted content */

    const char *items_key;
    bool is_opened;      /* inside decrypted content */
    const char *object;  /* the sub-object that is open at the current scope, or NULL */
    enum ue_field array; /* the field whose values are being listed, or UE_F_NONE */
    unsigned depth;      /* open brackets */
    char closers[UE_JSON_DEPTH];
    bool more[UE_JSON_DEPTH];                     /* whether a comma is due */
    struct ue_out bits, acked, nacked, unique_id, terminators; /* what belongs to a later place of the line */
};

/* Appends one line. */
void ue_json_print(struct ue_json *json, const struct ue_shown *shown);

void ue_json_free(struct ue_json *json);

#endif

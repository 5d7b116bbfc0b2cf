/* SPDX-License-Identifier: MIT */
/* JSON Lines: one object per datagram, nested at the dots of the field names. */
#ifndef UERUDP_TOOLS_PRINT_JSON_H
#define UERUDP_TOOLS_PRINT_JSON_H

#include "tools/print/datagram.h"
#include "tools/print/json_content.h"
#include "tools/print/text_buffer.h"

/* Grows when a key changes its meaning. */
#define PRINT_JSON_SCHEMA 1

#define PRINT_JSON_DEPTH 8

/* The writer's state; zeroed but for the options, which the caller sets. */
struct print_json {
    struct text_buffer line; /* finished lines; the caller flushes it */
    bool with_bits;     /* add an array of [key, bit offset, length] in wire order; a fourth element tells that the
                           offset counts in something else than the datagram: true in decrypted content, "message" in a
                           message that was put together */

    const char *items_key;
    bool is_opened;                 /* inside decrypted content */
    bool is_assembled;              /* inside a message that was put together */
    const char *list;               /* key of the list that was opened last in an item */
    struct print_json_content content; /* of the message that is being shown */
    const char *object;             /* the sub-object that is open at the current scope, or NULL */
    enum ue_field array;            /* the field whose values are being listed, or UE_F_NONE */
    unsigned depth;                 /* open brackets */
    char closers[PRINT_JSON_DEPTH];
    bool more[PRINT_JSON_DEPTH];                                  /* whether a comma is due */
    struct text_buffer bits, acked, nacked, unique_id, terminators; /* what belongs to a later place of the line */
};

/* Appends one line. */
void print_json_datagram(struct print_json *json, const struct print_datagram *shown);

void print_json_free(struct print_json *json);

/* A value of one field, on its own; and, of a number that does not survive decimal, its bits as a member of their own.
 */
void print_json_add_value(struct text_buffer *out, const struct ue_record *record);
void print_json_add_raw(struct text_buffer *out, const char *key, const struct ue_record *record);

#endif

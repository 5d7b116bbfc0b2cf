/* SPDX-License-Identifier: MIT */
/* JSON Lines: one object per datagram, nested at the dots of the field names. */
#ifndef UERUDP_TOOLS_PRINT_JSON_H
#define UERUDP_TOOLS_PRINT_JSON_H

#include "tools/print/datagram_trace.h"
#include "tools/print/json_content.h"
#include "tools/print/text_buffer.h"

/* Incremented when a key changes its meaning. */
#define PRINT_JSON_SCHEMA 1

#define PRINT_JSON_DEPTH 8

/* State of the JSON writer; zeroed except for the options, which the caller sets. */
struct print_json {
    struct text_buffer line; /* finished lines; the caller flushes it */
    bool with_bits; /* option: add an array of [key, bit offset, length] in wire order. A fourth element names another
                       base of the offset: true for decrypted content, "message" for a reassembled message */

    const char *items_key;
    bool is_decrypted;                 /* inside decrypted content */
    bool is_reassembled;               /* inside a reassembled message */
    const char *list;                  /* key of the last list opened in an item */
    struct print_json_content content; /* of the message that is being printed */
    const char *object;                /* the sub-object that is open at the current scope, or NULL */
    enum ue_field array;               /* the field whose values are being listed, or UE_F_NONE */
    unsigned depth;                    /* number of open brackets */
    char closers[PRINT_JSON_DEPTH];
    bool more[PRINT_JSON_DEPTH];                                    /* a comma must precede the next member */
    struct text_buffer bits, acked, nacked, unique_id, terminators; /* written later in the line */
};

/* Appends one line. */
void print_json_datagram(struct print_json *json, const struct print_datagram *datagram);

void print_json_free(struct print_json *json);

/* The value of one field; and, if decimal does not preserve the number, its raw bits as a further member. */
void print_json_add_value(struct text_buffer *out, const struct ue_record *record);
void print_json_add_raw(struct text_buffer *out, const char *key, const struct ue_record *record);

#endif

/* SPDX-License-Identifier: MIT */
/* Chosen fields as columns, one line per datagram. */
#ifndef UERUDP_TOOLS_PRINT_COLUMNS_H
#define UERUDP_TOOLS_PRINT_COLUMNS_H

#include "tools/print/datagram_trace.h"
#include "tools/print/text_buffer.h"

#define PRINT_COLUMNS_MAX 64

/* Several values of the same field are joined with semicolons. */
struct print_columns {
    struct text_buffer lines; /* finished lines; the caller flushes it */
    char separator;           /* '\t', with \t, \n and \\ escaped in values; or ',', with quoted values where needed */

    size_t count;
    uint8_t kinds[PRINT_COLUMNS_MAX]; /* enum kind of columns.c */
    uint16_t fields[PRINT_COLUMNS_MAX];
    struct text_buffer values[PRINT_COLUMNS_MAX];
};

#define PRINT_COLUMNS_UNKNOWN "unknown field"

/* Adds a column by its key. Returns NULL, or what is wrong: PRINT_COLUMNS_UNKNOWN or another static text. */
const char *print_columns_add(struct print_columns *columns, const char *key);

/* The keys that are not fields of a datagram, with their descriptions; key is NULL after the last one. */
extern const struct print_columns_key {
    const char *key, *description;
} print_columns_keys[];

/* Appends a line for each key: the key and its description. */
void print_columns_list(struct text_buffer *out);

/* Appends the value of a record of a trace, without quotes. */
void print_columns_add_value(struct text_buffer *out, const struct ue_record *record);

/* Appends one line. */
void print_columns_datagram(struct print_columns *columns, const struct print_datagram *datagram);

void print_columns_free(struct print_columns *columns);

#endif

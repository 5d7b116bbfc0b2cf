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

/* Adds a column by its key; false if there is no such field or the limit of columns is reached. */
bool print_columns_add(struct print_columns *columns, const char *key);

/* Appends one line. */
void print_columns_datagram(struct print_columns *columns, const struct print_datagram *datagram);

void print_columns_free(struct print_columns *columns);

#endif

/* SPDX-License-Identifier: MIT */
/* Chosen fields as one line of columns per datagram. */
#ifndef UERUDP_TOOLS_PRINT_COLUMNS_H
#define UERUDP_TOOLS_PRINT_COLUMNS_H

#include "tools/print/datagram.h"
#include "tools/print/text_buffer.h"

#define UE_COLUMNS_MAX 64

/* Values of a field that occurs several times are joined with semicolons. */
struct ue_columns {
    struct ue_out lines; /* finished lines; the caller flushes it */
    char separator;      /* '\t', with \t, \n and \\ escaped in values, or ',', with values quoted where needed */

    size_t count;
    uint8_t kinds[UE_COLUMNS_MAX]; /* what a column shows: see columns.c */
    uint16_t fields[UE_COLUMNS_MAX];
    struct ue_out values[UE_COLUMNS_MAX];
};

/* Adds a column by its key; false when there is no such field or no room for another column. */
bool ue_columns_add(struct ue_columns *columns, const char *key);

/* Appends one line. */
void ue_columns_print(struct ue_columns *columns, const struct ue_shown *shown);

void ue_columns_free(struct ue_columns *columns);

#endif

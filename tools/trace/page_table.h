/* SPDX-License-Identifier: MIT */
/* Numbers of a page, as a table with a row for each element. Each column is a script element that holds its values as
   little-endian numbers in base64, so that a browser turns a million rows into typed arrays at once. data.js of the
   page reads them. */
#ifndef UERUDP_TOOLS_TRACE_PAGE_TABLE_H
#define UERUDP_TOOLS_TRACE_PAGE_TABLE_H

#include <glib.h>

#include "tools/print/text_buffer.h"

enum page_number { PAGE_U8, PAGE_U16, PAGE_U32, PAGE_I32, PAGE_F32, PAGE_F64 };

struct page_column {
    const char *name;
    enum page_number type;
    double (*value)(const void *row, const void *user); /* NAN (F32, F64): there is none. Others are clamped */
};

/* Writes the columns of a table; user is passed to the columns. The names become attributes without being escaped. */
void page_table_write(struct text_buffer *out, const char *table, const GArray *rows, const struct page_column *columns,
                      size_t column_count, const void *user);

#endif

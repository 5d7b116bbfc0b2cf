/* SPDX-License-Identifier: MIT */
/* A readable tree: a block per datagram, a line per field, a heading per structure. */
#ifndef UERUDP_TOOLS_PRINT_TEXT_TREE_H
#define UERUDP_TOOLS_PRINT_TEXT_TREE_H

#include "tools/print/datagram_trace.h"
#include "tools/print/text_buffer.h"

/* State of the tree writer; zeroed. */
struct print_tree {
    struct text_buffer page; /* finished blocks; the caller flushes it */

    bool started;
    int64_t first_time_ns; /* the zero of the shown times */
    unsigned indent;
    size_t bunches;
    enum ue_field last; /* the field of the last line, to which further values of a list are appended */
    size_t run_at;      /* offset in that line of the last run of consecutive numbers */
    size_t values_end;  /* of the open line */
    uint64_t run_first, run_last;
    size_t heading_at;       /* where the heading of the open bunch is inserted */
    uint64_t data_bits;      /* of the open bunch */
    struct text_buffer name; /* of its channel, after a space */
    struct text_buffer heading;
};

/* Appends one block. */
void print_tree_datagram(struct print_tree *tree, const struct print_datagram *datagram);

/* The value of one field, on its own. */
void print_tree_value(struct text_buffer *out, const struct ue_record *record);

void print_tree_free(struct print_tree *tree);

#endif

/* SPDX-License-Identifier: MIT */
/* A readable tree: one block per datagram, one line per field, one heading per structure. */
#ifndef UERUDP_TOOLS_PRINT_TEXT_TREE_H
#define UERUDP_TOOLS_PRINT_TEXT_TREE_H

#include "tools/print/datagram.h"
#include "tools/print/text_buffer.h"

/* What the heading of a bunch tells. */
struct print_tree_bunch {
    uint64_t channel, ch_seq, data_bits;
    bool open, close, reliable, partial, has_name;
    struct text_buffer name;
};

/* The writer's state; zeroed. */
struct print_tree {
    struct text_buffer page; /* finished blocks; the caller flushes it */

    bool started;
    int64_t first_time_ns; /* times are shown from the first datagram on */
    unsigned indent;
    size_t bunches;
    enum ue_field last; /* the field on the last line, which further values of a list join */
    size_t run_at;      /* where the last run of consecutive numbers stands on that line */
    uint64_t run_first, run_last;
    size_t heading_at;  /* where the heading of the open bunch goes */
    struct print_tree_bunch bunch;
    struct text_buffer heading;
};

/* Appends one block. */
void print_tree_datagram(struct print_tree *tree, const struct print_datagram *shown);

/* The value of one field, on its own. */
void print_tree_value(struct text_buffer *out, const struct ue_record *record);

void print_tree_free(struct print_tree *tree);

#endif

/* SPDX-License-Identifier: MIT */
/* A readable tree: one block per datagram, one line per field, one heading per structure. */
#ifndef UERUDP_TOOLS_PRINT_TEXT_TREE_H
#define UERUDP_TOOLS_PRINT_TEXT_TREE_H

#include "tools/print/datagram.h"
#include "tools/print/text_buffer.h"

/* What the heading of a bunch tells. */
struct ue_text_bunch {
    uint64_t channel, ch_seq, data_bits;
    bool open, close, reliable, partial, has_name;
    struct ue_out name;
};

/* The writer's state; zeroed. */
struct ue_text_tree {
    struct ue_out page; /* finished blocks; the caller flushes it */

    bool started;
    int64_t first_time_ns; /* times are shown from the first datagram on */
    unsigned indent;
    size_t bunches;
    enum ue_field last; /* the field on the last line, which further values of a list join */
    size_t run_at;      /* where the last run of consecutive numbers stands on that line */
    uint64_t run_first, run_last;
    size_t heading_at;  /* where the heading of the open bunch goes */
    struct ue_text_bunch bunch;
    struct ue_out heading;
};

/* Appends one block. */
void ue_text_print(struct ue_text_tree *tree, const struct ue_shown *shown);

/* The value of one field, on its own. */
void ue_text_value(struct ue_out *out, const struct ue_record *record);

void ue_text_free(struct ue_text_tree *tree);

#endif

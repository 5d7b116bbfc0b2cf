/* SPDX-License-Identifier: MIT */
/* A capture read, changed and written, in bounded memory. */
#ifndef UERUDP_TOOLS_EDIT_EDITOR_H
#define UERUDP_TOOLS_EDIT_EDITOR_H

#include "tools/edit/address_map.h"
#include "tools/edit/generation_rewrite.h"
#include "tools/edit/output_queue.h"
#include "tools/edit/redactor.h"
#include "tools/input/capture_reader.h"
#include "tools/observe/tracker_table.h"
#include "tools/rules/rules.h"

struct editor;

/* What is to be done; zero and NULL: nothing. */
struct editor_options {
    GArray *streams, *frames; /* to keep, see tools/rules/number_ranges.h; NULL: all */
    int64_t from_ns, to_ns;   /* to keep, since the first packet */
    bool is_cut_by_time;
    bool is_redacted; /* contents, texts and blocks that name somebody */
    bool has_new_addresses;
    uint64_t *seed;                      /* of the addresses; NULL: a secret one */
    struct rules *rules;              /* not NULL */
    const struct ue_profile *generation; /* to be rewritten for; NULL: as it is */
    bool skips;                          /* leave out what that generation cannot say */
};

/* What was done. */
struct editor_counts {
    uint64_t fragments; /* packets that were neither judged nor rewritten */
    uint64_t skipped;   /* datagrams that the generation cannot say */
    struct redactor_counts redacted;
    uint64_t unsafe;    /* packets left out: addresses of their link are not found */
};

/* All that is given must outlive the edit; reading is not started yet. NULL, with a message, where something that is
   needed is not to be had. */
struct editor *editor_new(const struct editor_options *options, struct capture_reader *reading,
                            struct edit_writer *writer);
void editor_free(struct editor *edit);

/* Reads and writes all; false, with a message, where it must stop. */
bool editor_run(struct editor *edit, char **path);

const struct editor_counts *editor_counts(struct editor *edit);

#endif

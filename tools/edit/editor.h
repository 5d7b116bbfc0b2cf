/* SPDX-License-Identifier: MIT */
/* Reads a capture, changes it and writes it, in bounded memory. */
#ifndef UERUDP_TOOLS_EDIT_EDITOR_H
#define UERUDP_TOOLS_EDIT_EDITOR_H

#include "tools/cli/time_range.h"
#include "tools/edit/address_map.h"
#include "tools/edit/generation_rewrite.h"
#include "tools/edit/block_order.h"
#include "tools/edit/redactor.h"
#include "tools/input/capture_reader.h"
#include "tools/rules/rules.h"

struct editor;

/* The changes; zero and NULL mean none. */
struct editor_options {
    GArray *streams, *frames; /* to keep, see tools/rules/number_ranges.h; NULL: all */
    struct time_range range;  /* to keep */
    bool is_redacted;         /* mask content, texts and blocks that identify somebody */
    bool has_new_addresses;
    uint64_t *seed;                      /* of the new addresses; NULL: a secret key */
    struct rules *rules;                 /* not NULL */
    const struct ue_profile *generation; /* to rewrite datagrams for; NULL: do not rewrite */
    bool skips;                          /* leave out datagrams that this generation cannot encode */
};

/* What the edit did. */
struct editor_counts {
    uint64_t kept;                            /* packets that were chosen */
    uint64_t fragments;                       /* packets that rules and the rewrite skipped */
    uint64_t skipped;                         /* datagrams left out because the generation cannot encode them; */
    uint64_t skipped_frame;                   /* ... the first one, */
    char skipped_why[INPUT_JSON_ERROR_BYTES]; /* ... and the field that it cannot encode */
    struct redactor_counts redacted;
    uint64_t unsafe; /* packets left out because the addresses of their link type are not found */
};

/* All arguments must outlive the editor; the reader must not be started yet. Returns NULL after a message if
   something needed is not available. */
struct editor *editor_new(const struct editor_options *options, struct capture_reader *reader,
                          struct edit_writer *writer);
void editor_free(struct editor *editor);

/* Reads and writes everything; false after a message if it must stop. */
bool editor_run(struct editor *editor, char **path);

const struct editor_counts *editor_counts(struct editor *editor);

#endif

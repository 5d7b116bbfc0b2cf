/* SPDX-License-Identifier: MIT */
/* Fragmented control messages, kept until the next one of their connection and direction, so that each fragment,
   also a retransmitted one, is masked as part of its message. */
#ifndef UERUDP_TOOLS_EDIT_REDACTOR_FRAGMENTS_H
#define UERUDP_TOOLS_EDIT_REDACTOR_FRAGMENTS_H

#include <glib.h>

#include <uerudp/content.h>

struct redactor_fragments;

/* One fragment as it is on the wire. */
struct redactor_fragment {
    uint64_t key; /* connection and direction */
    uint32_t ch_seq, ch_seq_bound;
    bool is_initial;
    struct ue_view data;
};

/* The message of the fragment so far. */
struct redactor_message {
    const uint8_t *bytes; /* valid until the next call */
    size_t bits;
    size_t begin;   /* offset of the fragment in it, in bits */
    uint8_t *mask;  /* as long as bytes: the masked fragments, kept with the message */
    bool is_masked; /* the fragment is a retransmission, and its range of mask is filled */
};

struct redactor_fragments *redactor_fragments_new(void);
void redactor_fragments_free(struct redactor_fragments *parts);

/* Adds a fragment or recognises a retransmission; false if earlier fragments are missing. */
bool redactor_fragments_add(struct redactor_fragments *parts, const struct redactor_fragment *part,
                            struct redactor_message *message);

#endif

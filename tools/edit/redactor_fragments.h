/* SPDX-License-Identifier: MIT */
/* Control messages in parts, kept until the next one of their connection and direction, so that each part,
   also when it is sent again, is masked as what it is in its message. */
#ifndef UERUDP_TOOLS_EDIT_REDACTOR_FRAGMENTS_H
#define UERUDP_TOOLS_EDIT_REDACTOR_FRAGMENTS_H

#include <glib.h>

#include <uerudp/content.h>

struct redactor_fragments;

/* One part as it is on the wire. */
struct redactor_fragment {
    uint64_t key; /* connection and direction */
    uint32_t ch_seq, ch_seq_bound;
    bool is_initial;
    struct ue_view data;
};

/* What is known of its message up to now. */
struct redactor_message {
    const uint8_t *bytes; /* valid until the next call */
    size_t bits;
    size_t begin;   /* where the part stands in it */
    uint8_t *mask;  /* as long as bytes: the masked parts, kept with the message */
    bool is_masked; /* the part came before, and its place in mask is filled */
};

struct redactor_fragments *redactor_fragments_new(void);
void redactor_fragments_free(struct redactor_fragments *parts);

/* Adds a part or recognises one that was there; false where the parts before it are not known. */
bool redactor_fragments_add(struct redactor_fragments *parts, const struct redactor_fragment *part,
                         struct redactor_message *message);

#endif

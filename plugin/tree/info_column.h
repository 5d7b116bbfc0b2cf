/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line about a datagram, and a few words about each bunch, from the records of a trace. */
#ifndef UERUDP_PLUGIN_TREE_INFO_COLUMN_H
#define UERUDP_PLUGIN_TREE_INFO_COLUMN_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include <uerudp/profile.h>
#include <uerudp/trace.h>
#include "plugin/tree/label_text.h"

/* What the label of a bunch is made of, and what else its header says of the content. */
struct ue_bunch_words {
    uint64_t channel;
    uint64_t ch_seq;
    uint64_t data_bits;
    const char *channel_name; /* NULL: not known */
    const char *messages;     /* names of control messages; NULL: none, or not asked for */
    const char *actor;        /* name of the class for which the channel opens, or closes; NULL: not known */
    bool has_data_bits;
    bool has_exports;
    bool has_mapped;
    bool open;
    bool close;
    bool reliable;
    bool partial;
    bool partial_initial;
    bool partial_final;
};

/* Records come in wire order, which is not the order of the words. */
struct ue_summary {
    wmem_allocator_t *pool;
    wmem_strbuf_t *line; /* the info column */
    struct ue_bunch_words bunch;
    struct ue_words bunch_head; /* "Ch 0 Control open reliable #791"; empty until it is asked for */
    struct ue_words bunch_size; /* "96 bits", likewise */
    const char *seq;
    const char *ack;
    const char *handshake_type;
    const char *cookie;
    const char *orig_cookie;
};

void ue_summary_init(struct ue_summary *summary, wmem_allocator_t *pool);

/* To be called for every group and record of the trace, in its order. */
void ue_summary_begin(struct ue_summary *summary, enum ue_group group);
void ue_summary_field(struct ue_summary *summary, const struct ue_record *record);
void ue_summary_end(struct ue_summary *summary, enum ue_group group);

/* Names the first control messages of a payload in the words of the present bunch: "Hello, Join". */
void ue_summary_messages(struct ue_summary *summary, const struct ue_context *context, struct ue_view payload);

/* Adds "Ch 0 Control open reliable #791", and the length behind the separator; to be called when all fields of the
   bunch but its data are known. */
void ue_summary_bunch(struct ue_summary *summary, const char *separator, struct ue_words *words);

/* The text of a TEXT or STRING record in UTF-8. */
const char *ue_record_string(wmem_allocator_t *pool, const struct ue_record *record);
/* The same as a name in a line: see ue_words_visible. */
const char *ue_record_name(wmem_allocator_t *pool, const struct ue_record *record);

#endif

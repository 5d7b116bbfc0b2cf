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
struct uerudp_info_column_bunch {
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
struct uerudp_info_column {
    wmem_allocator_t *pool;
    wmem_strbuf_t *line; /* the info column */
    struct uerudp_info_column_bunch bunch;
    struct uerudp_label_text bunch_head; /* "Ch 0 Control open reliable #791"; empty until it is asked for */
    struct uerudp_label_text bunch_size; /* "96 bits", likewise */
    const char *seq;
    const char *ack;
    const char *handshake_type;
    const char *cookie;
    const char *orig_cookie;
};

void uerudp_info_column_init(struct uerudp_info_column *summary, wmem_allocator_t *pool);

/* To be called for every group and record of the trace, in its order. */
void uerudp_info_column_begin_group(struct uerudp_info_column *summary, enum ue_group group);
void uerudp_info_column_add_field(struct uerudp_info_column *summary, const struct ue_record *record);
void uerudp_info_column_end_group(struct uerudp_info_column *summary, enum ue_group group);

/* Names the first control messages of a payload in the words of the present bunch: "Hello, Join". */
void uerudp_info_column_name_messages(struct uerudp_info_column *summary, const struct ue_context *context, struct ue_view payload);

/* Adds "Ch 0 Control open reliable #791", and the length behind the separator; to be called when all fields of the
   bunch but its data are known. */
void uerudp_info_column_write_bunch(struct uerudp_info_column *summary, const char *separator, struct uerudp_label_text *words);

/* The text of a TEXT or STRING record in UTF-8. */
const char *uerudp_label_text_of_record(wmem_allocator_t *pool, const struct ue_record *record);
/* The same as a name in a line: see uerudp_label_text_mask_controls. */
const char *uerudp_label_text_name_of_record(wmem_allocator_t *pool, const struct ue_record *record);

#endif

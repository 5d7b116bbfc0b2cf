/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The info column of a datagram, and one line for each bunch, made from its trace. */
#ifndef UERUDP_PLUGIN_TREE_INFO_COLUMN_H
#define UERUDP_PLUGIN_TREE_INFO_COLUMN_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include <uerudp/bunch.h>
#include <uerudp/profile.h>
#include <uerudp/trace.h>
#include "plugin/tree/label_text.h"

/* A bunch and what its line shows besides its header. */
struct uerudp_info_column_bunch {
    struct ue_bunch header;   /* from the end of its group on */
    uint64_t data_bits;       /* also of data that are not captured */
    const char *channel_name; /* in its header; NULL: none */
    const char *kind;         /* of the channel; NULL: not known */
    const char *messages;     /* names of control messages; NULL: none, or not computed */
    const char *actor;        /* name of the class of the channel's actor; NULL: not known */
    bool has_data_bits;
};

/* Bunches with one heading, one after another: "[Ch 3 Crate_C ×5 480 bits]". */
struct uerudp_info_column_run {
    struct uerudp_info_column_bunch first;
    uint32_t count;
    uint32_t last_ch_seq;
    uint64_t data_bits; /* of all */
    size_t begin, end;  /* of its text in the line */
};

/* The order of records on the wire differs from the order in the line. */
struct uerudp_info_column {
    wmem_allocator_t *pool;
    wmem_strbuf_t *line; /* the info column */
    struct uerudp_info_column_bunch bunch;
    struct uerudp_info_column_run run;
    struct uerudp_label_text bunch_head; /* "Ch 0 Control open reliable #791"; empty until needed */
    struct uerudp_label_text bunch_size; /* "96 bits"; empty until needed */
    const char *seq;
    const char *ack;
    const char *handshake_type;
    const char *cookie;
    const char *orig_cookie;
};

void uerudp_info_column_init(struct uerudp_info_column *info, wmem_allocator_t *pool);

/* Call these for every group and record of the trace, in its order; set_bunch, naming and writing the bunch precede
   end_group. */
void uerudp_info_column_begin_group(struct uerudp_info_column *info, enum ue_group group);
void uerudp_info_column_add_field(struct uerudp_info_column *info, const struct ue_record *record);
void uerudp_info_column_set_bunch(struct uerudp_info_column *info, const struct ue_bunch *bunch);
void uerudp_info_column_end_group(struct uerudp_info_column *info, enum ue_group group);

/* Sets the names of the first control messages of a payload: "Hello, Join". */
void uerudp_info_column_name_messages(struct uerudp_info_column *info, const struct ue_context *context,
                                      struct ue_view payload);

/* Appends "Ch 0 Control open reliable #791", the separator and the length. Call it when all fields of the bunch except
   its data are known. */
void uerudp_info_column_write_bunch(struct uerudp_info_column *info, const char *separator,
                                    struct uerudp_label_text *out);

#endif

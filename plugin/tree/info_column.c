/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/info_column.h"

#include <epan/column-info.h>

#include <uerudp/message.h>

#define COOKIE_DIGITS_BYTES 4
#define TIMES "\xc3\x97" /* the multiplication sign in UTF-8 */

/* Greatest number of messages that a bunch's line names. */
#define MESSAGES_NAMED_MAX 4

void uerudp_info_column_init(struct uerudp_info_column *info, wmem_allocator_t *pool) {
    *info = (struct uerudp_info_column){.pool = pool, .line = wmem_strbuf_new(pool, NULL)};
}

/* ---- lines ---- */

/* Appends to the line, separated by one space; a column shows at most COL_MAX_INFO_LEN characters. */
static void append_to_line(struct uerudp_info_column *info, const struct uerudp_label_text *out) {
    if (wmem_strbuf_get_len(info->line) >= COL_MAX_INFO_LEN) {
        return;
    }
    if (wmem_strbuf_get_len(info->line) != 0) {
        wmem_strbuf_append_c(info->line, ' ');
    }
    wmem_strbuf_append_len(info->line, out->text, out->length);
}

static void add_member(struct uerudp_info_column *info, const char *label, const char *value) {
    struct uerudp_label_text text;
    text.length = 0;
    if (value != NULL) {
        uerudp_label_text_add(&text, label);
        uerudp_label_text_add(&text, value);
        append_to_line(info, &text);
    }
}

static const char *format_number(struct uerudp_info_column *info, uint64_t number) {
    struct uerudp_label_text text;
    text.length = 0;
    uerudp_label_text_add_number(&text, number);
    return wmem_strdup(info->pool, text.text);
}

/* Four bytes are enough to tell cookies apart. */
static const char *format_cookie(struct uerudp_info_column *info, const struct ue_record *record) {
    uint32_t digits = 0;
    for (unsigned i = 0; i < COOKIE_DIGITS_BYTES; i++) {
        digits = digits << 8 | (uint32_t)ue_view_load(record->text.units, (size_t)i * 8, 8);
    }
    return wmem_strdup_printf(info->pool, "%08" PRIx32, digits);
}

/* The class of an actor says more than "Actor". */
static void write_subject(const struct uerudp_info_column_bunch *b, struct uerudp_label_text *out) {
    const char *name = b->actor != NULL ? b->actor : b->channel_name != NULL ? b->channel_name : b->kind;
    uerudp_label_text_add(out, "Ch ");
    uerudp_label_text_add_number(out, b->header.channel);
    if (name != NULL) {
        uerudp_label_text_add(out, " ");
        uerudp_label_text_add(out, name);
    }
}

static void write_head(const struct uerudp_info_column_bunch *b, struct uerudp_label_text *out) {
    write_subject(b, out);
    if (b->messages != NULL) {
        uerudp_label_text_add(out, " ");
        uerudp_label_text_add(out, b->messages);
    }
    if (b->header.open) {
        uerudp_label_text_add(out, " open");
    }
    if (b->header.close) {
        uerudp_label_text_add(out, " close");
    }
    if (b->header.reliable) {
        uerudp_label_text_add(out, " reliable #");
        uerudp_label_text_add_number(out, b->header.ch_seq);
    }
    if (b->header.partial) {
        bool is_first = b->header.partial_initial;
        uerudp_label_text_add(out, is_first ? " first part" : b->header.partial_final ? " last part" : " part");
    }
}

/* Stops at a message that does not decode. */
void uerudp_info_column_name_messages(struct uerudp_info_column *info, const struct ue_context *context,
                                      struct ue_view payload) {
    struct uerudp_label_text text;
    struct ue_fault fault = {.status = UE_OK};
    text.length = 0;
    size_t bit = 0;
    for (unsigned count = 0; bit < payload.bits && count <= MESSAGES_NAMED_MAX && fault.status == UE_OK; count++) {
        struct ue_message message;
        ue_message_decode(context, payload, &bit, &message, &fault);
        const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, message.type);
        uerudp_label_text_add(&text, count != 0 ? ", " : "");
        uerudp_label_text_add(&text, count == MESSAGES_NAMED_MAX ? "..." : name != NULL ? name : "unknown");
    }
    info->bunch.messages = text.length != 0 ? wmem_strdup(info->pool, text.text) : NULL;
}

/* The same text is used in the line, in the bunch's label and in the name of its data source. */
void uerudp_info_column_write_bunch(struct uerudp_info_column *info, const char *separator,
                                    struct uerudp_label_text *out) {
    if (info->bunch_head.length == 0) {
        write_head(&info->bunch, &info->bunch_head);
        uerudp_label_text_add_number(&info->bunch_size, info->bunch.data_bits);
        uerudp_label_text_add(&info->bunch_size, " bits");
    }
    uerudp_label_text_join(out, &info->bunch_head);
    if (info->bunch.has_data_bits) {
        uerudp_label_text_add(out, separator);
        uerudp_label_text_join(out, &info->bunch_size);
    }
}

/* ---- runs of bunches ---- */

/* "[Ch 3 Crate_C ×5 reliable #12-16 480 bits]" */
static void write_run(const struct uerudp_info_column_run *run, struct uerudp_label_text *out) {
    uerudp_label_text_add(out, "[");
    write_subject(&run->first, out);
    uerudp_label_text_add(out, " " TIMES);
    uerudp_label_text_add_number(out, run->count);
    if (run->first.header.reliable) {
        uerudp_label_text_add(out, " reliable #");
        uerudp_label_text_add_number(out, run->first.header.ch_seq);
        uerudp_label_text_add(out, "-");
        uerudp_label_text_add_number(out, run->last_ch_seq);
    }
    uerudp_label_text_add(out, " ");
    uerudp_label_text_add_number(out, run->data_bits);
    uerudp_label_text_add(out, " bits]");
}

static bool is_plain(const struct uerudp_info_column_bunch *b) {
    const struct ue_bunch *header = &b->header;
    return b->has_data_bits && b->messages == NULL && !header->open && !header->close && !header->partial;
}

/* Whether the bunch directly follows a run, and differs from its bunches only in sequence and length. */
static bool continues_run(const struct uerudp_info_column *info) {
    const struct uerudp_info_column_run *run = &info->run;
    const struct uerudp_info_column_bunch *b = &info->bunch;
    return run->count != 0 && run->end == wmem_strbuf_get_len(info->line) &&
           run->first.header.channel == b->header.channel && run->first.header.reliable == b->header.reliable &&
           is_plain(&run->first) && is_plain(b) && g_strcmp0(run->first.actor, b->actor) == 0 &&
           g_strcmp0(run->first.channel_name, b->channel_name) == 0 && run->first.kind == b->kind &&
           (!b->header.reliable || b->header.ch_seq == run->last_ch_seq + 1);
}

static void begin_run(struct uerudp_info_column *info, struct uerudp_label_text *out) {
    info->run = (struct uerudp_info_column_run){.first = info->bunch, .begin = wmem_strbuf_get_len(info->line)};
    uerudp_label_text_add(out, "[");
    uerudp_info_column_write_bunch(info, " ", out);
    uerudp_label_text_add(out, "]");
}

static void add_bunch(struct uerudp_info_column *info) {
    struct uerudp_info_column_run *run = &info->run;
    struct uerudp_label_text text;
    bool continues = continues_run(info);
    text.length = 0;
    if (!continues) {
        begin_run(info, &text);
    }
    run->count++;
    run->last_ch_seq = info->bunch.header.ch_seq;
    run->data_bits += info->bunch.data_bits;
    if (continues) {
        wmem_strbuf_truncate(info->line, run->begin);
        write_run(run, &text);
    }
    append_to_line(info, &text);
    run->end = wmem_strbuf_get_len(info->line);
}

/* ---- other parts ---- */

static void add_opaque(struct uerudp_info_column *info, const char *kind, size_t bits) {
    struct uerudp_label_text text;
    text.length = 0;
    uerudp_label_text_add(&text, kind);
    uerudp_label_text_add_number(&text, bits);
    uerudp_label_text_add(&text, " bits]");
    append_to_line(info, &text);
}

/* ---- the trace ---- */

void uerudp_info_column_begin_group(struct uerudp_info_column *info, enum ue_group group) {
    if (group == UE_GROUP_BUNCH) {
        info->bunch = (struct uerudp_info_column_bunch){0};
        info->bunch_head.length = 0;
        info->bunch_size.length = 0;
    }
}

void uerudp_info_column_set_bunch(struct uerudp_info_column *info, const struct ue_bunch *bunch) {
    info->bunch.header = *bunch;
}

void uerudp_info_column_end_group(struct uerudp_info_column *info, enum ue_group group) {
    switch (group) {
    case UE_GROUP_HANDSHAKE:
        add_member(info, "", info->handshake_type != NULL ? info->handshake_type : "Handshake");
        add_member(info, "cookie=", info->cookie);
        add_member(info, "orig_cookie=", info->orig_cookie);
        break;
    case UE_GROUP_PACKET:
        add_member(info, "Seq=", info->seq);
        add_member(info, "Ack=", info->ack);
        break;
    case UE_GROUP_BUNCH: add_bunch(info); break;
    default: break;
    }
}

/* Called for every field of every datagram. */
void uerudp_info_column_add_field(struct uerudp_info_column *info, const struct ue_record *record) {
    struct uerudp_info_column_bunch *b = &info->bunch;
    switch (record->field) {
    case UE_F_BUNCH_CHANNEL_NAME: b->channel_name = uerudp_label_text_name_of_record(info->pool, record); break;
    case UE_F_BUNCH_DATA_BITS:
        b->data_bits = record->number;
        b->has_data_bits = true;
        break;
    case UE_F_PACKET_SEQ: info->seq = format_number(info, record->number); break;
    case UE_F_PACKET_ACK: info->ack = format_number(info, record->number); break;
    case UE_F_LEGACY_ACK_ID: add_member(info, "Ack=", format_number(info, record->number)); break;
    case UE_F_HANDSHAKE_TYPE: info->handshake_type = ue_values_name(UE_VALUES_HANDSHAKE_TYPE, record->number); break;
    case UE_F_HANDSHAKE_COOKIE: info->cookie = format_cookie(info, record); break;
    case UE_F_HANDSHAKE_ORIG_COOKIE: info->orig_cookie = format_cookie(info, record); break;
    case UE_F_HANDLER_CIPHERTEXT: add_opaque(info, "[Encrypted ", record->bits); break;
    case UE_F_HANDLER_UNDECODED: add_opaque(info, "[Not decoded ", record->bits); break;
    case UE_F_HANDLER_COMPRESSED_DATA: add_opaque(info, "[Compressed ", record->bits); break;
    default: break;
    }
}

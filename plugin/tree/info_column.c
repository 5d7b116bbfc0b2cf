/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/info_column.h"

#include <epan/charsets.h>
#include <epan/column-info.h>
#include <epan/proto.h>

#include <uerudp/message.h>

#define COOKIE_DIGITS_BYTES 4

/* So many messages of a bunch are named. */
#define MESSAGES_TOLD 4

void uerudp_info_column_init(struct uerudp_info_column *summary, wmem_allocator_t *pool) {
    *summary = (struct uerudp_info_column){.pool = pool, .line = wmem_strbuf_new(pool, NULL)};
}

static char *decode_text(wmem_allocator_t *pool, const struct ue_record *record) {
    struct ue_view units = record->text.units;
    size_t size = ue_bits_bytes(units.bits);
    uint8_t *bytes = wmem_alloc(pool, size + 1);
    ue_view_copy(units, bytes);
    if (record->text.wide) {
        return (char *)get_utf_16_string(pool, bytes, (int)size, ENC_LITTLE_ENDIAN);
    }
    return (char *)get_8859_1_string(pool, bytes, (int)size);
}

const char *uerudp_label_text_of_record(wmem_allocator_t *pool, const struct ue_record *record) {
    return record->string != NULL ? record->string : decode_text(pool, record);
}

const char *uerudp_label_text_name_of_record(wmem_allocator_t *pool, const struct ue_record *record) {
    return record->string != NULL ? record->string : uerudp_label_text_mask_controls(decode_text(pool, record));
}

/* ---- words ---- */

/* Words are separated by one space; a column shows no more than COL_MAX_INFO_LEN. */
static void add_to_line(struct uerudp_info_column *summary, const struct uerudp_label_text *words) {
    if (wmem_strbuf_get_len(summary->line) >= COL_MAX_INFO_LEN) {
        return;
    }
    if (wmem_strbuf_get_len(summary->line) != 0) {
        wmem_strbuf_append_c(summary->line, ' ');
    }
    wmem_strbuf_append_len(summary->line, words->text, words->length);
}

static void add_member(struct uerudp_info_column *summary, const char *label, const char *value) {
    struct uerudp_label_text words;
    words.length = 0;
    if (value != NULL) {
        uerudp_label_text_add(&words, label);
        uerudp_label_text_add(&words, value);
        add_to_line(summary, &words);
    }
}

static const char *number_words(struct uerudp_info_column *summary, uint64_t number) {
    struct uerudp_label_text words;
    words.length = 0;
    uerudp_label_text_add_number(&words, number);
    return wmem_strdup(summary->pool, words.text);
}

/* The first digits are enough to tell one cookie from another. */
static const char *cookie_words(struct uerudp_info_column *summary, const struct ue_record *record) {
    uint32_t digits = 0;
    for (unsigned i = 0; i < COOKIE_DIGITS_BYTES; i++) {
        digits = digits << 8 | (uint32_t)ue_view_load(record->text.units, (size_t)i * 8, 8);
    }
    return wmem_strdup_printf(summary->pool, "%08" PRIx32, digits);
}

static void describe_head(const struct uerudp_info_column_bunch *b, struct uerudp_label_text *words) {
    uerudp_label_text_add(words, "Ch ");
    uerudp_label_text_add_number(words, b->channel);
    if (b->channel_name != NULL) {
        uerudp_label_text_add(words, " ");
        uerudp_label_text_add(words, b->channel_name);
    }
    if (b->messages != NULL) {
        uerudp_label_text_add(words, " ");
        uerudp_label_text_add(words, b->messages);
    }
    if (b->open) {
        uerudp_label_text_add(words, " open");
    }
    if (b->close) {
        uerudp_label_text_add(words, " close");
    }
    if (b->actor != NULL) {
        uerudp_label_text_add(words, " ");
        uerudp_label_text_add(words, b->actor);
    }
    if (b->reliable) {
        uerudp_label_text_add(words, " reliable #");
        uerudp_label_text_add_number(words, b->ch_seq);
    }
    if (b->partial) {
        uerudp_label_text_add(words, b->partial_initial ? " first part" : b->partial_final ? " last part" : " part");
    }
}

/* What is behind a message that does not decode is not known. */
void uerudp_info_column_name_messages(struct uerudp_info_column *summary, const struct ue_context *context, struct ue_view payload) {
    struct uerudp_label_text words;
    struct ue_fault fault = {.status = UE_OK};
    words.length = 0;
    size_t bit = 0;
    for (unsigned told = 0; bit < payload.bits && told <= MESSAGES_TOLD && fault.status == UE_OK; told++) {
        struct ue_message message;
        ue_message_decode(context, payload, &bit, &message, &fault);
        const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, message.type);
        uerudp_label_text_add(&words, told != 0 ? ", " : "");
        uerudp_label_text_add(&words, told == MESSAGES_TOLD ? "..." : name != NULL ? name : "unknown");
    }
    summary->bunch.messages = words.length != 0 ? wmem_strdup(summary->pool, words.text) : NULL;
}

/* Of a visible tree, the same words are needed for the line, the bunch's label and the name of its tab. */
void uerudp_info_column_write_bunch(struct uerudp_info_column *summary, const char *separator, struct uerudp_label_text *words) {
    if (summary->bunch_head.length == 0) {
        describe_head(&summary->bunch, &summary->bunch_head);
        uerudp_label_text_add_number(&summary->bunch_size, summary->bunch.data_bits);
        uerudp_label_text_add(&summary->bunch_size, " bits");
    }
    uerudp_label_text_join(words, &summary->bunch_head);
    if (summary->bunch.has_data_bits) {
        uerudp_label_text_add(words, separator);
        uerudp_label_text_join(words, &summary->bunch_size);
    }
}

static void add_bunch(struct uerudp_info_column *summary) {
    struct uerudp_label_text words;
    words.length = 0;
    uerudp_label_text_add(&words, "[");
    uerudp_info_column_write_bunch(summary, " ", &words);
    uerudp_label_text_add(&words, "]");
    add_to_line(summary, &words);
}

static void add_opaque(struct uerudp_info_column *summary, const char *kind, size_t bits) {
    struct uerudp_label_text words;
    words.length = 0;
    uerudp_label_text_add(&words, kind);
    uerudp_label_text_add_number(&words, bits);
    uerudp_label_text_add(&words, " bits]");
    add_to_line(summary, &words);
}

/* ---- the trace ---- */

void uerudp_info_column_begin_group(struct uerudp_info_column *summary, enum ue_group group) {
    if (group == UE_GROUP_BUNCH) {
        summary->bunch = (struct uerudp_info_column_bunch){0};
        summary->bunch_head.length = 0;
        summary->bunch_size.length = 0;
    }
}

void uerudp_info_column_end_group(struct uerudp_info_column *summary, enum ue_group group) {
    switch (group) {
    case UE_GROUP_HANDSHAKE:
        add_member(summary, "", summary->handshake_type != NULL ? summary->handshake_type : "Handshake");
        add_member(summary, "cookie=", summary->cookie);
        add_member(summary, "orig_cookie=", summary->orig_cookie);
        break;
    case UE_GROUP_PACKET:
        add_member(summary, "Seq=", summary->seq);
        add_member(summary, "Ack=", summary->ack);
        break;
    case UE_GROUP_BUNCH: add_bunch(summary); break;
    default: break;
    }
}

/* Every field of every tree comes by: one switch is one jump. */
void uerudp_info_column_add_field(struct uerudp_info_column *summary, const struct ue_record *record) {
    struct uerudp_info_column_bunch *b = &summary->bunch;
    bool flag = record->number != 0;
    switch (record->field) {
    case UE_F_BUNCH_OPEN: b->open = flag; break;
    case UE_F_BUNCH_CLOSE: b->close = flag; break;
    case UE_F_BUNCH_RELIABLE: b->reliable = flag; break;
    case UE_F_BUNCH_CHANNEL: b->channel = record->number; break;
    case UE_F_BUNCH_HAS_EXPORTS: b->has_exports = flag; break;
    case UE_F_BUNCH_HAS_MAPPED: b->has_mapped = flag; break;
    case UE_F_BUNCH_PARTIAL: b->partial = flag; break;
    case UE_F_BUNCH_PARTIAL_INITIAL: b->partial_initial = flag; break;
    case UE_F_BUNCH_PARTIAL_FINAL: b->partial_final = flag; break;
    case UE_F_BUNCH_CH_SEQ: b->ch_seq = record->number; break;
    case UE_F_BUNCH_CHANNEL_NAME: b->channel_name = uerudp_label_text_name_of_record(summary->pool, record); break;
    case UE_F_BUNCH_DATA_BITS:
        b->data_bits = record->number;
        b->has_data_bits = true;
        break;
    case UE_F_PACKET_SEQ: summary->seq = number_words(summary, record->number); break;
    case UE_F_PACKET_ACK: summary->ack = number_words(summary, record->number); break;
    case UE_F_LEGACY_ACK_ID: add_member(summary, "Ack=", number_words(summary, record->number)); break;
    case UE_F_HANDSHAKE_TYPE: summary->handshake_type = ue_values_name(UE_VALUES_HANDSHAKE_TYPE, record->number); break;
    case UE_F_HANDSHAKE_COOKIE: summary->cookie = cookie_words(summary, record); break;
    case UE_F_HANDSHAKE_ORIG_COOKIE: summary->orig_cookie = cookie_words(summary, record); break;
    case UE_F_HANDLER_CIPHERTEXT: add_opaque(summary, "[Encrypted ", record->bits); break;
    case UE_F_HANDLER_COMPRESSED_DATA: add_opaque(summary, "[Compressed ", record->bits); break;
    default: break;
    }
}

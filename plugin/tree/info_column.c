/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/info_column.h"

#include <epan/charsets.h>
#include <epan/column-info.h>
#include <epan/proto.h>

#include <uerudp/message.h>

#define COOKIE_DIGITS_BYTES 4

/* So many messages of a bunch are named. */
#define MESSAGES_TOLD 4

void ue_summary_init(struct ue_summary *summary, wmem_allocator_t *pool) {
    *summary = (struct ue_summary){.pool = pool, .line = wmem_strbuf_new(pool, NULL)};
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

const char *ue_record_string(wmem_allocator_t *pool, const struct ue_record *record) {
    return record->string != NULL ? record->string : decode_text(pool, record);
}

const char *ue_record_name(wmem_allocator_t *pool, const struct ue_record *record) {
    return record->string != NULL ? record->string : ue_words_visible(decode_text(pool, record));
}

/* ---- words ---- */

/* Words are separated by one space; a column shows no more than COL_MAX_INFO_LEN. */
static void add_to_line(struct ue_summary *summary, const struct ue_words *words) {
    if (wmem_strbuf_get_len(summary->line) >= COL_MAX_INFO_LEN) {
        return;
    }
    if (wmem_strbuf_get_len(summary->line) != 0) {
        wmem_strbuf_append_c(summary->line, ' ');
    }
    wmem_strbuf_append_len(summary->line, words->text, words->length);
}

static void add_member(struct ue_summary *summary, const char *label, const char *value) {
    struct ue_words words;
    words.length = 0;
    if (value != NULL) {
        ue_words_text(&words, label);
        ue_words_text(&words, value);
        add_to_line(summary, &words);
    }
}

static const char *number_words(struct ue_summary *summary, uint64_t number) {
    struct ue_words words;
    words.length = 0;
    ue_words_number(&words, number);
    return wmem_strdup(summary->pool, words.text);
}

/* The first digits are enough to tell one cookie from another. */
static const char *cookie_words(struct ue_summary *summary, const struct ue_record *record) {
    uint32_t digits = 0;
    for (unsigned i = 0; i < COOKIE_DIGITS_BYTES; i++) {
        digits = digits << 8 | (uint32_t)ue_view_load(record->text.units, (size_t)i * 8, 8);
    }
    return wmem_strdup_printf(summary->pool, "%08" PRIx32, digits);
}

static void describe_head(const struct ue_bunch_words *b, struct ue_words *words) {
    ue_words_text(words, "Ch ");
    ue_words_number(words, b->channel);
    if (b->channel_name != NULL) {
        ue_words_text(words, " ");
        ue_words_text(words, b->channel_name);
    }
    if (b->messages != NULL) {
        ue_words_text(words, " ");
        ue_words_text(words, b->messages);
    }
    if (b->open) {
        ue_words_text(words, " open");
    }
    if (b->close) {
        ue_words_text(words, " close");
    }
    if (b->actor != NULL) {
        ue_words_text(words, " ");
        ue_words_text(words, b->actor);
    }
    if (b->reliable) {
        ue_words_text(words, " reliable #");
        ue_words_number(words, b->ch_seq);
    }
    if (b->partial) {
        ue_words_text(words, b->partial_initial ? " first part" : b->partial_final ? " last part" : " part");
    }
}

/* What is behind a message that does not decode is not known. */
void ue_summary_messages(struct ue_summary *summary, const struct ue_context *context, struct ue_view payload) {
    struct ue_words words;
    struct ue_fault fault = {.status = UE_OK};
    words.length = 0;
    size_t bit = 0;
    for (unsigned told = 0; bit < payload.bits && told <= MESSAGES_TOLD && fault.status == UE_OK; told++) {
        struct ue_message message;
        ue_message_decode(context, payload, &bit, &message, &fault);
        const char *name = ue_values_name(UE_VALUES_MESSAGE_TYPE, message.type);
        ue_words_text(&words, told != 0 ? ", " : "");
        ue_words_text(&words, told == MESSAGES_TOLD ? "..." : name != NULL ? name : "unknown");
    }
    summary->bunch.messages = words.length != 0 ? wmem_strdup(summary->pool, words.text) : NULL;
}

/* Of a visible tree, the same words are needed for the line, the bunch's label and the name of its tab. */
void ue_summary_bunch(struct ue_summary *summary, const char *separator, struct ue_words *words) {
    if (summary->bunch_head.length == 0) {
        describe_head(&summary->bunch, &summary->bunch_head);
        ue_words_number(&summary->bunch_size, summary->bunch.data_bits);
        ue_words_text(&summary->bunch_size, " bits");
    }
    ue_words_join(words, &summary->bunch_head);
    if (summary->bunch.has_data_bits) {
        ue_words_text(words, separator);
        ue_words_join(words, &summary->bunch_size);
    }
}

static void add_bunch(struct ue_summary *summary) {
    struct ue_words words;
    words.length = 0;
    ue_words_text(&words, "[");
    ue_summary_bunch(summary, " ", &words);
    ue_words_text(&words, "]");
    add_to_line(summary, &words);
}

static void add_opaque(struct ue_summary *summary, const char *kind, size_t bits) {
    struct ue_words words;
    words.length = 0;
    ue_words_text(&words, kind);
    ue_words_number(&words, bits);
    ue_words_text(&words, " bits]");
    add_to_line(summary, &words);
}

/* ---- the trace ---- */

void ue_summary_begin(struct ue_summary *summary, enum ue_group group) {
    if (group == UE_GROUP_BUNCH) {
        summary->bunch = (struct ue_bunch_words){0};
        summary->bunch_head.length = 0;
        summary->bunch_size.length = 0;
    }
}

void ue_summary_end(struct ue_summary *summary, enum ue_group group) {
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
void ue_summary_field(struct ue_summary *summary, const struct ue_record *record) {
    struct ue_bunch_words *b = &summary->bunch;
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
    case UE_F_BUNCH_CHANNEL_NAME: b->channel_name = ue_record_name(summary->pool, record); break;
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

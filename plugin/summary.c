/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/summary.h"

#include <epan/charsets.h>
#include <epan/column-info.h>
#include <epan/proto.h>

#define COOKIE_DIGITS_BYTES 4

void ue_summary_init(struct ue_summary *summary, wmem_allocator_t *pool) {
    *summary = (struct ue_summary){.pool = pool, .line = wmem_strbuf_new(pool, NULL)};
}

const char *ue_record_string(wmem_allocator_t *pool, const struct ue_record *record) {
    if (record->string != NULL) {
        return record->string;
    }
    struct ue_view units = record->text.units;
    size_t size = ue_bits_bytes(units.bits);
    uint8_t *bytes = wmem_alloc(pool, size + 1);
    ue_view_copy(units, bytes);
    if (record->text.wide) {
        return (const char *)get_utf_16_string(pool, bytes, (int)size, ENC_LITTLE_ENDIAN);
    }
    return (const char *)get_8859_1_string(pool, bytes, (int)size);
}

/* Words are separated by one space; a column shows no more than COL_MAX_INFO_LEN. */
static void add_words(struct ue_summary *summary, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add_words(struct ue_summary *summary, const char *format, ...) {
    va_list arguments;
    if (wmem_strbuf_get_len(summary->line) >= COL_MAX_INFO_LEN) {
        return;
    }
    if (wmem_strbuf_get_len(summary->line) != 0) {
        wmem_strbuf_append_c(summary->line, ' ');
    }
    va_start(arguments, format);
    wmem_strbuf_append_vprintf(summary->line, format, arguments);
    va_end(arguments);
}

static void add_member(struct ue_summary *summary, const char *label, const char *value) {
    if (value != NULL) {
        add_words(summary, "%s%s", label, value);
    }
}

static const char *number_words(struct ue_summary *summary, const struct ue_record *record) {
    return wmem_strdup_printf(summary->pool, "%" PRIu64, record->number);
}

/* The first digits are enough to tell one cookie from another. */
static const char *cookie_words(struct ue_summary *summary, const struct ue_record *record) {
    uint32_t digits = 0;
    for (unsigned i = 0; i < COOKIE_DIGITS_BYTES; i++) {
        digits = digits << 8 | (uint32_t)ue_view_load(record->text.units, (size_t)i * 8, 8);
    }
    return wmem_strdup_printf(summary->pool, "%08" PRIx32, digits);
}

const char *ue_summary_bunch(const struct ue_summary *summary, const char *separator) {
    const struct ue_bunch_words *b = &summary->bunch;
    wmem_strbuf_t *words = wmem_strbuf_new(summary->pool, NULL);
    wmem_strbuf_append_printf(words, "Ch %" PRIu64, b->channel);
    if (b->channel_name != NULL) {
        wmem_strbuf_append_printf(words, " %s", b->channel_name);
    }
    wmem_strbuf_append(words, b->open ? " open" : "");
    wmem_strbuf_append(words, b->close ? " close" : "");
    if (b->reliable) {
        wmem_strbuf_append_printf(words, " reliable #%" PRIu64, b->ch_seq);
    }
    if (b->partial) {
        wmem_strbuf_append(words, b->partial_initial ? " first part" : b->partial_final ? " last part" : " part");
    }
    if (b->has_data_bits) {
        wmem_strbuf_append_printf(words, "%s%" PRIu64 " bits", separator, b->data_bits);
    }
    return wmem_strbuf_get_str(words);
}

void ue_summary_begin(struct ue_summary *summary, enum ue_group group) {
    if (group == UE_GROUP_BUNCH) {
        summary->bunch = (struct ue_bunch_words){0};
        summary->bunch_count++;
    }
}

void ue_summary_end(struct ue_summary *summary, enum ue_group group) {
    switch (group) {
    case UE_GROUP_HANDSHAKE:
        add_words(summary, "%s", summary->handshake_type != NULL ? summary->handshake_type : "Handshake");
        add_member(summary, "cookie=", summary->cookie);
        add_member(summary, "orig_cookie=", summary->orig_cookie);
        break;
    case UE_GROUP_PACKET:
        add_member(summary, "Seq=", summary->seq);
        add_member(summary, "Ack=", summary->ack);
        break;
    case UE_GROUP_BUNCH:
        if (wmem_strbuf_get_len(summary->line) < COL_MAX_INFO_LEN) {
            add_words(summary, "[%s]", ue_summary_bunch(summary, " "));
        }
        break;
    default: break;
    }
}

static void bunch_field(struct ue_summary *summary, const struct ue_record *record) {
    struct ue_bunch_words *b = &summary->bunch;
    bool flag = record->number != 0;
    switch (record->field) {
    case UE_F_BUNCH_OPEN: b->open = flag; break;
    case UE_F_BUNCH_CLOSE: b->close = flag; break;
    case UE_F_BUNCH_RELIABLE: b->reliable = flag; break;
    case UE_F_BUNCH_CHANNEL: b->channel = record->number; break;
    case UE_F_BUNCH_PARTIAL: b->partial = flag; break;
    case UE_F_BUNCH_PARTIAL_INITIAL: b->partial_initial = flag; break;
    case UE_F_BUNCH_PARTIAL_FINAL: b->partial_final = flag; break;
    case UE_F_BUNCH_CH_SEQ: b->ch_seq = record->number; break;
    case UE_F_BUNCH_CHANNEL_NAME: b->channel_name = ue_record_string(summary->pool, record); break;
    case UE_F_BUNCH_DATA_BITS:
        b->data_bits = record->number;
        b->has_data_bits = true;
        break;
    default: break;
    }
}

void ue_summary_field(struct ue_summary *summary, const struct ue_record *record) {
    switch (record->field) {
    case UE_F_PACKET_SEQ: summary->seq = number_words(summary, record); break;
    case UE_F_PACKET_ACK: summary->ack = number_words(summary, record); break;
    case UE_F_LEGACY_ACK_ID: add_words(summary, "Ack=%" PRIu64, record->number); break;
    case UE_F_HANDSHAKE_TYPE:
        summary->handshake_type = ue_values_name(UE_VALUES_HANDSHAKE_TYPE, record->number);
        break;
    case UE_F_HANDSHAKE_COOKIE: summary->cookie = cookie_words(summary, record); break;
    case UE_F_HANDSHAKE_ORIG_COOKIE: summary->orig_cookie = cookie_words(summary, record); break;
    case UE_F_HANDLER_CIPHERTEXT: add_words(summary, "[Encrypted %zu bits]", record->bits); break;
    case UE_F_HANDLER_COMPRESSED_DATA: add_words(summary, "[Compressed %zu bits]", record->bits); break;
    default: bunch_field(summary, record); break;
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/edit/redactor.h"

#include <uerudp/close_reason.h>
#include <uerudp/text.h>
#include "tools/cli/command_line.h"
#include "tools/edit/redactor_fragments.h"

/* A mask for wide texts keeps them wide. */
#define MASK_NARROW 0x58u /* X */
#define MASK_WIDE 0x00d7u /* multiplication sign */
/* For what cannot be decoded: zeros would be an empty Hello, but no message has this type, no text this length. */
#define MASK_REST 0xffu
#define TYPE_BITS 8

#define CLOSE_REASON_BYTES 64 /* longer than every name in close_reason.def */

/* Zeros after the received part of a message, so that its last field can be decoded. */
#define PADDING_BYTES 16384

struct redactor {
    struct ue_cipher *cipher;
    struct redactor_fragments *parts;
    struct redactor_counts counts;
    GByteArray *message, *mask; /* a fragmented message as received, and its mask */
    GByteArray *plain;          /* decrypted content of a datagram */
};

/* State of masking one datagram. */
struct datagram_redaction {
    struct redactor *redactor;
    const struct redactor_datagram *datagram;
    const struct ue_context *context;
    uint8_t *target;                    /* the datagram's bytes, or the decrypted bytes of its content */
    bool has_data;                      /* the data of the current bunch were decoded */
    struct ue_view iv, tag, ciphertext; /* ranges in the datagram; no bits: absent */
    unsigned decrypted;                 /* number of decrypted parts */
    bool is_blanked;                    /* a part cannot be decoded */
};

/* ---- masking ---- */

static bool is_personal(enum ue_field field) {
    switch (field) {
    case UE_F_CONTROL_HELLO_ENCRYPTION_TOKEN:
    case UE_F_CONTROL_CHALLENGE_TEXT:
    case UE_F_CONTROL_LOGIN_RESPONSE:
    case UE_F_CONTROL_LOGIN_URL:
    case UE_F_CONTROL_LOGIN_PLATFORM:
    case UE_F_CONTROL_WELCOME_REDIRECT_URL:
    case UE_F_CONTROL_FAILURE_TEXT:
    case UE_F_CONTROL_JOIN_SPLIT_URL:
    case UE_F_CONTROL_JOIN_NO_PAWN_SPLIT_URL:
    case UE_F_CONTROL_DEBUG_TEXT_TEXT:
    case UE_F_CONTROL_SECURITY_VIOLATION_TEXT:
    case UE_F_CONTROL_GAME_SPECIFIC_TEXT:
    case UE_F_CONTROL_NET_PING_TEXT:
    case UE_F_CONTROL_IRIS_NET_REF_HANDLE_ERROR_TEXT_TEXT:
    case UE_F_CONTROL_UNIQUE_ID_TYPE:
    case UE_F_CONTROL_UNIQUE_ID_TEXT:
    case UE_F_CONTROL_UNIQUE_ID_BYTES:
    case UE_F_VOICE_SENDER:
    case UE_F_VOICE_DATA: return true;
    default: return false;
    }
}

static void fill(uint8_t *bytes, size_t bit, size_t bits, uint16_t pattern, unsigned width) {
    const uint8_t unit[2] = {(uint8_t)pattern, (uint8_t)(pattern >> 8)};
    for (size_t done = 0; done < bits; done += width) {
        size_t count = bits - done < width ? bits - done : width;
        ue_bits_copy(bytes, bit + done, unit, 0, count);
    }
}

static void blank(uint8_t *bytes, struct ue_view view) {
    fill(bytes, view.bit, view.bits, MASK_REST, 8);
}

/* Blanks a message but keeps its type. */
static void blank_message(uint8_t *bytes, struct ue_view message) {
    size_t type_bits = message.bits < TYPE_BITS ? message.bits : TYPE_BITS;
    blank(bytes, (struct ue_view){message.base, message.bit + type_bits, message.bits - type_bits});
}

static void mask_text(uint8_t *bytes, struct ue_view units, bool is_wide) {
    fill(bytes, units.bit, units.bits, is_wide ? MASK_WIDE : MASK_NARROW, is_wide ? 16 : 8);
}

/* The close reason that begins at a unit, up to the next comma, and its length in units; name is cut at its end. */
static size_t read_close_reason(struct ue_text text, size_t begin, char name[CLOSE_REASON_BYTES]) {
    size_t at = begin, end = begin;
    for (; at < ue_text_units(text); end = at) {
        uint32_t character = ue_text_read_character(text, &at);
        if (character == ',') {
            break;
        }
        name[MIN(end - begin, CLOSE_REASON_BYTES - 1)] = character < 0x80 ? (char)character : '?';
    }
    return end - begin;
}

/* Masks what is not one of the engine's names in a list with commas. */
static void mask_close_reasons(uint8_t *bytes, struct ue_text text) {
    char name[CLOSE_REASON_BYTES];
    for (size_t begin = 0, length, width = text.wide ? 16 : 8; begin < ue_text_units(text); begin += length + 1) {
        length = read_close_reason(text, begin, name);
        if (length >= sizeof name || ue_close_reason_find(name, length) == UE_CLOSE_NONE) {
            mask_text(bytes, (struct ue_view){NULL, text.units.bit + begin * width, length * width}, text.wide);
        }
    }
}

static void mask_field(uint8_t *bytes, const struct ue_record *record) {
    struct ue_view units = record->text.units;
    if (record->field == UE_F_CONTROL_OPAQUE) {
        blank_message(bytes, units);
    } else if (record->field == UE_F_CONTENT_OPAQUE || record->field == UE_F_CONTENT_CUSTOM_EXPORTS) {
        blank(bytes, units);
    } else if (record->field == UE_F_CONTROL_CLOSE_REASON_TEXT) {
        mask_close_reasons(bytes, record->text);
    } else if (is_personal(record->field)) {
        if (ue_field_row(record->field)->kind == UE_KIND_TEXT) {
            mask_text(bytes, units, record->text.wide);
        } else {
            fill(bytes, units.bit, units.bits, 0, 8);
        }
    }
}

/* ---- content ---- */

struct masking {
    uint8_t *bytes;
    struct ue_view unread; /* from the type of the message that cannot be decoded */
};

static void on_content_field(void *user, const struct ue_record *record) {
    struct masking *masking = user;
    if (record->field == UE_F_CONTROL_OPAQUE) {
        masking->unread = record->text.units;
    } else if (!record->generated) {
        mask_field(masking->bytes, record);
    }
}

/* Masks, at the same bits of `bytes`, what the decoded content holds. Further fragments follow end_bit: a length
   that reaches beyond it is not a fault. */
static void mask_content(const struct datagram_redaction *r, const struct ue_content *content, size_t end_bit,
                         uint8_t *bytes) {
    struct masking masking = {.bytes = bytes};
    const struct ue_trace sink = {NULL, on_content_field, NULL, &masking};
    struct ue_fault fault;
    ue_content_trace(r->context, content, NULL, &sink, &fault);
    if (masking.unread.bits != 0 && !(fault.status == UE_E_LENGTH && fault.bit > end_bit)) {
        blank_message(bytes, masking.unread);
    }
}

static struct ue_view copy_padded(GByteArray *to, const uint8_t *bytes, size_t bits, size_t padding_bytes) {
    size_t size = ue_bits_bytes(bits);
    g_byte_array_set_size(to, (guint)(size + padding_bytes));
    memset(to->data + size, 0, padding_bytes);
    memcpy(to->data, bytes, size);
    return (struct ue_view){to->data, 0, bits + padding_bytes * 8};
}

/* Masks the fragment as part of its message so far; a retransmitted fragment is masked as before. */
static void mask_part(struct datagram_redaction *r, struct ue_view data, const struct redactor_message *message) {
    struct redactor *redactor = r->redactor;
    if (!message->is_masked) {
        struct ue_content content = {.kind = UE_CONTENT_CONTROL};
        content.data = copy_padded(redactor->message, message->bytes, message->bits, PADDING_BYTES);
        copy_padded(redactor->mask, message->bytes, message->bits, PADDING_BYTES);
        mask_content(r, &content, message->bits, redactor->mask->data);
        ue_bits_copy(message->mask, message->begin, redactor->mask->data, message->begin, data.bits);
    }
    ue_bits_copy(r->target, data.bit, message->mask, message->begin, data.bits);
}

/* Masks fragmented control messages and control bunches with exports. */
static void mask_parts(struct datagram_redaction *r, const struct ue_bunch *bunch) {
    struct redactor_fragment part = {.key = (uint64_t)r->datagram->stream << 1 | r->datagram->side,
                                     .ch_seq = bunch->ch_seq,
                                     .ch_seq_bound = MAX(r->context->ch_seq_bound, 1),
                                     .is_initial = bunch->partial_initial,
                                     .data = bunch->data};
    struct redactor_message message;
    bool is_plain = bunch->reliable && !bunch->has_exports && !bunch->has_mapped && !bunch->partial_exports_final;
    if (is_plain && bunch->partial && redactor_fragments_add(r->redactor->parts, &part, &message)) {
        mask_part(r, bunch->data, &message);
    } else {
        blank(r->target, bunch->data);
        r->redactor->counts.unread++;
    }
}

static void mask_voice(struct datagram_redaction *r, struct ue_view data) {
    mask_content(r, &(struct ue_content){.kind = UE_CONTENT_VOICE, .data = data}, SIZE_MAX, r->target);
}

/* Channel 1 carries voice unless the bunch names another kind. */
static bool is_voice(const struct ue_bunch *bunch) {
    if (bunch->has_name) {
        return bunch->name.index == UE_NAME_VOICE;
    }
    return bunch->ch_type != 0 ? bunch->ch_type == UE_CHANNEL_VOICE : bunch->channel == 1;
}

/* The trace of the datagram contains the messages of whole control bunches. */
static void mask_bunch(struct datagram_redaction *r, const struct ue_bunch *bunch) {
    bool is_odd = bunch->partial || bunch->has_exports || bunch->has_mapped;
    if (bunch->channel == 0 && is_odd) {
        mask_parts(r, bunch);
    } else if (bunch->channel != 0 && is_voice(bunch) && is_odd) {
        blank(r->target, bunch->data);
    } else if (bunch->channel != 0 && is_voice(bunch)) {
        mask_voice(r, bunch->data);
    }
}

/* ---- the datagram ---- */

/* Encrypted content is masked, or blanked if it cannot be decrypted. */
static void on_handler(struct datagram_redaction *r, const struct ue_record *record) {
    struct ue_view bits = {NULL, record->bit, record->bits};
    if (r->decrypted != 0 || record->field == UE_F_HANDLER_COMPRESSED_DATA) {
        blank(r->target, bits);
        r->is_blanked = true;
    } else if (record->field == UE_F_HANDLER_IV) {
        r->iv = bits;
    } else if (record->field == UE_F_HANDLER_TAG) {
        r->tag = bits;
    } else {
        r->ciphertext = bits;
    }
}

static void on_field(void *user, const struct ue_record *record) {
    struct datagram_redaction *r = user;
    switch (record->field) {
    case UE_F_BUNCH_DATA: r->has_data = true; return;
    case UE_F_WRAPPER:
    case UE_F_PACKET_EXTRA: fill(r->target, record->bit, record->bits, 0, 8); return;
    case UE_F_HANDLER_IV:
    case UE_F_HANDLER_TAG:
    case UE_F_HANDLER_UNDECODED:
    case UE_F_HANDLER_CIPHERTEXT:
    case UE_F_HANDLER_COMPRESSED_DATA: on_handler(r, record); return;
    default: break;
    }
    if (!record->generated) {
        mask_field(r->target, record);
    }
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct datagram_redaction *r = user;
    (void)bit;
    if (group == UE_GROUP_BUNCH) {
        r->has_data = false;
    } else if (group == UE_GROUP_OPENED && r->decrypted++ == 0) {
        size_t size;
        const uint8_t *plain = ue_cipher_plain(r->redactor->cipher, &size);
        copy_padded(r->redactor->plain, plain, size * 8, 0);
        r->target = r->redactor->plain->data;
    }
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    struct datagram_redaction *r = user;
    (void)bit;
    if (group == UE_GROUP_BUNCH && r->has_data) {
        mask_bunch(r, structure);
    }
}

/* Encrypts the masked content in place; false if that is not possible. */
static bool encrypt(struct datagram_redaction *r) {
    GByteArray *plain = r->redactor->plain;
    uint8_t iv[UE_AES_IV_BYTES] = {0}, tag[UE_AES_TAG_BYTES] = {0};
    g_autofree uint8_t *ciphertext = g_malloc(plain->len + 1);
    ue_bits_copy(iv, 0, r->datagram->bytes, r->iv.bit, r->iv.bits);
    bool good = r->decrypted == 1 && r->ciphertext.bits == plain->len * 8u &&
                ue_cipher_encrypt(r->redactor->cipher, plain->data, plain->len, iv, tag, ciphertext);
    if (good) {
        ue_bits_copy(r->datagram->bytes, r->iv.bit, iv, 0, r->iv.bits);
        ue_bits_copy(r->datagram->bytes, r->tag.bit, tag, 0, r->tag.bits);
        ue_bits_copy(r->datagram->bytes, r->ciphertext.bit, ciphertext, 0, r->ciphertext.bits);
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): g_autofree */
    return good;
}

/* A valid tag would confirm a guess of the original content. */
static void finish_ciphertext(struct datagram_redaction *r) {
    if (r->ciphertext.bits != 0 && !(r->decrypted != 0 && encrypt(r))) {
        blank(r->datagram->bytes, r->tag);
        blank(r->datagram->bytes, r->ciphertext);
        r->is_blanked = true;
    }
}

static void redact(struct datagram_redaction *r) {
    const struct redactor_datagram *datagram = r->datagram;
    const struct ue_trace sink = {on_begin, on_field, on_end, r};
    struct ue_decode_result result;
    uint8_t *original =
        g_memdup2(datagram->bytes, datagram->size_bytes); /* decoded while the datagram is being masked */
    ue_datagram_trace(datagram->context, original, datagram->size_bytes, NULL, &sink, &result);
    if (result.fault.status != UE_OK) {
        size_t size_bytes = result.is_opened ? r->redactor->plain->len : datagram->size_bytes;
        uint8_t *bytes = result.is_opened ? r->redactor->plain->data : datagram->bytes;
        size_t from = result.payload_end_bit < size_bytes * 8 ? result.payload_end_bit : size_bytes * 8;
        blank(bytes, (struct ue_view){bytes, from, size_bytes * 8 - from});
    }
    finish_ciphertext(r);
    r->redactor->counts.opaque += r->is_blanked;
    g_free(original);
}

void redactor_mask(struct redactor *redactor, const struct redactor_datagram *datagram) {
    struct datagram_redaction r = {
        .redactor = redactor, .datagram = datagram, .context = datagram->context, .target = datagram->bytes};
    if (datagram->context != NULL) {
        redact(&r);
    } else {
        memset(datagram->bytes, 0, datagram->size_bytes);
    }
}

void redactor_report(const struct redactor_counts *counts) {
    if (counts->opaque != 0) {
        cli_error("%" G_GUINT64_FORMAT
                  " datagrams are encrypted, compressed or in an unknown format and cannot be decoded: their content "
                  "is replaced by bytes 0xff; use --key to decrypt it",
                  counts->opaque);
    }
    if (counts->unread != 0) {
        cli_error("%" G_GUINT64_FORMAT
                  " bunches of the control channel are replaced by bytes 0xff: they have exports, or "
                  "are fragments of messages whose earlier fragments are not in the capture or are later in it, or "
                  "that have more than 64 KiB or 256 fragments",
                  counts->unread);
    }
}

/* ---- start and end ---- */

struct redactor *redactor_new(struct ue_cipher *cipher) {
    struct redactor *redactor = g_new0(struct redactor, 1);
    redactor->cipher = cipher;
    redactor->parts = redactor_fragments_new();
    redactor->message = g_byte_array_new();
    redactor->mask = g_byte_array_new();
    redactor->plain = g_byte_array_new();
    return redactor;
}

void redactor_free(struct redactor *redactor) {
    if (redactor != NULL) {
        redactor_fragments_free(redactor->parts);
        g_byte_array_unref(redactor->message);
        g_byte_array_unref(redactor->mask);
        g_byte_array_unref(redactor->plain);
        g_free(redactor);
    }
}

const struct redactor_counts *redactor_counts(const struct redactor *redactor) {
    return &redactor->counts;
}

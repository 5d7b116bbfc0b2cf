/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/datagram_encryption.h"

#include <gcrypt.h>

#include <uerudp/endpoint.h>

#define CHUNK_BYTES 512 /* whole AES blocks */
#define AES_BLOCK_BYTES 16
#define BYTE_FORM_COUNTER 1 /* its first byte in the IV */

/* A record of DTLS 1.2 with AES-256-GCM (RFC 6347, RFC 5288): type, version, epoch and sequence, length, the part of
   the nonce that is sent, ciphertext, tag. The other part of the nonce distinguishes the directions, which have one
   key. */
#define RECORD_EPOCH_AT 3
#define RECORD_LENGTH_AT 11
#define RECORD_HEAD_BYTES 13
#define RECORD_NONCE_BYTES 8
#define RECORD_DATA 23
#define RECORD_VERSION 0xfd /* the second byte */

struct ue_encryption {
    enum ue_handler handler;
    gcry_cipher_hd_t handle;
    uint64_t sent; /* datagrams; the nonce of the forms that count */
};

struct ue_encryption *ue_encryption_new(enum ue_handler handler, const uint8_t *key) {
    struct ue_encryption *encryption = gcry_calloc(1, sizeof *encryption);
    int mode = handler == UE_HANDLER_AES_ECB ? GCRY_CIPHER_MODE_ECB : GCRY_CIPHER_MODE_GCM;
    if (encryption == NULL || gcry_cipher_open(&encryption->handle, GCRY_CIPHER_AES256, mode, 0) != 0) {
        gcry_free(encryption);
        return NULL;
    }
    encryption->handler = handler;
    if (gcry_cipher_setkey(encryption->handle, key, UE_KEY_BYTES) != 0) {
        ue_encryption_free(encryption);
        return NULL;
    }
    return encryption;
}

void ue_encryption_free(struct ue_encryption *encryption) {
    if (encryption != NULL) {
        gcry_cipher_close(encryption->handle);
        gcry_free(encryption);
    }
}

/* ---- where things are ---- */

/* A packed integer: the lowest bit of a byte says whether another byte follows. */
static size_t packed_bits(const uint8_t *bytes, size_t size_bytes, size_t bit) {
    size_t bits = 8;
    while (bits < 40 && bit + bits <= size_bytes * 8 && ue_bits_load(bytes, size_bytes, bit + bits - 8, 1) != 0) {
        bits += 8;
    }
    return bits;
}

/* What a component writes into a packet that it leaves clear. */
static size_t clear_bits(enum ue_handler handler, const uint8_t *bytes, size_t size_bytes, size_t bit) {
    if (handler != UE_HANDLER_RELIABILITY) {
        return ue_handler_clear_bits(handler);
    }
    size_t bits = packed_bits(bytes, size_bytes, bit);
    return bits + packed_bits(bytes, size_bytes, bit + bits);
}

bool ue_handler_span_find(const struct ue_context *context, enum ue_handler handler, const uint8_t *bytes,
                          size_t size_bytes, struct ue_handler_span *span) {
    size_t component = ue_handler_index(&context->settings, handler);
    size_t bit = ue_settings_prefix_bits(&context->settings) + (context->ids ? 5 : 0);
    *span = (struct ue_handler_span){.begin = bit + 1};
    if (component == UE_HANDLERS_MAX || size_bytes == 0 ||
        !ue_bits_last_set(bytes, (size_bytes - 1) * 8, size_bytes * 8, &span->end) || span->end <= bit) {
        return false;
    }
    span->is_handshake = ue_bits_load(bytes, size_bytes, bit, 1) != 0;
    for (size_t i = 0; i < component && !span->is_handshake && span->begin < span->end; i++) {
        span->begin += clear_bits(context->settings.handlers[i], bytes, size_bytes, span->begin);
    }
    return span->is_handshake || span->begin < span->end;
}

/* Positions in an encrypted datagram, from the component's first bit on. */
struct encrypted_form {
    size_t flag_bits; /* in front of a clear packet */
    size_t iv, tag;   /* SIZE_MAX: none */
    size_t record;    /* of DTLS; SIZE_MAX: none */
    size_t cipher;
    size_t after_bits; /* after the ciphertext */
    size_t block_bytes;
    bool has_terminator; /* in the plaintext */
};

static struct encrypted_form form_of(enum ue_handler handler, size_t begin) {
    struct encrypted_form f = {.flag_bits = ue_handler_clear_bits(handler),
                               .iv = SIZE_MAX,
                               .tag = SIZE_MAX,
                               .record = SIZE_MAX,
                               .block_bytes = 1,
                               .has_terminator = handler != UE_HANDLER_AESGCM_BYTES};
    switch (handler) {
    case UE_HANDLER_AES_ECB:
        f.cipher = begin + 1;
        f.block_bytes = AES_BLOCK_BYTES;
        break;
    case UE_HANDLER_DTLS:
        f.record = begin + 2; /* after the flag, and that it is no record of the DTLS handshake */
        f.cipher = f.record + (size_t)(RECORD_HEAD_BYTES + RECORD_NONCE_BYTES) * 8;
        f.after_bits = UE_AES_TAG_BYTES * 8;
        break;
    default:
        f.iv = handler == UE_HANDLER_AESGCM ? begin + 1 : begin;
        f.tag = f.iv + (size_t)UE_AES_IV_BYTES * 8;
        f.cipher = f.tag + (size_t)UE_AES_TAG_BYTES * 8;
        break;
    }
    return f;
}

static bool is_encrypted(const struct encrypted_form *f, const uint8_t *bytes, size_t size_bytes,
                         const struct ue_handler_span *span) {
    size_t bits = span->end - span->begin < f->flag_bits ? span->end - span->begin : f->flag_bits;
    return ue_bits_load(bytes, size_bytes, span->begin, (unsigned)bits) != 0;
}

static void put_one(uint8_t *bytes, size_t bit) {
    bytes[bit / 8] |= (uint8_t)(1u << (bit % 8));
}

/* ---- nonces ---- */

static void store_number(uint8_t *bytes, size_t count, uint64_t number) {
    for (size_t i = count; i > 0; i--, number >>= 8) {
        bytes[i - 1] = (uint8_t)number;
    }
}

/* In the byte form the first byte is not 0, its lowest bit is the direction, and the next eight are a counter. */
static void make_iv(struct ue_encryption *encryption, const struct ue_context *context, struct ue_random *random,
                    uint8_t iv[UE_AES_IV_BYTES]) {
    ue_random_fill(random, iv, UE_AES_IV_BYTES);
    if (encryption->handler == UE_HANDLER_AESGCM_BYTES) {
        bool is_server = context->direction == UE_SERVER_TO_CLIENT;
        iv[0] = (uint8_t)((iv[0] | 2u) & 0xfeu) | is_server;
        for (size_t i = 0; i < 8; i++) {
            iv[BYTE_FORM_COUNTER + i] = (uint8_t)(encryption->sent >> 8 * i);
        }
    }
}

static void make_record(struct ue_encryption *encryption, size_t plain_bytes, uint8_t *record) {
    uint64_t sequence = UINT64_C(1) << 48 | encryption->sent; /* of epoch 1, the first with a key */
    record[0] = RECORD_DATA;
    record[1] = 0xfe;
    record[2] = RECORD_VERSION;
    store_number(record + RECORD_EPOCH_AT, 8, sequence);
    store_number(record + RECORD_LENGTH_AT, 2, RECORD_NONCE_BYTES + plain_bytes + UE_AES_TAG_BYTES);
    store_number(record + RECORD_HEAD_BYTES, RECORD_NONCE_BYTES, sequence);
}

/* Nonce and additional data of a record. */
static bool begin_record(gcry_cipher_hd_t handle, enum ue_direction direction, const uint8_t *record,
                         size_t plain_bytes) {
    uint8_t nonce[UE_AES_IV_BYTES] = {(uint8_t)direction};
    uint8_t data[RECORD_HEAD_BYTES];
    memcpy(nonce + sizeof nonce - RECORD_NONCE_BYTES, record + RECORD_HEAD_BYTES, RECORD_NONCE_BYTES);
    memcpy(data, record + RECORD_EPOCH_AT, 8);
    memcpy(data + 8, record, 3);
    store_number(data + RECORD_LENGTH_AT, 2, plain_bytes);
    return gcry_cipher_setiv(handle, nonce, sizeof nonce) == 0 &&
           gcry_cipher_authenticate(handle, data, sizeof data) == 0;
}

/* ---- encryption ---- */

/* Encrypts the content, its terminator and its padding chunk by chunk, because it begins inside a byte both here and
   there. */
static bool encrypt(const struct ue_encryption *encryption, const struct encrypted_form *f, const uint8_t *clear,
                    size_t from, size_t bits, size_t plain_bytes, uint8_t *out) {
    for (size_t at = 0; at < plain_bytes; at += CHUNK_BYTES) {
        uint8_t chunk[CHUNK_BYTES] = {0};
        size_t bytes = plain_bytes - at < CHUNK_BYTES ? plain_bytes - at : CHUNK_BYTES;
        size_t left = bits > at * 8 ? bits - at * 8 : 0;
        ue_bits_copy(chunk, 0, clear, from + at * 8, left < bytes * 8 ? left : bytes * 8);
        if (f->has_terminator && bits >= at * 8 && left < bytes * 8) {
            put_one(chunk, left);
        }
        if (gcry_cipher_encrypt(encryption->handle, chunk, bytes, NULL, 0) != 0) {
            return false;
        }
        ue_bits_copy(out, f->cipher + at * 8, chunk, 0, bytes * 8);
    }
    return true;
}

/* Writes what stands before the ciphertext, but for the tag. */
static bool begin_encrypting(struct ue_encryption *encryption, const struct ue_context *context,
                             struct ue_random *random, const struct encrypted_form *f, size_t plain_bytes,
                             uint8_t *out) {
    uint8_t record[RECORD_HEAD_BYTES + RECORD_NONCE_BYTES];
    uint8_t iv[UE_AES_IV_BYTES];
    encryption->sent++;
    if (f->record != SIZE_MAX) {
        make_record(encryption, plain_bytes, record);
        ue_bits_copy(out, f->record, record, 0, sizeof record * 8);
        return begin_record(encryption->handle, context->direction, record, plain_bytes);
    }
    if (f->iv == SIZE_MAX) {
        return true;
    }
    make_iv(encryption, context, random, iv);
    ue_bits_copy(out, f->iv, iv, 0, sizeof iv * 8);
    return gcry_cipher_setiv(encryption->handle, iv, sizeof iv) == 0;
}

/* SIZE_MAX: none. end: of the datagram, before its terminator. */
static size_t tag_at(const struct encrypted_form *f, size_t end) {
    return f->record != SIZE_MAX ? end - (size_t)UE_AES_TAG_BYTES * 8 : f->tag;
}

static bool write_tag(const struct ue_encryption *encryption, const struct encrypted_form *f, size_t end,
                      uint8_t *out) {
    uint8_t tag[UE_AES_TAG_BYTES];
    size_t at = tag_at(f, end);
    if (at == SIZE_MAX) {
        return true;
    }
    bool good = gcry_cipher_gettag(encryption->handle, tag, sizeof tag) == 0;
    ue_bits_copy(out, at, tag, 0, good ? sizeof tag * 8 : 0);
    return good;
}

size_t ue_encryption_encrypt(struct ue_encryption *encryption, const struct ue_context *context,
                             struct ue_random *random, const uint8_t *clear, size_t size_bytes, uint8_t *out) {
    struct ue_handler_span span;
    if (!ue_handler_span_find(context, encryption->handler, clear, size_bytes, &span) || span.is_handshake) {
        return 0;
    }
    struct encrypted_form f = form_of(encryption->handler, span.begin);
    if (span.end < span.begin + f.flag_bits || is_encrypted(&f, clear, size_bytes, &span)) {
        return 0;
    }
    size_t from = span.begin + f.flag_bits;
    size_t bits = span.end - from;
    size_t plain_bytes = ue_bits_bytes(bits + f.has_terminator);
    plain_bytes = (plain_bytes + f.block_bytes - 1) / f.block_bytes * f.block_bytes;
    size_t out_end = f.cipher + plain_bytes * 8 + f.after_bits;
    memset(out, 0, out_end / 8 + 1);
    if (!begin_encrypting(encryption, context, random, &f, plain_bytes, out) ||
        !encrypt(encryption, &f, clear, from, bits, plain_bytes, out) || !write_tag(encryption, &f, out_end, out)) {
        return 0;
    }
    ue_bits_copy(out, 0, clear, 0, span.begin);
    if (f.flag_bits == 1) {
        put_one(out, span.begin);
    }
    put_one(out, out_end);
    return out_end / 8 + 1;
}

/* ---- decryption ---- */

static bool decrypt(const struct ue_encryption *encryption, const uint8_t *bytes, size_t from, size_t plain_bytes,
                    uint8_t *out, size_t to) {
    for (size_t at = 0; at < plain_bytes; at += CHUNK_BYTES) {
        uint8_t chunk[CHUNK_BYTES] = {0};
        size_t count = plain_bytes - at < CHUNK_BYTES ? plain_bytes - at : CHUNK_BYTES;
        ue_bits_copy(chunk, 0, bytes, from + at * 8, count * 8);
        if (gcry_cipher_decrypt(encryption->handle, chunk, count, NULL, 0) != 0) {
            return false;
        }
        ue_bits_copy(out, to + at * 8, chunk, 0, count * 8);
    }
    return true;
}

static bool begin_decrypting(const struct ue_encryption *encryption, const struct ue_context *context,
                             const struct encrypted_form *f, const uint8_t *bytes, size_t size_bytes,
                             size_t plain_bytes) {
    uint8_t record[RECORD_HEAD_BYTES + RECORD_NONCE_BYTES] = {0};
    uint8_t iv[UE_AES_IV_BYTES] = {0};
    if (f->record != SIZE_MAX) {
        ue_bits_copy(record, 0, bytes, f->record, sizeof record * 8);
        return ue_bits_load(bytes, size_bytes, f->record - 1, 1) == 0 &&
               begin_record(encryption->handle, context->direction, record, plain_bytes);
    }
    if (f->iv == SIZE_MAX) {
        return true;
    }
    ue_bits_copy(iv, 0, bytes, f->iv, sizeof iv * 8);
    return gcry_cipher_setiv(encryption->handle, iv, sizeof iv) == 0;
}

static bool check_tag(const struct ue_encryption *encryption, const struct encrypted_form *f, const uint8_t *bytes,
                      size_t end) {
    uint8_t tag[UE_AES_TAG_BYTES] = {0};
    size_t at = tag_at(f, end);
    if (at == SIZE_MAX) {
        return true;
    }
    ue_bits_copy(tag, 0, bytes, at, sizeof tag * 8);
    return gcry_cipher_checktag(encryption->handle, tag, sizeof tag) == 0;
}

/* The plaintext's own terminator becomes the datagram's; the byte form has none, and the datagram gets one. */
static size_t finish(const struct encrypted_form *f, uint8_t *out, size_t begin, size_t end) {
    size_t terminator;
    if (!f->has_terminator) {
        put_one(out, end);
        return end / 8 + 1;
    }
    size_t last = f->block_bytes * 8;
    return ue_bits_last_set(out, end - last > begin ? end - last : begin, end, &terminator) ? terminator / 8 + 1 : 0;
}

static size_t decrypt_span(const struct ue_encryption *encryption, const struct ue_context *context,
                           const uint8_t *bytes, size_t size_bytes, const struct ue_handler_span *span, uint8_t *out) {
    const struct encrypted_form f = form_of(encryption->handler, span->begin);
    size_t to = span->begin + f.flag_bits;
    size_t least = f.cipher + f.after_bits + 8;
    if (span->end < least || (span->end - f.cipher) % (8 * f.block_bytes) != 0) {
        return 0;
    }
    size_t plain_bytes = (span->end - f.cipher - f.after_bits) / 8;
    memset(out, 0, size_bytes);
    if (!begin_decrypting(encryption, context, &f, bytes, size_bytes, plain_bytes) ||
        !decrypt(encryption, bytes, f.cipher, plain_bytes, out, to) || !check_tag(encryption, &f, bytes, span->end)) {
        return 0;
    }
    ue_bits_copy(out, 0, bytes, 0, span->begin);
    return finish(&f, out, to, to + plain_bytes * 8);
}

size_t ue_encryption_decrypt(struct ue_encryption *encryption, const struct ue_context *context, const uint8_t *bytes,
                             size_t size_bytes, uint8_t *out, bool *was_clear) {
    struct ue_handler_span span;
    *was_clear = false;
    if (!ue_handler_span_find(context, encryption->handler, bytes, size_bytes, &span)) {
        return 0;
    }
    const struct encrypted_form f = form_of(encryption->handler, span.begin);
    if (!span.is_handshake && is_encrypted(&f, bytes, size_bytes, &span)) {
        return decrypt_span(encryption, context, bytes, size_bytes, &span, out);
    }
    *was_clear = true;
    memcpy(out, bytes, size_bytes);
    return size_bytes;
}

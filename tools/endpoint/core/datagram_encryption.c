/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/datagram_encryption.h"

#include <gcrypt.h>

#include <uerudp/endpoint.h>

#define SEAL_BITS ((UE_AES_IV_BYTES + UE_AES_TAG_BYTES) * 8)
#define CHUNK_BYTES 512 /* whole AES blocks */

/* The handle of libgcrypt itself, under a name that needs no gcrypt.h. */
struct ue_encryption;

static gcry_cipher_hd_t handle_of(struct ue_encryption *encryption) {
    return (gcry_cipher_hd_t)(void *)encryption;
}

struct ue_encryption *ue_encryption_new(const uint8_t *key) {
    gcry_cipher_hd_t handle;
    if (gcry_cipher_open(&handle, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0) != 0) {
        return NULL;
    }
    if (gcry_cipher_setkey(handle, key, UE_KEY_BYTES) != 0) {
        gcry_cipher_close(handle);
        return NULL;
    }
    return (struct ue_encryption *)(void *)handle;
}

void ue_encryption_free(struct ue_encryption *encryption) {
    gcry_cipher_close(handle_of(encryption)); /* ignores NULL */
}

/* A datagram in its parts: prefix, flag, content, terminator. */
struct span {
    bool is_handshake;
    bool is_encrypted;
    size_t flag; /* bit of the handler's flag: the prefix ends here */
    size_t end;  /* bit of the outer terminator */
};

static bool find_span(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes, struct span *f) {
    f->flag = (size_t)x->settings.skip_bytes * 8 + x->settings.magic_bits + (x->ids ? 5 : 0) + 1;
    if (size_bytes == 0 || !ue_bits_last_set(bytes, (size_bytes - 1) * 8, size_bytes * 8, &f->end) ||
        f->end < f->flag) {
        return false;
    }
    f->is_handshake = ue_bits_load(bytes, size_bytes, f->flag - 1, 1) != 0;
    if (f->is_handshake) {
        f->is_encrypted = false;
        return true;
    }
    f->is_encrypted = f->end > f->flag && ue_bits_load(bytes, size_bytes, f->flag, 1) != 0;
    return f->end > f->flag && x->settings.handlers[0] == UE_HANDLER_AESGCM;
}

static void put_one(uint8_t *bytes, size_t bit) {
    bytes[bit / 8] |= (uint8_t)(1u << (bit % 8));
}

/* Encrypts the content and its terminator chunk by chunk, because it begins inside a byte both here and there. */
static bool encrypt(gcry_cipher_hd_t handle, const uint8_t *clear, size_t from, size_t end, uint8_t *out, size_t to) {
    bool more = true;
    while (more) {
        uint8_t chunk[CHUNK_BYTES] = {0};
        size_t bits = end - from < sizeof chunk * 8 ? end - from : sizeof chunk * 8;
        more = bits == sizeof chunk * 8;
        ue_bits_copy(chunk, 0, clear, from, bits);
        if (!more) {
            put_one(chunk, bits);
        }
        size_t bytes = more ? sizeof chunk : bits / 8 + 1;
        if (gcry_cipher_encrypt(handle, chunk, bytes, NULL, 0) != 0) {
            return false;
        }
        ue_bits_copy(out, to, chunk, 0, bytes * 8);
        from += bits;
        to += bytes * 8;
    }
    return true;
}

size_t ue_encryption_encrypt(struct ue_encryption *encryption, const struct ue_context *context,
                             struct ue_random *random, const uint8_t *clear, size_t size_bytes, uint8_t *out) {
    struct span f;
    if (!find_span(context, clear, size_bytes, &f) || f.is_handshake || f.is_encrypted) {
        return 0;
    }
    size_t content = f.end - (f.flag + 1);
    size_t cipher = f.flag + 1 + SEAL_BITS;
    size_t end = cipher + (content / 8 + 1) * 8;
    size_t out_bytes = end / 8 + 1;
    uint8_t iv[UE_AES_IV_BYTES];
    uint8_t tag[UE_AES_TAG_BYTES];
    gcry_cipher_hd_t handle = handle_of(encryption);
    memset(out, 0, out_bytes);
    ue_random_fill(random, iv, sizeof iv);
    if (gcry_cipher_setiv(handle, iv, sizeof iv) != 0 || !encrypt(handle, clear, f.flag + 1, f.end, out, cipher) ||
        gcry_cipher_gettag(handle, tag, sizeof tag) != 0) {
        return 0;
    }
    ue_bits_copy(out, 0, clear, 0, f.flag);
    put_one(out, f.flag);
    ue_bits_copy(out, f.flag + 1, iv, 0, sizeof iv * 8);
    ue_bits_copy(out, f.flag + 1 + sizeof iv * 8, tag, 0, sizeof tag * 8);
    put_one(out, end);
    return out_bytes;
}

static bool decrypt(gcry_cipher_hd_t handle, const uint8_t *encrypted, size_t from, size_t end, uint8_t *out,
                    size_t to) {
    while (from < end) {
        uint8_t chunk[CHUNK_BYTES];
        size_t bits = end - from < sizeof chunk * 8 ? end - from : sizeof chunk * 8;
        ue_bits_copy(chunk, 0, encrypted, from, bits);
        if (gcry_cipher_decrypt(handle, chunk, bits / 8, NULL, 0) != 0) {
            return false;
        }
        ue_bits_copy(out, to, chunk, 0, bits);
        from += bits;
        to += bits;
    }
    return true;
}

/* The last plain byte has the component's terminator, which becomes the datagram's own. */
static size_t cut_to_terminator(const uint8_t *out, size_t end) {
    size_t terminator;
    return ue_bits_last_set(out, end - 8, end, &terminator) ? terminator / 8 + 1 : 0;
}

static size_t decrypt_span(struct ue_encryption *encryption, const struct span *f, const uint8_t *bytes,
                           size_t size_bytes, uint8_t *out) {
    size_t begin = f->flag + 1;
    size_t cipher = begin + SEAL_BITS;
    if (f->end < cipher + 8 || (f->end - cipher) % 8 != 0) {
        return 0;
    }
    size_t end = begin + (f->end - cipher);
    uint8_t iv[UE_AES_IV_BYTES] = {0};
    uint8_t tag[UE_AES_TAG_BYTES] = {0};
    gcry_cipher_hd_t handle = handle_of(encryption);
    ue_bits_copy(iv, 0, bytes, begin, sizeof iv * 8);
    ue_bits_copy(tag, 0, bytes, begin + sizeof iv * 8, sizeof tag * 8);
    memset(out, 0, size_bytes);
    if (gcry_cipher_setiv(handle, iv, sizeof iv) != 0 || !decrypt(handle, bytes, cipher, f->end, out, begin) ||
        gcry_cipher_checktag(handle, tag, sizeof tag) != 0) {
        return 0;
    }
    ue_bits_copy(out, 0, bytes, 0, f->flag);
    return cut_to_terminator(out, end);
}

size_t ue_encryption_decrypt(struct ue_encryption *encryption, const struct ue_context *context, const uint8_t *bytes,
                             size_t size_bytes, uint8_t *out, bool *was_clear) {
    struct span f;
    *was_clear = false;
    if (!find_span(context, bytes, size_bytes, &f)) {
        return 0;
    }
    if (f.is_encrypted) {
        return decrypt_span(encryption, &f, bytes, size_bytes, out);
    }
    *was_clear = true;
    memcpy(out, bytes, size_bytes);
    return size_bytes;
}

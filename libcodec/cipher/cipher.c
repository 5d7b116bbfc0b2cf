/* SPDX-License-Identifier: MIT */
#include "libcodec/cipher/cipher.h"

#include <gcrypt.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN_BYTES_MAX 65536
#define KEY_DIGITS (2 * UE_CIPHER_KEY_BYTES)
#define AES_BLOCK_BYTES 16

struct ue_cipher {
    gcry_cipher_hd_t gcm;
    gcry_cipher_hd_t ecb;
    uint8_t keys[UE_CIPHER_KEYS_MAX][UE_CIPHER_KEY_BYTES];
    size_t key_count;
    uint8_t sealed[PLAIN_BYTES_MAX];
    uint8_t plain[PLAIN_BYTES_MAX];
    size_t plain_bytes;
    const uint8_t *key; /* that gave them */
};

static bool initialise(void) {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0) {
        return true;
    }
    if (gcry_check_version(NULL) == NULL) {
        return false;
    }
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return true;
}

struct ue_cipher *ue_cipher_new(void) {
    struct ue_cipher *cipher = initialise() ? calloc(1, sizeof *cipher) : NULL;
    if (cipher == NULL) {
        return NULL;
    }
    if (gcry_cipher_open(&cipher->gcm, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0) != 0 ||
        gcry_cipher_open(&cipher->ecb, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_ECB, 0) != 0) {
        ue_cipher_free(cipher);
        return NULL;
    }
    return cipher;
}

void ue_cipher_free(struct ue_cipher *cipher) {
    if (cipher == NULL) {
        return;
    }
    gcry_cipher_close(cipher->gcm);
    gcry_cipher_close(cipher->ecb);
    free(cipher);
}

static int digit_value(char digit) {
    const char *const digits = "0123456789abcdef0123456789ABCDEF";
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;
    return found != NULL ? (int)((found - digits) & 15) : -1;
}

bool ue_cipher_add_key(struct ue_cipher *cipher, const char *hex) {
    if (strlen(hex) != KEY_DIGITS || cipher->key_count == UE_CIPHER_KEYS_MAX) {
        return false;
    }
    uint8_t *key = cipher->keys[cipher->key_count];
    for (size_t i = 0; i < UE_CIPHER_KEY_BYTES; i++) {
        int high = digit_value(hex[2 * i]);
        int low = digit_value(hex[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        key[i] = (uint8_t)(high << 4 | low);
    }
    cipher->key_count++;
    return true;
}

/* A line as it was read: an empty one has its end, and one that begins with a zero byte is no text. */
static bool add_line(struct ue_cipher *cipher, char *line, const char **problem) {
    bool is_text = line[0] != '\0';
    line[strcspn(line, "\r\n")] = '\0';
    if (is_text && (line[0] == '\0' || line[0] == '#')) {
        return true;
    }
    if (!ue_cipher_add_key(cipher, line)) {
        *problem = "a line of the key file is not a key of 64 hexadecimal digits, or there are too many keys";
        return false;
    }
    return true;
}

bool ue_cipher_add(struct ue_cipher *cipher, const char *key_or_file, const char **problem) {
    if (ue_cipher_add_key(cipher, key_or_file)) {
        return true;
    }
    FILE *file = fopen(key_or_file, "r");
    if (file == NULL) {
        *problem = "neither a key of 64 hexadecimal digits nor a file that can be read";
        return false;
    }
    char line[KEY_DIGITS + 64];
    bool ok = true;
    while (ok && fgets(line, sizeof line, file) != NULL) {
        ok = add_line(cipher, line, problem);
    }
    fclose(file);
    return ok;
}

static bool open_gcm(struct ue_cipher *cipher, const uint8_t *key, const struct ue_sealed *sealed, size_t bytes) {
    return gcry_cipher_setkey(cipher->gcm, key, UE_CIPHER_KEY_BYTES) == 0 &&
           gcry_cipher_setiv(cipher->gcm, sealed->iv, UE_AES_IV_BYTES) == 0 &&
           gcry_cipher_decrypt(cipher->gcm, cipher->plain, bytes, cipher->sealed, bytes) == 0 &&
           gcry_cipher_checktag(cipher->gcm, sealed->tag, UE_AES_TAG_BYTES) == 0;
}

static bool open_ecb(struct ue_cipher *cipher, const uint8_t *key, size_t bytes) {
    size_t terminator;
    return bytes % AES_BLOCK_BYTES == 0 && gcry_cipher_setkey(cipher->ecb, key, UE_CIPHER_KEY_BYTES) == 0 &&
           gcry_cipher_decrypt(cipher->ecb, cipher->plain, bytes, cipher->sealed, bytes) == 0 &&
           ue_bits_last_set(cipher->plain, 0, bytes * 8, &terminator);
}

static bool open_with(struct ue_cipher *cipher, const uint8_t *key, const struct ue_sealed *sealed, size_t bytes) {
    switch (sealed->handler) {
    case UE_HANDLER_AESGCM:
    case UE_HANDLER_AESGCM_BYTES: return open_gcm(cipher, key, sealed, bytes);
    case UE_HANDLER_AES_ECB: return open_ecb(cipher, key, bytes);
    default: return false;
    }
}

static bool open_sealed(void *user, const struct ue_sealed *sealed, const uint8_t **plain, size_t *plain_bytes) {
    struct ue_cipher *cipher = user;
    size_t bytes = sealed->ciphertext.bits / 8;
    if (sealed->ciphertext.bits % 8 != 0 || bytes == 0 || bytes > PLAIN_BYTES_MAX) {
        return false;
    }
    ue_view_copy(sealed->ciphertext, cipher->sealed);
    for (size_t i = 0; i < cipher->key_count; i++) {
        if (open_with(cipher, cipher->keys[i], sealed, bytes)) {
            cipher->plain_bytes = bytes;
            cipher->key = cipher->keys[i];
            *plain = cipher->plain;
            *plain_bytes = bytes;
            return true;
        }
    }
    return false;
}

void ue_cipher_opener(struct ue_cipher *cipher, struct ue_opener *opener) {
    *opener = (struct ue_opener){open_sealed, cipher};
}

const uint8_t *ue_cipher_key(const struct ue_cipher *cipher) {
    return cipher->key;
}

const uint8_t *ue_cipher_plain(const struct ue_cipher *cipher, size_t *bytes) {
    *bytes = cipher->plain_bytes;
    return cipher->plain;
}

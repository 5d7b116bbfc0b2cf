/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/key.h"

#ifdef UE_HAS_CIPHER

#include "libcodec/cipher/cipher.h"

static struct ue_cipher *cipher;
static struct ue_opener opener;

bool ue_key_set(const char *text, const char **problem) {
    ue_cipher_free(cipher);
    cipher = NULL;
    if (text == NULL || *text == '\0') {
        return true;
    }
    *problem = "libgcrypt is not usable";
    cipher = ue_cipher_new();
    if (cipher == NULL) {
        return false;
    }
    if (!ue_cipher_add(cipher, text, problem)) {
        ue_cipher_free(cipher);
        cipher = NULL;
        return false;
    }
    ue_cipher_opener(cipher, &opener);
    return true;
}

const struct ue_opener *ue_key_opener(void) {
    return cipher != NULL ? &opener : NULL;
}

const uint8_t *ue_key_plain(size_t *bytes) {
    return ue_cipher_plain(cipher, bytes);
}

#else

bool ue_key_set(const char *text, const char **problem) {
    *problem = "this plugin was built without libgcrypt";
    return text == NULL || *text == '\0';
}

const struct ue_opener *ue_key_opener(void) {
    return NULL;
}

const uint8_t *ue_key_plain(size_t *bytes) {
    *bytes = 0;
    return NULL;
}

#endif

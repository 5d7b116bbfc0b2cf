/* SPDX-License-Identifier: MIT */
/* Decryption of AES-GCM and AES-ECB content with the user's keys (protocol.md 13). An optional library of its own,
   because it needs libgcrypt. */
#ifndef UERUDP_LIBCODEC_CIPHER_AES_DECRYPTION_H
#define UERUDP_LIBCODEC_CIPHER_AES_DECRYPTION_H

#include <uerudp/handlers.h>
#include <uerudp/observer.h>
#include "libcodec/cipher/key_log_file.h"

/* A set of keys, and the plaintext of the last successful decryption. One thread at a time. */
struct ue_cipher;

/* Creates a cipher without keys; NULL when libgcrypt cannot be initialised or there is no memory. Free it with
   ue_cipher_free. */
struct ue_cipher *ue_cipher_new(void);
void ue_cipher_free(struct ue_cipher *cipher);

void ue_cipher_clear(struct ue_cipher *cipher); /* removes all keys */

/* Adds a key of 64 hexadecimal digits. Returns false for any other text, and when there are UE_KEYS_MAX keys. */
bool ue_cipher_add_key(struct ue_cipher *cipher, const char *hex);

/* Adds the value of the setting `key`: a key in hexadecimal, or the path of a key log, which is read again when a
   packet cannot be decrypted. Returns false and sets *problem to a static phrase when it is neither. */
bool ue_cipher_add(struct ue_cipher *cipher, const char *key_or_file, const char **problem);

/* Adds a row of a table of keys. origin: the place of the row, for display. Errors as ue_cipher_add. */
bool ue_cipher_add_row(struct ue_cipher *cipher, const struct ue_key_row *row, const char *origin,
                       const char **problem);

/* Fills a decryptor that tries every key. AES-GCM accepts the key whose tag matches; AES-ECB, which has no tag, accepts
   the first key whose plaintext contains a terminator. The plaintext is valid until the next call of the decryptor. */
void ue_cipher_decryptor(struct ue_cipher *cipher, struct ue_decryptor *decryptor);

#define UE_HELLO_BYTES 2048

/* A Hello that comes in fragments, as far as it was read. */
struct ue_hello_fragments {
    bool is_begun;
    uint32_t next_ch_seq; /* of the next fragment, as on the wire */
    size_t bits;
    uint8_t bytes[UE_HELLO_BYTES];
};

/* The state of decryption for one connection. */
struct ue_cipher_session {
    struct ue_decryptor decryptor; /* for the settings of this connection; must be first */
    struct ue_cipher *cipher;
    struct ue_key_endpoint ends[2];
    bool is_learning;           /* reads key logs again that may have grown */
    bool has_token;             /* Hello was read */
    char token[UE_TOKEN_BYTES]; /* empty: Hello had none */
    size_t tried;               /* number of keys tried for the last encrypted packet */
    size_t last;                /* index of the key of the last packet that was decrypted */
    struct ue_hello_fragments hello;
};

/* Decrypts with the keys for one connection, or, when session is NULL, with all keys. */
bool ue_cipher_decrypt(struct ue_cipher *cipher, struct ue_cipher_session *session,
                       const struct ue_ciphertext *ciphertext, struct ue_plaintext *plaintext);

/* Encrypts plaintext that replaces the last one decrypted, of the same size, with its key and handler. iv
   (UE_AES_IV_BYTES; not used by AES-ECB) holds the old IV and receives the new one, a hash of key, old IV and
   plaintext: different plaintexts get different IVs, and equal input gives equal output. tag receives UE_AES_TAG_BYTES
   (AES-GCM). Returns false when nothing was decrypted, when size_bytes differs, or when libgcrypt fails. */
bool ue_cipher_encrypt(struct ue_cipher *cipher, const uint8_t *plain, size_t size_bytes, uint8_t *iv, uint8_t *tag,
                       uint8_t *ciphertext);

/* The key of the last decryption; NULL before the first. */
const uint8_t *ue_cipher_key(const struct ue_cipher *cipher);

/* The plaintext of the last decryption; sets *bytes to its size, 0 before the first. */
const uint8_t *ue_cipher_plain(const struct ue_cipher *cipher, size_t *bytes);

/* Fills the decryption of an observer: each connection whose settings have a component that a cipher can decrypt gets a
   struct ue_cipher_session, whose first member is its decryptor. The cipher must outlive the observer. */
void ue_cipher_decryption(struct ue_cipher *cipher, struct ue_decryption *decryption);

#endif

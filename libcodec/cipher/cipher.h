/* SPDX-License-Identifier: MIT */
/* Optional companion of the library: opens AES-GCM and AES-ECB content with keys that the user has (protocol.md 13).
   It needs libgcrypt; the library itself needs nothing. */
#ifndef UERUDP_LIBCODEC_CIPHER_CIPHER_H
#define UERUDP_LIBCODEC_CIPHER_CIPHER_H

#include <uerudp/handlers.h>
#include "libcodec/cipher/keys.h"

/* Keys, and the plain bytes of the last success. Not for several threads at once. */
struct ue_cipher;

/* A cipher without keys; NULL when libgcrypt cannot be initialised or memory is short. Free it with ue_cipher_free. */
struct ue_cipher *ue_cipher_new(void);
void ue_cipher_free(struct ue_cipher *cipher);

void ue_cipher_clear(struct ue_cipher *cipher); /* all keys */

/* Adds one key of 64 hexadecimal digits; false when the text is something else or UE_KEYS_MAX are there. */
bool ue_cipher_add_key(struct ue_cipher *cipher, const char *hex);

/* What the setting `key` holds: a key in hexadecimal, or the name of a key log, which is looked into again when a
   packet cannot be opened. False with a static sentence in *problem. */
bool ue_cipher_add(struct ue_cipher *cipher, const char *key_or_file, const char **problem);

/* Adds one row of a table; origin says where it stands. */
bool ue_cipher_add_row(struct ue_cipher *cipher, const struct ue_key_row *row, const char *origin,
                       const char **problem);

/* Fills an opener that tries every key; AES-GCM accepts the one whose tag matches, AES-ECB, which has no tag, the first
   whose plain bytes hold a terminator. The plain bytes stay valid until the next call of the opener. */
void ue_cipher_decryptor(struct ue_cipher *cipher, struct ue_decryptor *decryptor);

struct ue_cipher_session;

/* The same with the keys for one session; NULL: with all. */
bool ue_cipher_decrypt(struct ue_cipher *cipher, struct ue_cipher_session *session, const struct ue_ciphertext *sealed,
                    struct ue_plaintext *opened);

/* Encrypts other content in the place of the last that was opened, with its key and handler: as many bytes. iv
   (UE_AES_IV_BYTES; not used by AES-ECB) holds that of the old content and gets a new one, which follows from key, old
   one and content: no two contents share one, and equal input gives equal output. tag: UE_AES_TAG_BYTES, of AES-GCM.
   False when nothing was opened, when size_bytes is another number, or when libgcrypt fails. */
bool ue_cipher_encrypt(struct ue_cipher *cipher, const uint8_t *plain, size_t size_bytes, uint8_t *iv, uint8_t *tag,
                     uint8_t *ciphertext);

/* The key of the last success; NULL before the first. */
const uint8_t *ue_cipher_key(const struct ue_cipher *cipher);

/* The plain bytes of the last success; 0 bytes before the first. */
const uint8_t *ue_cipher_plain(const struct ue_cipher *cipher, size_t *bytes);

#endif

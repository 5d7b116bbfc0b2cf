/* SPDX-License-Identifier: MIT */
/* The cipher session of one connection: its endpoints and the token of its Hello, which select the keys to try
   (protocol.md 12, 13). */
#ifndef UERUDP_LIBCODEC_CIPHER_CONNECTION_KEYS_H
#define UERUDP_LIBCODEC_CIPHER_CONNECTION_KEYS_H

#include <uerudp/observer.h>

#include "libcodec/cipher/aes_decryption.h"

/* Fills the decryption of an observer: each connection whose settings have a component that a cipher can decrypt gets a
   struct ue_cipher_session, whose first member is its decryptor. The cipher must outlive the observer. */
void ue_cipher_decryption(struct ue_cipher *cipher, struct ue_decryption *decryption);

#endif

/* SPDX-License-Identifier: MIT */
/* AES-GCM encryption of whole datagrams in the bit form (protocol.md 13). It must be the context's outermost handler;
   the output of the other handlers is encrypted with the packet. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_DATAGRAM_ENCRYPTION_H
#define UERUDP_TOOLS_ENDPOINT_CORE_DATAGRAM_ENCRYPTION_H

#include <uerudp/datagram.h>
#include "tools/endpoint/base/seeded_random.h"

struct ue_encryption;

/* key: UE_KEY_BYTES. NULL: libgcrypt failed. Free it with ue_encryption_free. */
struct ue_encryption *ue_encryption_new(const uint8_t *key);
void ue_encryption_free(struct ue_encryption *encryption);

#define UE_ENCRYPTION_OVERHEAD_BYTES 30

/* Encrypts what follows the handler's flag. out: space for size_bytes + UE_ENCRYPTION_OVERHEAD_BYTES. Returns the size
   in bytes; 0: not a clear datagram with a packet. */
size_t ue_encryption_encrypt(struct ue_encryption *encryption, const struct ue_context *context,
                             struct ue_random *random, const uint8_t *clear, size_t size_bytes, uint8_t *out);

/* Decrypts to the exact bits that ue_encryption_encrypt encrypted. out: space for size_bytes, undefined on failure.
   Returns the size in bytes; 0: not encrypted with this key, or damaged. *was_clear: not encrypted, or a handshake:
   copied unchanged. */
size_t ue_encryption_decrypt(struct ue_encryption *encryption, const struct ue_context *context, const uint8_t *bytes,
                             size_t size_bytes, uint8_t *out, bool *was_clear);

#endif

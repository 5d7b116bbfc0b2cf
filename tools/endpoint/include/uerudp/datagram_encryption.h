/* SPDX-License-Identifier: MIT */
/* AES-GCM of whole datagrams in the bit form (protocol.md 13): turns a clear datagram into an encrypted one and back.
   The handler must be the context's outermost; what the others wrote is encrypted with the packet. */
#ifndef UERUDP_DATAGRAM_ENCRYPTION_H
#define UERUDP_DATAGRAM_ENCRYPTION_H

#include <uerudp/datagram.h>
#include <uerudp/seeded_random.h>

struct ue_encryption;

/* key: UE_KEY_BYTES. NULL when libgcrypt fails; free it with ue_encryption_free. */
struct ue_encryption *ue_encryption_new(const uint8_t *key);
void ue_encryption_free(struct ue_encryption *seal);

#define UE_ENCRYPTION_OVERHEAD_BYTES 30

/* Encrypts what follows the handler's flag. out: room for size_bytes + UE_ENCRYPTION_OVERHEAD_BYTES. 0: not a clear datagram
   with a packet. */
size_t ue_encryption_encrypt(struct ue_encryption *seal, const struct ue_context *context, struct ue_random *random,
                     const uint8_t *clear, size_t size_bytes, uint8_t *out);

/* Restores the clear datagram, bit by bit what ue_encryption_encrypt was given; out: room for size_bytes, undefined on failure.
   0: not encrypted with this key, or damaged. *was_clear: it was not encrypted, or is a handshake: then copied as is.
 */
size_t ue_encryption_decrypt(struct ue_encryption *seal, const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                    uint8_t *out, bool *was_clear);

#endif

/* SPDX-License-Identifier: MIT */
/* AES-GCM of whole datagrams in the bit form (protocol.md 13): turns a clear datagram into an encrypted one and back.
   The handler must be the context's outermost; what the others wrote is encrypted with the packet. */
#ifndef UERUDP_DATAGRAM_ENCRYPTION_H
#define UERUDP_DATAGRAM_ENCRYPTION_H

#include <uerudp/datagram.h>
#include <uerudp/seeded_random.h>

struct ue_seal;

/* key: UE_KEY_BYTES. NULL when libgcrypt fails; free it with ue_seal_free. */
struct ue_seal *ue_seal_new(const uint8_t *key);
void ue_seal_free(struct ue_seal *seal);

#define UE_SEAL_OVERHEAD_BYTES 30

/* Encrypts what follows the handler's flag. out: room for size_bytes + UE_SEAL_OVERHEAD_BYTES. 0: not a clear datagram
   with a packet. */
size_t ue_seal_close(struct ue_seal *seal, const struct ue_context *context, struct ue_random *random,
                     const uint8_t *clear, size_t size_bytes, uint8_t *out);

/* Restores the clear datagram, bit by bit what ue_seal_close was given; out: room for size_bytes, undefined on failure.
   0: not encrypted with this key, or damaged. *was_clear: it was not encrypted, or is a handshake: then copied as is.
 */
size_t ue_seal_open(struct ue_seal *seal, const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                    uint8_t *out, bool *was_clear);

#endif

/* SPDX-License-Identifier: MIT */
/* Packets that the component oodle marks as compressed (protocol.md 13). Oodle needs the dictionaries of a game, which
   this endpoint does not have: its compressed data are runs of zeros, which only its own endpoints can read. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_DATAGRAM_COMPRESSION_H
#define UERUDP_TOOLS_ENDPOINT_CORE_DATAGRAM_COMPRESSION_H

#include <uerudp/datagram.h>

#define UE_COMPRESSION_OVERHEAD_BYTES 4

/* Compresses what follows the component's flag. out: space for size_bytes + UE_COMPRESSION_OVERHEAD_BYTES. Returns the
   size in bytes; 0: not a clear packet with the component, or it would not be smaller, so that it travels unchanged. */
size_t ue_compression_compress(const struct ue_context *context, const uint8_t *clear, size_t size_bytes, uint8_t *out);

/* Bytes that a decompressed datagram of this size can have. */
size_t ue_compression_room_bytes(const struct ue_context *context, size_t size_bytes);

/* Decompresses to the datagram that was compressed. out: space for ue_compression_room_bytes. Returns the size in
   bytes; 0: not compressed, or in a way that this endpoint does not know. */
size_t ue_compression_decompress(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 uint8_t *out);

#endif

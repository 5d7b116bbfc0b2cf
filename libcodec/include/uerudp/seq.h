/* SPDX-License-Identifier: MIT */
/* Arithmetic of sequence numbers that wrap: 14-bit packet sequences and 10-bit channel sequences (protocol.md 15).
   `seq` is the number on the wire, `packet_id` the full number that never wraps. */
#ifndef UERUDP_SEQ_H
#define UERUDP_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_PACKET_SEQ_BITS 14
#define UE_PACKET_SEQ_MAX (UINT32_C(1) << UE_PACKET_SEQ_BITS)

/* The wire sequence of a packet id. */
static inline uint16_t ue_seq_of(int64_t packet_id) {
    return (uint16_t)((uint64_t)packet_id & (UE_PACKET_SEQ_MAX - 1));
}

/* a - b as the nearest signed distance, -max/2 .. max/2 - 1; max is a power of two. */
static inline int32_t ue_seq_difference(uint32_t a, uint32_t b, uint32_t max) {
    return (int32_t)((a - b + max / 2) & (max - 1)) - (int32_t)(max / 2);
}

/* Whether packet sequence a is newer than b. Sequences that are exactly 8192 apart are not newer than each other. */
static inline bool ue_seq_newer(uint32_t a, uint32_t b) {
    return ue_seq_difference(a, b, UE_PACKET_SEQ_MAX) > 0;
}

/* The full number nearest to reference whose wire sequence is seq (MakeRelative); max is a power of two. */
static inline int64_t ue_seq_expand(uint32_t seq, int64_t reference, uint32_t max) {
    return reference + ue_seq_difference(seq, (uint32_t)reference & (max - 1), max);
}

/* The packet id to show to users. A capture that begins in the middle of a connection can yield ids below zero, before
   the first wrap; these are shown as their wire sequence. */
static inline uint64_t ue_seq_display(int64_t packet_id) {
    return packet_id < 0 ? ue_seq_of(packet_id) : (uint64_t)packet_id;
}

#ifdef __cplusplus
}
#endif

#endif

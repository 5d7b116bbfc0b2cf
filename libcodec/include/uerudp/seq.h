/* SPDX-License-Identifier: MIT */
/* Arithmetic of sequence numbers that wrap: 14-bit packet and 10-bit channel sequences (protocol.md 15). */
#ifndef UERUDP_SEQ_H
#define UERUDP_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#define UE_PACKET_SEQ_BITS 14
#define UE_PACKET_SEQ_MAX (UINT32_C(1) << UE_PACKET_SEQ_BITS)

/* The wire form of a full packet number. */
static inline uint16_t ue_seq_of(int64_t packet_id) {
    return (uint16_t)((uint64_t)packet_id & (UE_PACKET_SEQ_MAX - 1));
}

/* a - b as the nearest signed distance, -max/2 .. max/2 - 1; max is a power of two. */
static inline int32_t ue_seq_difference(uint32_t a, uint32_t b, uint32_t max) {
    return (int32_t)((a - b + max / 2) & (max - 1)) - (int32_t)(max / 2);
}

/* Whether packet sequence a is newer than b; the exact opposite (8192 apart) is not newer. */
static inline bool ue_seq_newer(uint32_t a, uint32_t b) {
    return ue_seq_difference(a, b, UE_PACKET_SEQ_MAX) > 0;
}

/* The full number nearest to reference whose wire form is seq (the engine's MakeRelative); max is a power of two. */
static inline int64_t ue_seq_expand(uint32_t seq, int64_t reference, uint32_t max) {
    return reference + ue_seq_difference(seq, (uint32_t)reference & (max - 1), max);
}

/* What a full packet number is called. Those below zero come before the first turn, in captures that begin in the
   middle of it, and are called as on the wire. */
static inline uint64_t ue_seq_display(int64_t packet_id) {
    return packet_id < 0 ? ue_seq_of(packet_id) : (uint64_t)packet_id;
}

#endif

/* SPDX-License-Identifier: MIT */
/* A bit for each of the latest packet ids of a direction. An id has the place of the one UE_ID_BITS before it: the user
   clears the bits of new ids, and asks only for ids that are not older. */
#ifndef UERUDP_LIBCODEC_BASE_ID_BITS_H
#define UERUDP_LIBCODEC_BASE_ID_BITS_H

#include <uerudp/bits.h>

#define UE_ID_BITS 1024

struct ue_id_bits {
    uint64_t words[UE_ID_BITS / 64];
};

/* An id may be negative: a packet before the first one of the capture. */
UE_INLINE void ue_id_bits_set(struct ue_id_bits *bits, int64_t id, bool value) {
    uint64_t *word = &bits->words[(uint64_t)id % UE_ID_BITS / 64];
    unsigned bit = (uint64_t)id % 64;
    *word = (*word & ~(UINT64_C(1) << bit)) | (uint64_t)value << bit;
}

UE_INLINE bool ue_id_bits_is_set(const struct ue_id_bits *bits, int64_t id) {
    return (bits->words[(uint64_t)id % UE_ID_BITS / 64] >> (uint64_t)id % 64 & 1) != 0;
}

#endif

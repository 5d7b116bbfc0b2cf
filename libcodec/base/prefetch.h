/* SPDX-License-Identifier: MIT */
/* Cache prefetch. */
#ifndef UERUDP_LIBCODEC_BASE_PREFETCH_H
#define UERUDP_LIBCODEC_BASE_PREFETCH_H

#include <uerudp/bits.h>

/* The address may be invalid or NULL. */
UE_INLINE void ue_prefetch(const void *address) {
    __builtin_prefetch(address);
    /* gcc treats a function that only prefetches as free of side effects and removes calls to it. */
    __asm__ volatile("");
}

#endif

/* SPDX-License-Identifier: MIT */
/* Sending for memory some time before it is used. */
#ifndef UERUDP_LIBCODEC_BASE_PREFETCH_H
#define UERUDP_LIBCODEC_BASE_PREFETCH_H

#include <uerudp/bits.h>

/* Any address will do, also NULL. */
UE_INLINE void ue_prefetch(const void *address) {
    __builtin_prefetch(address);
    /* To gcc a function that does nothing else has no effect, so that it would leave out the calls of it. */
    __asm__ volatile("");
}

#endif

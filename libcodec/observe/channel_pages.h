/* SPDX-License-Identifier: MIT */
/* What is remembered of each channel of a connection, in pages of neighbours: there is one where one of them
   occurs. Senders take the lowest index that is free, so that most connections need few. */
#ifndef UERUDP_LIBCODEC_OBSERVE_CHANNEL_PAGES_H
#define UERUDP_LIBCODEC_OBSERVE_CHANNEL_PAGES_H

#include <uerudp/bunch.h>
#include "libcodec/base/memory_limit.h"

#define UE_CHANNEL_PAGE_ENTRIES 16

/* Zeroed: empty. */
struct ue_channel_pages {
    void **pages;
    uint32_t count; /* a power of two, or 0 */
};

/* The entry of a channel; NULL: there is none. */
UE_INLINE void *ue_channel_pages_find(const struct ue_channel_pages *pages, uint32_t channel, size_t entry_bytes) {
    uint32_t index = channel / UE_CHANNEL_PAGE_ENTRIES;
    char *page = index < pages->count ? pages->pages[index] : NULL;
    return page != NULL ? page + channel % UE_CHANNEL_PAGE_ENTRIES * entry_bytes : NULL;
}

/* The entry of a channel that has none, made of zeros; NULL: no memory, or an index that no engine uses. */
void *ue_channel_pages_add(struct ue_channel_pages *pages, struct ue_limited_allocator *budget, uint32_t channel,
                           size_t entry_bytes);

/* The entry of a channel, made where it is missing; NULL: it cannot be. */
UE_INLINE void *ue_channel_pages_ensure(struct ue_channel_pages *pages, struct ue_limited_allocator *budget, uint32_t channel,
                                      size_t entry_bytes) {
    void *entry = ue_channel_pages_find(pages, channel, entry_bytes);
    return entry != NULL ? entry : ue_channel_pages_add(pages, budget, channel, entry_bytes);
}

void ue_channel_pages_free(struct ue_channel_pages *pages, struct ue_limited_allocator *budget, size_t entry_bytes);

#endif

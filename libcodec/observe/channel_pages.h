/* SPDX-License-Identifier: MIT */
/* A table of entries by channel index, in pages of neighbouring channels. A page is allocated when one of its
   channels occurs. Senders use the lowest free index, so that most connections need few pages. */
#ifndef UERUDP_LIBCODEC_OBSERVE_CHANNEL_PAGES_H
#define UERUDP_LIBCODEC_OBSERVE_CHANNEL_PAGES_H

#include <uerudp/bunch.h>
#include "libcodec/base/memory_limit.h"

#define UE_CHANNEL_PAGE_ENTRIES 16

/* A zeroed struct is an empty table. */
struct ue_channel_pages {
    void **pages;
    uint32_t count; /* a power of two, or 0 */
};

/* The entry of a channel; NULL when there is none. */
UE_INLINE void *ue_channel_pages_find(const struct ue_channel_pages *pages, uint32_t channel, size_t entry_bytes) {
    uint32_t index = channel / UE_CHANNEL_PAGE_ENTRIES;
    char *page = index < pages->count ? pages->pages[index] : NULL;
    return page != NULL ? page + channel % UE_CHANNEL_PAGE_ENTRIES * entry_bytes : NULL;
}

/* Adds a zeroed entry for a channel that has none; NULL when there is no memory, or no engine uses the index. */
void *ue_channel_pages_add(struct ue_channel_pages *pages, struct ue_limited_allocator *memory, uint32_t channel,
                           size_t entry_bytes);

/* Finds or adds the entry of a channel; NULL as ue_channel_pages_add. */
UE_INLINE void *ue_channel_pages_ensure(struct ue_channel_pages *pages, struct ue_limited_allocator *memory,
                                        uint32_t channel, size_t entry_bytes) {
    void *entry = ue_channel_pages_find(pages, channel, entry_bytes);
    return entry != NULL ? entry : ue_channel_pages_add(pages, memory, channel, entry_bytes);
}

void ue_channel_pages_free(struct ue_channel_pages *pages, struct ue_limited_allocator *memory, size_t entry_bytes);

#endif

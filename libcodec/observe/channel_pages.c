/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/channel_pages.h"

#include <string.h>

/* Grows the array of pages to include an index. Returns false when there is no memory. */
static bool grow(struct ue_channel_pages *pages, struct ue_limited_allocator *memory, uint32_t index) {
    uint32_t count = pages->count != 0 ? pages->count : 1;
    while (count <= index) {
        count *= 2;
    }
    if (count == pages->count) {
        return true;
    }
    void **grown = ue_limited_allocator_resize(memory, pages->pages, pages->count * sizeof *pages->pages,
                                               count * sizeof *pages->pages);
    if (grown == NULL) {
        return false;
    }
    memset(grown + pages->count, 0, (count - pages->count) * sizeof *grown);
    *pages = (struct ue_channel_pages){grown, count};
    return true;
}

void *ue_channel_pages_add(struct ue_channel_pages *pages, struct ue_limited_allocator *memory, uint32_t channel,
                           size_t entry_bytes) {
    uint32_t index = channel / UE_CHANNEL_PAGE_ENTRIES;
    const size_t page_bytes = UE_CHANNEL_PAGE_ENTRIES * entry_bytes;
    if (channel > UE_CHANNEL_MAX || !grow(pages, memory, index)) {
        return NULL;
    }
    void *page = pages->pages[index] = ue_limited_allocator_resize(memory, NULL, 0, page_bytes);
    if (page == NULL) {
        return NULL;
    }
    memset(page, 0, page_bytes);
    return ue_channel_pages_find(pages, channel, entry_bytes);
}

void ue_channel_pages_free(struct ue_channel_pages *pages, struct ue_limited_allocator *memory, size_t entry_bytes) {
    for (uint32_t i = 0; i < pages->count; i++) {
        if (pages->pages[i] != NULL) {
            ue_limited_allocator_resize(memory, pages->pages[i], UE_CHANNEL_PAGE_ENTRIES * entry_bytes, 0);
        }
    }
    if (pages->count != 0) {
        ue_limited_allocator_resize(memory, pages->pages, pages->count * sizeof *pages->pages, 0);
    }
    *pages = (struct ue_channel_pages){0};
}

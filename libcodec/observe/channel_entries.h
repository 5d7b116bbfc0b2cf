/* SPDX-License-Identifier: MIT */
/* A table of entries by channel index. It has an entry only for channels that occur. */
#ifndef UERUDP_LIBCODEC_OBSERVE_CHANNEL_ENTRIES_H
#define UERUDP_LIBCODEC_OBSERVE_CHANNEL_ENTRIES_H

#include <string.h>

#include <uerudp/bunch.h>
#include "libcodec/base/memory_limit.h"

/* A zeroed struct is an empty table. */
struct ue_channel_entries {
    void *entries;    /* in the order of their first use */
    uint16_t *places; /* of each channel: the number of its entry, plus 1; 0: none */
    uint32_t count, capacity;
    uint32_t channels; /* that have a place; a power of two, or 0 */
};

/* The entry of a channel; NULL when there is none. It is valid until an entry is added. */
UE_INLINE void *ue_channel_entries_find(const struct ue_channel_entries *table, uint32_t channel, size_t entry_bytes) {
    uint32_t place = channel < table->channels ? table->places[channel] : 0;
    return place != 0 ? (char *)table->entries + (place - 1) * entry_bytes : NULL;
}

/* Allocates memory for the entry of a channel that has none. Returns false when there is no memory, or no engine uses
   the index. */
bool ue_channel_entries_grow(struct ue_channel_entries *table, struct ue_limited_allocator *memory, uint32_t channel,
                             size_t entry_bytes);

/* Adds a zeroed entry for a channel that has none; NULL as ue_channel_entries_grow. Inline: entry_bytes is
   constant. */
UE_INLINE void *ue_channel_entries_add(struct ue_channel_entries *table, struct ue_limited_allocator *memory,
                                       uint32_t channel, size_t entry_bytes) {
    bool has_memory = table->entries != NULL && channel < table->channels && table->count < table->capacity;
    if (!has_memory && !ue_channel_entries_grow(table, memory, channel, entry_bytes)) {
        return NULL;
    }
    void *entry = (char *)table->entries + table->count * entry_bytes;
    table->places[channel] = (uint16_t)++table->count;
    return memset(entry, 0, entry_bytes);
}

/* Finds or adds the entry of a channel; NULL as ue_channel_entries_add. */
UE_INLINE void *ue_channel_entries_ensure(struct ue_channel_entries *table, struct ue_limited_allocator *memory,
                                          uint32_t channel, size_t entry_bytes) {
    void *entry = ue_channel_entries_find(table, channel, entry_bytes);
    return entry != NULL ? entry : ue_channel_entries_add(table, memory, channel, entry_bytes);
}

void ue_channel_entries_clear(struct ue_channel_entries *table, struct ue_limited_allocator *memory,
                              size_t entry_bytes);

#endif

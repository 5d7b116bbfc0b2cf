/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/channel_entries.h"

#include <string.h>

#define CAPACITY_MIN 8
#define CHANNELS_MIN 16

_Static_assert(UE_CHANNEL_MAX < UINT16_MAX, "the number of an entry fits a place");

/* Gives each channel up to this one a place. Returns false when there is no memory. */
static bool grow_places(struct ue_channel_entries *table, struct ue_limited_allocator *memory, uint32_t channel) {
    uint32_t former = table->channels;
    uint32_t channels = former != 0 ? former : CHANNELS_MIN;
    while (channels <= channel) {
        channels *= 2;
    }
    uint16_t *grown =
        ue_limited_allocator_resize(memory, table->places, former * sizeof *grown, channels * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    memset(grown + former, 0, (channels - former) * sizeof *grown);
    table->places = grown;
    table->channels = channels;
    return true;
}

static bool grow_entries(struct ue_channel_entries *table, struct ue_limited_allocator *memory, size_t entry_bytes) {
    uint32_t capacity = table->capacity != 0 ? 2 * table->capacity : CAPACITY_MIN;
    void *grown =
        ue_limited_allocator_resize(memory, table->entries, table->capacity * entry_bytes, capacity * entry_bytes);
    if (grown == NULL) {
        return false;
    }
    table->entries = grown;
    table->capacity = capacity;
    return true;
}

/* Not inline: most entries need no memory, nor the registers for this. */
__attribute__((noinline)) bool ue_channel_entries_grow(struct ue_channel_entries *table,
                                                       struct ue_limited_allocator *memory, uint32_t channel,
                                                       size_t entry_bytes) {
    return channel <= UE_CHANNEL_MAX && (channel < table->channels || grow_places(table, memory, channel)) &&
           (table->count < table->capacity || grow_entries(table, memory, entry_bytes));
}

void ue_channel_entries_clear(struct ue_channel_entries *table, struct ue_limited_allocator *memory,
                              size_t entry_bytes) {
    if (table->channels != 0) {
        ue_limited_allocator_resize(memory, table->places, table->channels * sizeof *table->places, 0);
    }
    if (table->capacity != 0) {
        ue_limited_allocator_resize(memory, table->entries, table->capacity * entry_bytes, 0);
    }
    *table = (struct ue_channel_entries){0};
}

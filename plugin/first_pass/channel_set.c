/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/channel_set.h"

#include <string.h>

static bool grow(struct uerudp_channel_set *set, const struct ue_allocator *memory, uint32_t channel) {
    uint32_t needed = channel / 8 + 1;
    uint32_t size = needed > 2 * set->size_bytes ? needed : 2 * set->size_bytes;
    uint8_t *bits = memory->resize(memory->user, set->bits, size);
    if (bits == NULL) {
        return false;
    }
    memset(bits + set->size_bytes, 0, size - set->size_bytes);
    *set = (struct uerudp_channel_set){bits, size};
    return true;
}

size_t uerudp_channel_set_add(struct uerudp_channel_set *set, const struct ue_allocator *memory, uint32_t channel) {
    uint32_t before = set->size_bytes;
    if (channel <= UE_CHANNEL_MAX && (channel / 8 < set->size_bytes || grow(set, memory, channel))) {
        set->bits[channel / 8] |= (uint8_t)(1u << channel % 8);
    }
    return set->size_bytes - before;
}

static bool has(const struct uerudp_channel_set *set, uint32_t channel) {
    return (set->bits[channel / 8] >> channel % 8 & 1) != 0;
}

bool uerudp_channel_set_find(const struct uerudp_channel_set *set, uint32_t channel, bool up_to, uint32_t *found) {
    uint32_t end = set->size_bytes * 8;
    uint32_t i = up_to && channel >= end ? end - 1 : channel;
    while (i < end && !has(set, i)) {
        i += up_to ? -1u : 1u; /* an index below 0 wraps to a large one */
    }
    if (i >= end) {
        return false;
    }
    *found = i;
    return true;
}

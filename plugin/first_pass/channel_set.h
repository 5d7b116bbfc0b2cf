/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of channel indices, one bit each. A zeroed set is empty. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_CHANNEL_SET_H
#define UERUDP_PLUGIN_FIRST_PASS_CHANNEL_SET_H

#include <uerudp/bunch.h>
#include <uerudp/packet_tracker.h>

struct uerudp_channel_set {
    uint8_t *bits;
    uint32_t size_bytes;
};

/* Returns the number of bytes by which the set grew. Ignores a channel above UE_CHANNEL_MAX and a failed allocation. */
size_t uerudp_channel_set_add(struct uerudp_channel_set *set, const struct ue_allocator *memory, uint32_t channel);

/* The nearest member at or below (up_to), or at or above a channel. false: none, and *found is unchanged. */
bool uerudp_channel_set_find(const struct uerudp_channel_set *set, uint32_t channel, bool up_to, uint32_t *found);

#endif

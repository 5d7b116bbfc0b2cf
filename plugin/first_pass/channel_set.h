/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of channels, a bit for each. Zeroed it is empty. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_CHANNEL_SET_H
#define UERUDP_PLUGIN_FIRST_PASS_CHANNEL_SET_H

#include <uerudp/bunch.h>
#include <uerudp/packet_tracker.h>

struct uerudp_channel_set {
    uint8_t *bits;
    uint32_t size_bytes;
};

/* Gives back by how many bytes the set grew. A channel beyond UE_CHANNEL_MAX, or for which there is no memory, is left
   out. */
size_t uerudp_channel_set_add(struct uerudp_channel_set *set, const struct ue_allocator *memory, uint32_t channel);

/* The nearest member up to, or from, a channel; false: there is none, and nothing is written. */
bool uerudp_channel_set_find(const struct uerudp_channel_set *set, uint32_t channel, bool up_to, uint32_t *found);

#endif

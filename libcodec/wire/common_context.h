/* SPDX-License-Identifier: MIT */
/* The context of the fast path. */
#ifndef UERUDP_LIBCODEC_WIRE_COMMON_CONTEXT_H
#define UERUDP_LIBCODEC_WIRE_COMMON_CONTEXT_H

#include <uerudp/bits.h>
#include <uerudp/profile.h>

/* Copies what layouts read from a context with is_common. Stores of the caller cannot alias the copy, and the compiler
   sees which members are constant. */
UE_INLINE struct ue_context ue_common_context(const struct ue_context *x) {
    enum ue_packet_layout packet = x->profile.packet;
    if (packet == UE_PACKET_LEGACY) {
        __builtin_unreachable();
    }
    return (struct ue_context){
        .profile = {.packet = packet,
                    .channel = UE_CHANNEL_PACKED,
                    .paused = true,
                    .custom_exports = x->profile.custom_exports},
        .settings = {.magic_bits = x->settings.magic_bits, .terminators = 2},
        .direction = x->direction,
        .ids = x->ids,
        .data_length = x->data_length,
        .ch_seq = x->ch_seq,
    };
}

#endif

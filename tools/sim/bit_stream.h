/* SPDX-License-Identifier: MIT */
/* Bits one after the other, as the simulator says and hears what stands inside bunches. It writes them by
   hand, so that the codec is held against something else than itself. */
#ifndef UERUDP_TOOLS_SIM_BIT_STREAM_H
#define UERUDP_TOOLS_SIM_BIT_STREAM_H

#include <uerudp/bits.h>

/* Appends to bytes that have room for all that is to be written. */
struct ue_bit_writer {
    uint8_t *bytes;
    size_t bits;
};

void ue_bit_put(struct ue_bit_writer *w, uint64_t value, unsigned bits);
void ue_bit_put_view(struct ue_bit_writer *w, struct ue_view view);
void ue_bit_put_packed(struct ue_bit_writer *w, uint64_t value); /* SerializeIntPacked (protocol.md 2.4) */
void ue_bit_put_text(struct ue_bit_writer *w, const char *text); /* FString of one byte per character */
size_t ue_bit_packed_bits(uint64_t value);                       /* what put_packed writes */

/* Take from the front of data; false: it is too short, or says something else. */
bool ue_bit_take(struct ue_view *data, unsigned bits, uint64_t *value);
bool ue_bit_take_packed(struct ue_view *data, uint64_t *value);
bool ue_bit_take_view(struct ue_view *data, uint64_t bits, struct ue_view *view);
bool ue_bit_take_same(struct ue_view *data, const struct ue_bit_writer *expected);

#endif

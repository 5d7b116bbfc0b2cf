/* SPDX-License-Identifier: MIT */
/* Writes and reads the bits inside bunches. The simulator has its own code for this, so that a mistake of the codec
   does not hide itself. */
#ifndef UERUDP_TOOLS_SIM_BIT_STREAM_H
#define UERUDP_TOOLS_SIM_BIT_STREAM_H

#include <uerudp/bits.h>

/* Appends to bytes, which have room for everything that is written. */
struct sim_bit_writer {
    uint8_t *bytes;
    size_t bits;
};

void sim_bits_write(struct sim_bit_writer *w, uint64_t value, unsigned bits);
void sim_bits_write_view(struct sim_bit_writer *w, struct ue_view view);
void sim_bits_write_text(struct sim_bit_writer *w, const char *text); /* FString of one byte per character */

/* Read from the front of data. False: data is too short, or differs from what is expected. */
bool sim_bits_read_view(struct ue_view *data, uint64_t bits, struct ue_view *view);
bool sim_bits_read_expected(struct ue_view *data, const struct sim_bit_writer *expected);

#endif

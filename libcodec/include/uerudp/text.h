/* SPDX-License-Identifier: MIT */
/* Engine texts as characters, and as UTF-8 (protocol.md 2.5). */
#ifndef UERUDP_TEXT_H
#define UERUDP_TEXT_H

#include <uerudp/trace.h>

UE_INLINE size_t ue_text_units(struct ue_text text) {
    return text.units.bits / (text.wide ? 16 : 8);
}

/* The character at a unit that the text has, and moves behind it; half a character alone gives U+FFFD. */
uint32_t ue_text_read_character(struct ue_text text, size_t *unit);

/* Writes a character below 0x200000 as UTF-8; returns its length. */
size_t ue_utf8_write(uint32_t character, char bytes[4]);

/* Writes a text as UTF-8 with NUL, cut at a whole character where it is longer than the room, and at a NUL inside; what
   is no character becomes U+FFFD. Returns its length. size_bytes at least 1. */
size_t ue_text_to_utf8(struct ue_text text, char *utf8, size_t size_bytes);

#endif

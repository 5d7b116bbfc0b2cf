/* SPDX-License-Identifier: MIT */
/* Conversion of engine strings (FString, protocol.md 2.5) to Unicode characters and UTF-8. */
#ifndef UERUDP_TEXT_H
#define UERUDP_TEXT_H

#include <uerudp/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of 8-bit or 16-bit units of a text. */
UE_INLINE size_t ue_text_units(struct ue_text text) {
    return text.units.bits / (text.wide ? 16 : 8);
}

/* Returns the character at *unit, which must be below ue_text_units, and advances *unit past it. An unpaired surrogate
   gives U+FFFD. */
uint32_t ue_text_read_character(struct ue_text text, size_t *unit);

/* Writes a character below 0x200000 as UTF-8; returns its length. */
size_t ue_utf8_write(uint32_t character, char bytes[4]);

/* Writes a text as NUL-terminated UTF-8 to a buffer of size_bytes (at least 1) and returns its length. The result is
   cut at a character boundary when the buffer is too small, and at the first NUL inside the text. An unpaired
   surrogate becomes U+FFFD. */
size_t ue_text_to_utf8(struct ue_text text, char *utf8, size_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Writes texts to a buffer of a given size. */
#ifndef UERUDP_LIBCODEC_BASE_TEXT_WRITER_H
#define UERUDP_LIBCODEC_BASE_TEXT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fill text and size_bytes (at least 1). */
struct ue_text_writer {
    char *text;
    size_t size_bytes, length;
    bool is_full;
    bool is_cut; /* within a character of UTF-8 */
};

void ue_text_writer_add_bytes(struct ue_text_writer *out, const char *bytes, size_t count);
void ue_text_writer_add(struct ue_text_writer *out, const char *text);
void ue_text_writer_add_unsigned(struct ue_text_writer *out, uint64_t number);
void ue_text_writer_add_signed(struct ue_text_writer *out, int64_t number);

/* "0x0000abcd" */
void ue_text_writer_add_hex(struct ue_text_writer *out, uint32_t number);

/* Ends the text with NUL, if it is full after the last whole character. Returns its length. */
size_t ue_text_writer_finish(struct ue_text_writer *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text buffer of fixed size for labels and lines. printf takes ten times as long, and every field of a visible tree
   needs a label. */
#ifndef UERUDP_PLUGIN_TREE_LABEL_TEXT_H
#define UERUDP_PLUGIN_TREE_LABEL_TEXT_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <uerudp/trace.h>

#define UERUDP_LABEL_TEXT_MAX 199
#define UERUDP_LABEL_TEXT_SHORT 32

/* Initialise length with 0. Text that does not fit is cut off. There is room for SHORT bytes after the longest text. */
struct uerudp_label_text {
    size_t length;
    char text[UERUDP_LABEL_TEXT_MAX + 1 + UERUDP_LABEL_TEXT_SHORT];
};

/* Inline, so that the compiler knows the length of a literal. */
static inline void uerudp_label_text_add_bytes(struct uerudp_label_text *out, const char *text, size_t length) {
    if (length > UERUDP_LABEL_TEXT_MAX - out->length) {
        length = UERUDP_LABEL_TEXT_MAX - out->length;
    }
    memcpy(out->text + out->length, text, length);
    out->length += length;
    out->text[out->length] = '\0';
}

/* Appends the first characters of a buffer of UERUDP_LABEL_TEXT_SHORT bytes. Always copies the whole buffer: four
   instructions, where a copy of variable length takes thirty. */
static inline void uerudp_label_text_add_short(struct uerudp_label_text *out, const char *text, size_t length) {
    size_t room = UERUDP_LABEL_TEXT_MAX - out->length;
    memcpy(out->text + out->length, text, UERUDP_LABEL_TEXT_SHORT);
    out->length += length < room ? length : room;
    out->text[out->length] = '\0';
}

/* Most texts are short. */
static inline void uerudp_label_text_join(struct uerudp_label_text *out, const struct uerudp_label_text *other) {
    if (other->length <= UERUDP_LABEL_TEXT_SHORT) {
        uerudp_label_text_add_short(out, other->text, other->length);
    } else {
        uerudp_label_text_add_bytes(out, other->text, other->length);
    }
}

static inline void uerudp_label_text_add(struct uerudp_label_text *out, const char *text) {
    uerudp_label_text_add_bytes(out, text, strlen(text));
}

/* Replaces each byte of a control character (C0, DEL, and C1 in UTF-8) with a question mark, so that text from the wire
   cannot break a line or control a terminal. Returns the text. */
char *uerudp_label_text_mask_controls(char *text);

void uerudp_label_text_add_number(struct uerudp_label_text *out, uint64_t number);
void uerudp_label_text_add_hex(struct uerudp_label_text *out, uint32_t number); /* eight digits */

/* The value of a TEXT or STRING record in UTF-8, allocated in pool. */
const char *uerudp_label_text_of_record(wmem_allocator_t *pool, const struct ue_record *record);
/* The same with control characters masked, for one line. */
const char *uerudp_label_text_name_of_record(wmem_allocator_t *pool, const struct ue_record *record);

#endif

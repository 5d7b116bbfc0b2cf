/* SPDX-License-Identifier: MIT */
#include <uerudp/text.h>

#define REPLACEMENT 0xfffdu

static uint32_t unit_at(struct ue_text text, size_t unit) {
    unsigned width = text.wide ? 16 : 8;
    return (uint32_t)ue_view_load(text.units, unit * width, width);
}

uint32_t ue_text_read_character(struct ue_text text, size_t *unit) {
    uint32_t first = unit_at(text, (*unit)++);
    if (first < 0xd800 || first >= 0xe000) {
        return first;
    }
    uint32_t second = *unit < ue_text_units(text) ? unit_at(text, *unit) : 0;
    if (first >= 0xdc00 || second < 0xdc00 || second >= 0xe000) {
        return REPLACEMENT;
    }
    ++*unit;
    return 0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00));
}

size_t ue_utf8_write(uint32_t character, char bytes[4]) {
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = count; i-- > 1; character >>= 6) {
        bytes[i] = (char)(0x80 | (character & 0x3f));
    }
    bytes[0] = (char)(lead[count] | character);
    return count;
}

size_t ue_text_to_utf8(struct ue_text text, char *utf8, size_t size_bytes) {
    size_t units = ue_text_units(text);
    size_t length = 0;
    for (size_t unit = 0; unit < units;) {
        char bytes[4];
        uint32_t character = ue_text_read_character(text, &unit);
        size_t count = ue_utf8_write(character, bytes);
        if (character == 0 || length + count >= size_bytes) {
            break;
        }
        memcpy(utf8 + length, bytes, count);
        length += count;
    }
    utf8[length] = 0;
    return length;
}

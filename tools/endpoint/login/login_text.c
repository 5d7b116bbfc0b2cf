/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/login/login_text.h"

#include <string.h>

#define REPLACEMENT 0xfffdu
#define FLAG_PADDED 4u

/* Reads one character and moves behind it; one byte where it is malformed. */
static uint32_t read_character(const char **utf8) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *in = (const uint8_t *)*utf8;
    size_t count = in[0] < 0x80 ? 1 : in[0] >> 5 == 6 ? 2 : in[0] >> 4 == 14 ? 3 : in[0] >> 3 == 30 ? 4 : 0;
    uint32_t character = count == 1 ? in[0] : in[0] & (0x7fu >> count);
    (*utf8)++;
    for (size_t i = 1; i < count; i++) {
        if (in[i] >> 6 != 2) {
            return REPLACEMENT;
        }
        character = character << 6 | (in[i] & 0x3fu);
    }
    bool is_half = character >= 0xd800 && character < 0xe000;
    if (count == 0 || character < least[count] || character > 0x10ffff || is_half) {
        return REPLACEMENT;
    }
    *utf8 += count - 1;
    return character;
}

static bool is_ascii(const char *utf8) {
    for (; *utf8 != 0; utf8++) {
        if ((uint8_t)*utf8 >= 0x80) {
            return false;
        }
    }
    return true;
}

static size_t put_unit(uint8_t *units, uint32_t unit) {
    units[0] = (uint8_t)unit;
    units[1] = (uint8_t)(unit >> 8);
    return 2;
}

struct ue_text ue_text_from_utf8(const char *utf8, uint8_t *units) {
    size_t size = 0;
    if (utf8 == NULL || is_ascii(utf8)) {
        size = utf8 == NULL ? 0 : strlen(utf8);
        if (size != 0) {
            memcpy(units, utf8, size);
        }
        return (struct ue_text){{units, 0, size * 8}, false};
    }
    while (*utf8 != 0) {
        uint32_t character = read_character(&utf8);
        if (character >= 0x10000) {
            size += put_unit(units + size, 0xd800 + ((character - 0x10000) >> 10));
            character = 0xdc00 + (character & 0x3ff);
        }
        size += put_unit(units + size, character);
    }
    return (struct ue_text){{units, 0, size * 8}, true};
}

void ue_unique_id_to_utf8(const struct ue_unique_id *id, char *utf8, size_t size_bytes) {
    static const char digits[] = "0123456789abcdef";
    if (id->bytes.bits == 0) {
        ue_text_to_utf8(id->text, utf8, size_bytes);
        return;
    }
    bool is_padded = (id->flags & FLAG_PADDED) != 0 && id->flags >> 3 != UE_UNIQUE_ID_HASH_V2;
    size_t count = 0;
    for (size_t i = is_padded; i < id->bytes.bits / 4 && count + 1 < size_bytes; i++) {
        utf8[count++] = digits[ue_view_load(id->bytes, i / 2 * 8 + (i % 2 == 0 ? 4 : 0), 4)];
    }
    utf8[count] = 0;
}

/* endpoint.md 32.4. */
bool ue_login_is_close_reason(const char *text) {
    size_t names = 1;
    for (; *text != 0; text++) {
        bool is_letter = (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z');
        if (!is_letter && !(*text >= '0' && *text <= '9') && *text != '_' && *text != ',') {
            return false;
        }
        names += *text == ',';
    }
    return names < UE_LOGIN_CLOSE_NAMES_MAX;
}

void ue_login_copy_text(char *to, const char *from, size_t size_bytes) {
    const char *end = memchr(from, 0, size_bytes - 1);
    size_t length = end != NULL ? (size_t)(end - from) : size_bytes - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

/* "?Name=<player><options>" */
void ue_login_write_url(const struct ue_login_config *config, char *url) {
    static const char prefix[] = "?Name=";
    url[0] = 0;
    if (config->player != NULL) {
        strcpy(url, prefix);
        strcat(url, config->player);
    }
    if (config->url != NULL) {
        strcat(url, config->url);
    }
}

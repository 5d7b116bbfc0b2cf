/* SPDX-License-Identifier: MIT */
#include "tools/input/json_value_conversion.h"

#include "tools/cli/command_line.h"

void *input_arena_alloc(struct input_arena *arena, size_t bytes) {
    void *block = g_malloc0(bytes + 1);
    if (arena->blocks == NULL) {
        arena->blocks = g_ptr_array_new_with_free_func(g_free);
    }
    g_ptr_array_add(arena->blocks, block);
    return block;
}

void input_arena_clear(struct input_arena *arena) {
    g_clear_pointer(&arena->blocks, g_ptr_array_unref);
}

/* 64-bit numbers above 2^53 are strings. */
static bool number_of(const json_t *value, uint64_t max, uint64_t *number) {
    if (json_is_integer(value)) {
        json_int_t integer = json_integer_value(value);
        *number = (uint64_t)integer;
        return integer >= 0 && (uint64_t)integer <= max;
    }
    return json_is_string(value) && cli_parse_number(json_string_value(value), max, number);
}

static const char *unsigned_value(const json_t *value, uint64_t max, const char *what, struct ue_record *record) {
    return number_of(value, max, &record->number) ? NULL : what;
}

static const char *signed_value(const json_t *value, struct ue_record *record) {
    json_int_t integer = json_integer_value(value);
    if (!json_is_integer(value) || integer < INT32_MIN || integer > INT32_MAX) {
        return "must be a number from -2147483648 to 2147483647";
    }
    record->number = (uint32_t)(int32_t)integer;
    return NULL;
}

static const char *bool_value(const json_t *value, struct ue_record *record) {
    record->number = json_is_true(value);
    return json_is_boolean(value) ? NULL : "must be true or false";
}

static const char *real_value(const json_t *value, struct ue_record *record) {
    double number = json_number_value(value);
    if (record->bits == 32) {
        float narrow = (float)number;
        uint32_t raw;
        memcpy(&raw, &narrow, sizeof raw);
        record->number = raw;
    } else {
        memcpy(&record->number, &number, sizeof record->number);
    }
    return json_is_number(value) ? NULL : "must be a number";
}

const char *input_json_raw_real(const json_t *value, struct ue_record *record) {
    const char *text = json_string_value(value);
    guint64 raw;
    bool good = text != NULL && strlen(text) == record->bits / 4 &&
                g_ascii_string_to_unsigned(text, 16, 0, G_MAXUINT64, &raw, NULL);
    record->number = good ? raw : 0;
    return good ? NULL : "must be 16 hex digits, or 8 where the field has 32 bits";
}

const char *input_json_bytes(const json_t *value, struct input_arena *arena, struct ue_view *view) {
    const char *text = json_string_value(value);
    size_t digits = text != NULL ? json_string_length(value) : 1;
    if (digits % 2 != 0) {
        return "must be a string of hex digits, two per byte";
    }
    uint8_t *bytes = input_arena_alloc(arena, digits / 2);
    for (size_t i = 0; i < digits; i++) {
        int digit = g_ascii_xdigit_value(text[i]);
        if (digit < 0) {
            return "must be a string of hex digits, two per byte";
        }
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | digit);
    }
    *view = (struct ue_view){bytes, 0, digits * 4};
    return NULL;
}

static const char *text_value(const json_t *value, struct input_arena *arena, struct ue_text *text) {
    if (!json_is_string(value)) {
        return "must be a string";
    }
    const char *from = json_string_value(value);
    size_t length = json_string_length(value);
    text->wide = false;
    for (size_t i = 0; i < length; i++) {
        text->wide |= (from[i] & 0x80) != 0;
    }
    uint8_t *units = input_arena_alloc(arena, length * 2); /* UTF-16 needs at most twice the bytes of UTF-8 */
    if (!text->wide) {
        memcpy(units, from, length);
        text->units = (struct ue_view){units, 0, length * 8};
        return NULL;
    }
    size_t count = 0;
    for (const char *at = from; at < from + length; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        bool pair = character >= 0x10000;
        uint32_t high = pair ? 0xd800 + ((character - 0x10000) >> 10) : character;
        units[2 * count] = (uint8_t)high;
        units[2 * count++ + 1] = (uint8_t)(high >> 8);
        if (pair) {
            uint32_t low = 0xdc00 + (character & 0x3ff);
            units[2 * count] = (uint8_t)low;
            units[2 * count++ + 1] = (uint8_t)(low >> 8);
        }
    }
    text->units = (struct ue_view){units, 0, count * 16};
    return NULL;
}

const char *input_json_value(const json_t *value, struct input_arena *arena, struct ue_record *record) {
    switch (ue_field_row(record->field)->kind) {
    case UE_KIND_BOOL: return bool_value(value, record);
    case UE_KIND_U8: return unsigned_value(value, UINT8_MAX, "must be a number from 0 to 255", record);
    case UE_KIND_U16: return unsigned_value(value, UINT16_MAX, "must be a number from 0 to 65535", record);
    case UE_KIND_U32:
    case UE_KIND_X32: return unsigned_value(value, UINT32_MAX, "must be a number from 0 to 4294967295", record);
    case UE_KIND_U64: return unsigned_value(value, UINT64_MAX, "must be a number, as a string above 2^53", record);
    case UE_KIND_I32: return signed_value(value, record);
    case UE_KIND_REAL: return real_value(value, record);
    case UE_KIND_BYTES: return input_json_bytes(value, arena, &record->text.units);
    case UE_KIND_TEXT: return text_value(value, arena, &record->text);
    case UE_KIND_STRING:
    case UE_KIND_FRAME:
    case UE_KIND_SPAN:
    case UE_KIND_FLAG:
    case UE_KIND_FINDING: break; /* not a kind of a record */
    }
    return "cannot be written";
}

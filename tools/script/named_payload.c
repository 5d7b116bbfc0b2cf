/* SPDX-License-Identifier: MIT */
#include "tools/script/named_payload.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t type;
} messages[] = {
#define UE_MESSAGE(number, id, text) {text, number},
#define UE_PARAM(message, name, kind)
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

/* Long payloads continue with bytes that depend on their place and are no letters. */
#define PATTERN_BEGIN 64

static uint8_t pattern(size_t place) {
    return (uint8_t)(128 + place % 127);
}

/* ---- writing ---- */

/* False: no message has that name, or it does not fit. */
static bool make_message(const struct ue_context *x, const char *name, uint8_t *bytes, size_t room_bytes,
                         size_t *bits) {
    for (size_t i = 0; i < G_N_ELEMENTS(messages); i++) {
        struct ue_message message = {.type = messages[i].type};
        struct ue_fault fault;
        int params = ue_message_params(x, message.type);
        if (!script_token_is(name, messages[i].name) || params < 0) {
            continue;
        }
        message.param_count = (uint8_t)params;
        message.unique_id.flags = message.type == UE_MESSAGE_LOGIN ? UE_UNIQUE_ID_ENCODED | UE_UNIQUE_ID_EMPTY : 0;
        message.params[0].number = message.type == UE_MESSAGE_HELLO; /* UE_HELLO_LITTLE_ENDIAN */
        *bits = 0;
        return ue_message_encode(x, &message, bytes, room_bytes, bits, &fault) == UE_OK;
    }
    return false;
}

static bool make_hex(const char *digits, uint8_t *bytes, size_t room_bytes, size_t *bits, struct script_error *error) {
    size_t count = strlen(digits) / 2;
    if (strlen(digits) % 2 != 0 || count > room_bytes) {
        return script_error_set(error, digits, "bytes are pairs of hex digits, at most %zu", room_bytes);
    }
    for (size_t i = 0; i < count; i++) {
        int high = g_ascii_xdigit_value(digits[2 * i]);
        int low = g_ascii_xdigit_value(digits[2 * i + 1]);
        if (high < 0 || low < 0) {
            return script_error_set(error, digits + 2 * i, "\"%.2s\" is not a pair of hex digits", digits + 2 * i);
        }
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    *bits = count * 8;
    return true;
}

static void make_letters(const char *name, uint8_t *bytes, size_t bits) {
    size_t length = strlen(name) * 8 <= bits ? strlen(name) : bits / 8;
    memset(bytes, 0, ue_bits_bytes(bits));
    if (script_token_is(name, "-")) {
        return;
    }
    memcpy(bytes, name, length);
    for (size_t i = PATTERN_BEGIN; i < bits / 8; i++) {
        bytes[i] = pattern(i);
    }
}

bool script_payload_write(struct script_payload_buffer *payloads, const struct ue_context *x, uint32_t channel,
                          const char *name, uint64_t bits, struct ue_view *view, struct script_error *error) {
    uint8_t *bytes = payloads->bytes + payloads->used_bytes;
    size_t room_bytes = sizeof payloads->bytes - payloads->used_bytes;
    size_t made_bits = (size_t)bits;
    bool is_hex = strncmp(name, "0x", 2) == 0;
    if (bits > 8 * room_bytes) {
        return script_error_set(error, name, "payloads may have only %zu more bits", 8 * room_bytes);
    }
    if (is_hex && !make_hex(name + 2, bytes, room_bytes, &made_bits, error)) {
        return false;
    }
    if (!is_hex && (channel != 0 || !make_message(x, name, bytes, room_bytes, &made_bits))) {
        make_letters(name, bytes, made_bits);
    }
    *view = (struct ue_view){bytes, 0, made_bits};
    payloads->used_bytes += ue_bits_bytes(made_bits);
    return true;
}

bool script_payload_is_intact(struct ue_view payload) {
    size_t i = PATTERN_BEGIN;
    while (i < payload.bits / 8 && ue_view_load(payload, 8 * i, 8) == pattern(i)) {
        i++;
    }
    return i >= payload.bits / 8;
}

/* ---- naming ---- */

#define NAME_BYTES_MAX 200 /* of a payload; a longer one ends with "~" */

/* Whether a letter may appear in a token. */
static bool is_plain(uint64_t letter) {
    return letter >= '!' && letter <= '~';
}

static void name_message(GString *text, const struct ue_message *m) {
    for (size_t i = 0; i < G_N_ELEMENTS(messages); i++) {
        if (messages[i].type == m->type) {
            g_string_append(text, messages[i].name);
        }
    }
    if (m->type != UE_MESSAGE_CLOSE_REASON && m->type != UE_MESSAGE_FAILURE) {
        return;
    }
    struct ue_view units = m->params[0].text.units;
    g_string_append_c(text, '(');
    for (size_t i = 0; i + 8 <= units.bits && ue_view_load(units, i, 8) != 0; i += 8) {
        uint64_t letter = ue_view_load(units, i, 8);
        g_string_append_c(text, is_plain(letter) ? (char)letter : '_');
    }
    g_string_append_c(text, ')');
}

static bool name_messages(GString *text, const struct ue_context *x, struct ue_view payload) {
    size_t begin = text->len;
    struct ue_message message;
    struct ue_fault fault = {0};
    for (size_t bit = 0; bit < payload.bits && fault.status == UE_OK;) {
        g_string_append(text, bit != 0 ? "+" : "");
        if (ue_message_decode(x, payload, &bit, &message, &fault) == UE_OK) {
            name_message(text, &message);
        }
    }
    if (fault.status != UE_OK) {
        g_string_truncate(text, begin);
    }
    return text->len != begin;
}

static void name_letters(GString *text, struct ue_view payload) {
    size_t begin = text->len;
    bool gap = false;
    for (size_t bit = 0; bit + 8 <= payload.bits && text->len - begin < NAME_BYTES_MAX; bit += 8) {
        uint64_t letter = ue_view_load(payload, bit, 8);
        if (is_plain(letter)) {
            g_string_append(text, gap && text->len > begin ? "+" : "");
            g_string_append_c(text, (char)letter);
        }
        gap = letter == 0;
    }
    g_string_append(text, text->len > begin ? "" : "-");
}

void script_payload_print_name(GString *text, const struct ue_context *x, uint32_t channel, struct ue_view payload) {
    size_t begin = text->len;
    if (channel != 0 || !name_messages(text, x, payload)) {
        name_letters(text, payload);
    }
    if (text->len - begin >= NAME_BYTES_MAX) {
        g_string_truncate(text, begin + NAME_BYTES_MAX);
        g_string_append_c(text, '~');
    }
}

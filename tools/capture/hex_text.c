/* SPDX-License-Identifier: MIT */
#include "tools/capture/hex_text.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/capture/byte_source.h"
#include "tools/capture/hex_timestamp.h"
#include "tools/capture/packet_builder.h"

#define LINE_MAX_BYTES ((size_t)1 << 20) /* the largest datagram with 16 characters for each byte */
#define LINE_FIRST_BYTES ((size_t)65536)
#define DUMP_LINE_BYTES 16  /* bytes of a dump line after which two blanks end the hex column */
#define DUMP_GAP 3          /* blanks that end the hex column of a shorter line */
#define OFFSET_MIN_DIGITS 3 /* of a dump offset, as in text2pcap */

/* The notation of the current datagram. */
enum notation { MODE_NONE, MODE_LINE, MODE_BRACES, MODE_DUMP };

enum step {
    STEP_ON,   /* the line is consumed; the datagram, if there is one, may continue on the next */
    STEP_DONE, /* the datagram is complete; the rest of the line belongs to the next datagram */
    STEP_BAD,
};

struct hex_text {
    struct byte_source source; /* its window starts at the current line */
    bool has_line;
    size_t line_bytes, line_end; /* without and with the newline */
    size_t at;                   /* read position in the line */
    unsigned long line;          /* line number, from 1 */
    bool in_comment, in_server, at_comma;
    bool from_server, has_time; /* of the datagram that was read last or is being read */
    int64_t time_ns;
    enum notation mode;
    uint64_t frames;
    size_t size; /* payload bytes so far */
    enum capture_result last;
    char error[CAPTURE_ERROR_BYTES];
    uint8_t payload[CAPTURE_PACKET_PAYLOAD_MAX_BYTES];
};

__attribute__((format(printf, 3, 4))) static enum step bad(struct hex_text *hex, size_t at, const char *format, ...) {
    va_list arguments;
    int size = snprintf(hex->error, sizeof hex->error, "line %lu, column %zu: ", hex->line, at + 1);

    va_start(arguments, format);
    vsnprintf(hex->error + size, sizeof hex->error - (size_t)size, format, arguments);
    va_end(arguments);
    return STEP_BAD;
}

/* The character at an offset of the line; a newline after the end. */
static char char_at(const struct hex_text *hex, size_t at) {
    if (at >= hex->line_bytes)
        return '\n';
    return (char)hex->source.window[at];
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t count_digits(const struct hex_text *hex, size_t at) {
    size_t count = 0;

    while (g_ascii_isxdigit(char_at(hex, at + count)))
        count++;
    return count;
}

static bool at_prefix(const struct hex_text *hex, size_t at) {
    return char_at(hex, at) == '0' && (char_at(hex, at + 1) | 0x20) == 'x';
}

/* Skips blanks and comments; returns the number of characters skipped. */
static size_t skip_blanks(struct hex_text *hex) {
    size_t begin = hex->at;

    while (hex->at < hex->line_bytes) {
        char c = char_at(hex, hex->at), next = char_at(hex, hex->at + 1);

        if (hex->in_comment) {
            hex->in_comment = !(c == '*' && next == '/');
            hex->at += hex->in_comment ? 1 : 2;
        } else if (c == '/' && next == '*') {
            hex->in_comment = true;
            hex->at += 2;
        } else if (c == '#' || (c == '/' && next == '/')) {
            hex->at = hex->line_bytes;
        } else if (is_blank(c)) {
            hex->at++;
        } else {
            break;
        }
    }
    return hex->at - begin;
}

static enum step unexpected(struct hex_text *hex) {
    unsigned char c = (unsigned char)char_at(hex, hex->at);

    return bad(hex, hex->at, c > ' ' && c < 0x7f ? "unexpected '%c'" : "unexpected byte 0x%02x", c);
}

/* Adds `count` hex digits as bytes. A single digit is a byte only after 0x. */
static enum step add_digits(struct hex_text *hex, size_t count, bool has_prefix) {
    if (count % 2 != 0 && !(has_prefix && count == 1))
        return bad(hex, hex->at, "an odd number of hex digits: %zu", count);
    if ((count + 1) / 2 > sizeof hex->payload - hex->size)
        return bad(hex, hex->at, "the datagram is longer than %d bytes", CAPTURE_PACKET_PAYLOAD_MAX_BYTES);
    for (size_t end = hex->at + count; hex->at < end; hex->at += count == 1 ? 1 : 2) {
        int high = g_ascii_xdigit_value(char_at(hex, hex->at)), low = g_ascii_xdigit_value(char_at(hex, hex->at + 1));

        hex->payload[hex->size++] = (uint8_t)(count == 1 ? high : high << 4 | low);
    }
    return STEP_ON;
}

/* Parses a run of hex digits, with or without 0x. */
static enum step add_token(struct hex_text *hex) {
    bool has_prefix = at_prefix(hex, hex->at);
    size_t count;

    hex->at += has_prefix ? 2 : 0;
    count = count_digits(hex, hex->at);
    if (count == 0)
        return unexpected(hex);
    return add_digits(hex, count, has_prefix);
}

/* Returns the length of a direction mark in front of a datagram; 0: no mark. */
static size_t mark_length(const struct hex_text *hex) {
    char c = char_at(hex, hex->at), next = char_at(hex, hex->at + 1);

    if ((c == 'C' || c == 'S') && next == '>')
        return 2;
    return (c == 'I' || c == 'O') && (is_blank(next) || next == '\n') ? 1 : 0;
}

/* Skips a time in front of a datagram and records it. */
static bool skip_time(struct hex_text *hex) {
    size_t length =
        hex_timestamp_parse((const char *)hex->source.window + hex->at, hex->line_bytes - hex->at, &hex->time_ns);

    hex->at += length;
    hex->has_time |= length != 0;
    return length != 0;
}

/* Whether a time starts here; it begins the next datagram. */
static bool at_time(const struct hex_text *hex) {
    int64_t ignored;

    return hex_timestamp_parse((const char *)hex->source.window + hex->at, hex->line_bytes - hex->at, &ignored) != 0;
}

/* Whether the line continues with one decimal number and a semicolon, as in the length that xxd -i writes. */
static bool is_scalar(const struct hex_text *hex, size_t at) {
    while (is_blank(char_at(hex, at)))
        at++;
    while (g_ascii_isdigit(char_at(hex, at)))
        at++;
    return char_at(hex, at) == ';';
}

/* Skips `static const char name[] =`, or any words in front of an equals sign. Wireshark names the arrays of a
   followed stream peer0_ (the side that sent first) and peer1_. */
static void skip_declaration(struct hex_text *hex) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ \t*[]";
    size_t at = hex->at;

    while (char_at(hex, at) != '\0' && strchr(allowed, char_at(hex, at)) != NULL)
        at++;
    if (char_at(hex, at) != '=')
        return;
    for (size_t i = hex->at; i + 6 < at; i++)
        if (memcmp(hex->source.window + i, "peer1_", 6) == 0)
            hex->in_server = true;
    hex->at = is_scalar(hex, at + 1) ? hex->line_bytes : at + 1;
}

static enum step open_braces(struct hex_text *hex) {
    if (hex->mode != MODE_NONE)
        return bad(hex, hex->at, "a { inside a datagram");
    hex->mode = MODE_BRACES;
    hex->at++;
    return STEP_ON;
}

static enum step close_braces(struct hex_text *hex) {
    if (hex->mode != MODE_BRACES)
        return bad(hex, hex->at, "a } without {");
    hex->at++;
    return STEP_DONE;
}

/* Reads one item of bytes, outside or inside braces. */
static enum step read_item(struct hex_text *hex) {
    char c = char_at(hex, hex->at);

    if (c == '{')
        return open_braces(hex);
    if (c == '}')
        return close_braces(hex);
    hex->at_comma = c == ',';
    if (c == ',' || c == ':' || c == ';') {
        hex->at++;
        return STEP_ON;
    }
    if (hex->mode == MODE_NONE)
        hex->mode = MODE_LINE;
    return add_token(hex);
}

static enum step read_items(struct hex_text *hex) {
    enum step step = STEP_ON;

    skip_blanks(hex);
    while (hex->at < hex->line_bytes && step == STEP_ON) {
        step = read_item(hex);
        if (step == STEP_ON)
            skip_blanks(hex);
    }
    if (step == STEP_ON && hex->mode == MODE_LINE && !hex->at_comma)
        return STEP_DONE;
    return step;
}

/* Finds the offset that starts a dump line and its end; false if this is not a dump line. An offset without a colon
   looks like bytes: it counts as an offset if a dump can start or continue here and bytes of two digits follow. */
static bool find_offset(const struct hex_text *hex, size_t *offset, size_t *end) {
    size_t begin = hex->at + (at_prefix(hex, hex->at) ? 2 : 0);
    size_t count = count_digits(hex, begin), next = begin + count;
    bool has_colon = char_at(hex, next) == ':';

    if (count < OFFSET_MIN_DIGITS || count > 8)
        return false;
    *offset = 0;
    for (size_t i = begin; i < next; i++)
        *offset = *offset << 4 | (size_t)g_ascii_xdigit_value(char_at(hex, i));
    *end = next + has_colon;
    if (has_colon)
        return true;
    while (is_blank(char_at(hex, next)))
        next++;
    if (next == hex->line_bytes) /* the last line of hexdump */
        return hex->mode == MODE_DUMP && *offset == hex->size;
    return next > *end && count_digits(hex, next) == 2 && (*offset == 0 || hex->mode == MODE_DUMP);
}

/* Whether the text column starts at an offset of a dump line, `gap` blanks after the last byte. */
static bool at_text(const struct hex_text *hex, size_t gap, size_t line_size) {
    if (char_at(hex, hex->at) == '|')
        return true;
    if (line_size == 0 || gap < 2)
        return false;
    return gap >= DUMP_GAP || line_size >= DUMP_LINE_BYTES || count_digits(hex, hex->at) == 0;
}

static enum step read_dump_bytes(struct hex_text *hex) {
    size_t begin = hex->size, gap = skip_blanks(hex);

    while (hex->at < hex->line_bytes && !at_text(hex, gap, hex->size - begin)) {
        if (add_token(hex) == STEP_BAD)
            return STEP_BAD;
        gap = skip_blanks(hex);
        if (gap == 0 && hex->at < hex->line_bytes)
            return unexpected(hex);
    }
    hex->at = hex->line_bytes;
    return STEP_ON;
}

static enum step read_dump_line(struct hex_text *hex, size_t offset, size_t end) {
    if (offset == 0 && hex->size > 0)
        return STEP_DONE;
    if (offset != hex->size)
        return bad(hex, hex->at, "offset 0x%zx after %zu bytes", offset, hex->size);
    hex->mode = MODE_DUMP;
    hex->at = end;
    return read_dump_bytes(hex);
}

/* Reads a line, or the rest of one, that does not start inside braces. */
static enum step read_fresh_line(struct hex_text *hex) {
    size_t mark, offset, end;

    skip_blanks(hex);
    if (hex->at == hex->line_bytes)
        return STEP_ON;
    mark = mark_length(hex);
    if (hex->mode != MODE_NONE && (mark != 0 || at_time(hex)))
        return STEP_DONE;
    if (mark != 0) {
        hex->in_server = char_at(hex, hex->at) == 'S' || char_at(hex, hex->at) == 'I';
        hex->at += mark;
        skip_blanks(hex);
    }
    if (hex->mode == MODE_NONE && skip_time(hex))
        skip_blanks(hex);
    if (hex->mode != MODE_LINE && find_offset(hex, &offset, &end))
        return read_dump_line(hex, offset, end);
    if (hex->mode == MODE_DUMP)
        return STEP_DONE;
    if (hex->mode == MODE_NONE)
        skip_declaration(hex);
    return read_items(hex);
}

static bool is_empty_line(const struct hex_text *hex) {
    for (size_t i = 0; i < hex->line_bytes; i++)
        if (!is_blank(char_at(hex, i)))
            return false;
    return true;
}

static enum step read_line(struct hex_text *hex) {
    if (hex->mode == MODE_BRACES)
        return read_items(hex);
    if (!hex->in_comment && is_empty_line(hex)) {
        hex->at = hex->line_bytes;
        return hex->mode == MODE_NONE ? STEP_ON : STEP_DONE;
    }
    return read_fresh_line(hex);
}

/* Brings the next line into the window; false at the end of the text or if the line is too long. */
static bool next_line(struct hex_text *hex) {
    struct byte_source *source = &hex->source;
    const uint8_t *newline = NULL;
    size_t searched = 0, want = 1;

    if (hex->line_end > 0)
        byte_source_skip(source, hex->line_end);
    hex->line_end = hex->line_bytes = hex->at = 0;
    hex->line++;
    while (newline == NULL && searched < LINE_MAX_BYTES && byte_source_fill(source, want) > searched) {
        newline = memchr(source->window + searched, '\n', source->available - searched);
        searched = source->available;
        want = searched < LINE_FIRST_BYTES ? searched + 1 : searched * 2;
    }
    hex->line_bytes = newline != NULL ? (size_t)(newline - source->window) : searched;
    hex->line_end = hex->line_bytes + (newline != NULL);
    if (newline == NULL && searched >= LINE_MAX_BYTES)
        bad(hex, 0, "the line is longer than %zu bytes", LINE_MAX_BYTES);
    return hex->line_end > 0 && hex->error[0] == '\0';
}

/* The result at the end of the text, which may end a datagram or a dump. */
static enum capture_result at_end(struct hex_text *hex) {
    if (hex->error[0] == '\0' && hex->source.error[0] != '\0')
        bad(hex, 0, "%s", hex->source.error);
    if (hex->error[0] == '\0' && hex->in_comment)
        bad(hex, 0, "the text ends inside a comment");
    if (hex->error[0] == '\0' && hex->mode == MODE_BRACES)
        bad(hex, 0, "the text ends before a }");
    if (hex->error[0] != '\0')
        return CAPTURE_DAMAGED;
    return hex->mode == MODE_NONE ? CAPTURE_END : CAPTURE_PACKET;
}

/* Reads to the end of a datagram. */
static enum capture_result read_datagram(struct hex_text *hex) {
    enum step step = STEP_ON;

    hex->mode = MODE_NONE;
    hex->at_comma = false;
    hex->has_time = false;
    hex->size = 0;
    while (step == STEP_ON) {
        hex->has_line = (hex->has_line && hex->at < hex->line_bytes) || next_line(hex);
        if (!hex->has_line)
            return at_end(hex);
        step = read_line(hex);
    }
    return step == STEP_DONE ? CAPTURE_PACKET : CAPTURE_DAMAGED;
}

enum capture_result hex_text_next(struct hex_text *hex, struct capture_udp *udp) {
    static const struct capture_address client = {{10, 0, 0, 1}, 50000, CAPTURE_IPV4},
                                        server = {{10, 0, 0, 2}, 7777, CAPTURE_IPV4};

    if (hex->last != CAPTURE_PACKET)
        return hex->last;
    hex->last = read_datagram(hex);
    if (hex->last != CAPTURE_PACKET)
        return hex->last;
    hex->from_server = hex->in_server;
    *udp = (struct capture_udp){
        .source = hex->from_server ? server : client,
        .destination = hex->from_server ? client : server,
        .payload = hex->payload,
        .captured_bytes = hex->size,
        .length_bytes = hex->size,
        .first_frame = ++hex->frames,
    };
    hex->in_server = false;
    return hex->last;
}

bool hex_text_time(const struct hex_text *hex, int64_t *time_ns) {
    if (hex->has_time)
        *time_ns = hex->time_ns;
    return hex->has_time;
}

bool hex_text_is_from_server(const struct hex_text *hex) {
    return hex->from_server;
}

const char *hex_text_error(const struct hex_text *hex) {
    return hex->error;
}

/* Opens path, or the memory area if path is NULL. */
static struct hex_text *hex_open(const char *path, const void *bytes, size_t size_bytes,
                                 char error[CAPTURE_ERROR_BYTES]) {
    struct hex_text *hex = g_new0(struct hex_text, 1);

    if (byte_source_open(&hex->source, path, bytes, size_bytes, error))
        return hex;
    hex_text_close(hex);
    return NULL;
}

struct hex_text *hex_text_open(const char *path, char error[CAPTURE_ERROR_BYTES]) {
    return hex_open(path, NULL, 0, error);
}

struct hex_text *hex_text_open_memory(const void *bytes, size_t size_bytes, char error[CAPTURE_ERROR_BYTES]) {
    return hex_open(NULL, bytes, size_bytes, error);
}

void hex_text_close(struct hex_text *hex) {
    if (hex == NULL)
        return;
    byte_source_close(&hex->source);
    g_free(hex);
}

/* SPDX-License-Identifier: MIT */
#include "tools/capture/hex_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capture/byte_source.h"
#include "tools/capture/hex_timestamp.h"
#include "tools/capture/packet_builder.h"

#define LINE_MAX_BYTES ((size_t)1 << 20) /* a datagram of the largest size with 16 characters for each byte */
#define LINE_FIRST_BYTES ((size_t)65536)
#define DUMP_LINE_BYTES 16  /* after so many bytes, two blanks are enough in front of a dump's text column */
#define DUMP_GAP 3          /* and after fewer, so many */
#define OFFSET_MIN_DIGITS 3 /* as for text2pcap */
#define NO_DIGIT 16

/* How the current datagram is written. */
enum mode { MODE_NONE, MODE_LINE, MODE_BRACES, MODE_DUMP };

enum step {
    STEP_ON,   /* the line is used up and the datagram, if there is one, may go on */
    STEP_DONE, /* the datagram is complete; the rest of the line belongs to the next */
    STEP_BAD,
};

struct hex_text {
    struct byte_source source; /* the current line is the begin of its window */
    bool has_line;
    size_t line_bytes, line_end; /* without and with its newline */
    size_t at;                   /* of the line */
    unsigned long line;          /* its number */
    bool in_comment, in_server, at_comma;
    bool from_server, has_time; /* of the datagram that was read last, or is being read */
    int64_t time_ns;
    enum mode mode;
    uint64_t frames;
    size_t size; /* of the payload so far */
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

/* The character at a place of the line; a newline behind its end. */
static char char_at(const struct hex_text *hex, size_t at) {
    if (at >= hex->line_bytes)
        return '\n';
    return (char)hex->source.window[at];
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The value of a hex digit, NO_DIGIT if it is none. */
static unsigned digit_value(char c) {
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : NO_DIGIT;
}

static size_t count_digits(const struct hex_text *hex, size_t at) {
    size_t count = 0;

    while (digit_value(char_at(hex, at + count)) != NO_DIGIT)
        count++;
    return count;
}

static bool at_prefix(const struct hex_text *hex, size_t at) {
    return char_at(hex, at) == '0' && (char_at(hex, at + 1) | 0x20) == 'x';
}

/* Go behind blanks and comments and return how far that was. */
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

/* Add so many digits as bytes. One digit is a byte only behind 0x. */
static enum step add_digits(struct hex_text *hex, size_t count, bool has_prefix) {
    if (count % 2 != 0 && !(has_prefix && count == 1))
        return bad(hex, hex->at, "an odd number of hex digits: %zu", count);
    if ((count + 1) / 2 > sizeof hex->payload - hex->size)
        return bad(hex, hex->at, "the datagram is longer than %d bytes", CAPTURE_PACKET_PAYLOAD_MAX_BYTES);
    for (size_t end = hex->at + count; hex->at < end; hex->at += count == 1 ? 1 : 2) {
        unsigned high = digit_value(char_at(hex, hex->at)), low = digit_value(char_at(hex, hex->at + 1));

        hex->payload[hex->size++] = (uint8_t)(count == 1 ? high : high << 4 | low);
    }
    return STEP_ON;
}

/* A run of hex digits, with or without 0x. */
static enum step add_token(struct hex_text *hex) {
    bool has_prefix = at_prefix(hex, hex->at);
    size_t count;

    hex->at += has_prefix ? 2 : 0;
    count = count_digits(hex, hex->at);
    if (count == 0)
        return unexpected(hex);
    return add_digits(hex, count, has_prefix);
}

/* A mark in front of a datagram tells its direction; the length of one, 0 if there is none. */
static size_t mark_length(const struct hex_text *hex) {
    char c = char_at(hex, hex->at), next = char_at(hex, hex->at + 1);

    if ((c == 'C' || c == 'S') && next == '>')
        return 2;
    return (c == 'I' || c == 'O') && (is_blank(next) || next == '\n') ? 1 : 0;
}

/* Go behind a time in front of a datagram. */
static bool take_time(struct hex_text *hex) {
    size_t length =
        hex_timestamp_parse((const char *)hex->source.window + hex->at, hex->line_bytes - hex->at, &hex->time_ns);

    hex->at += length;
    hex->has_time |= length != 0;
    return length != 0;
}

/* Whether a time stands here, which begins the next datagram. */
static bool at_time(const struct hex_text *hex) {
    int64_t ignored;

    return hex_timestamp_parse((const char *)hex->source.window + hex->at, hex->line_bytes - hex->at, &ignored) != 0;
}

/* Whether the line goes on with one decimal number and a semicolon, as in the length that xxd -i writes. */
static bool is_scalar(const struct hex_text *hex, size_t at) {
    while (is_blank(char_at(hex, at)))
        at++;
    while (char_at(hex, at) >= '0' && char_at(hex, at) <= '9')
        at++;
    return char_at(hex, at) == ';';
}

/*
 * Go behind `static const char name[] =`; anything in front of an equals sign that looks like words is taken for that.
 * Wireshark names the arrays of a followed stream peer0_ (who spoke first) and peer1_.
 */
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

/* One item of bytes that stand free or between braces. */
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

/*
 * The offset that begins a dump's line, and where it ends; false if the line is no dump's. Without colon behind it, an
 * offset looks like bytes: it counts as one if a dump goes on or can begin here, and bytes of two digits follow.
 */
static bool find_offset(const struct hex_text *hex, size_t *offset, size_t *end) {
    size_t begin = hex->at + (at_prefix(hex, hex->at) ? 2 : 0);
    size_t count = count_digits(hex, begin), next = begin + count;
    bool has_colon = char_at(hex, next) == ':';

    if (count < OFFSET_MIN_DIGITS || count > 8)
        return false;
    *offset = 0;
    for (size_t i = begin; i < next; i++)
        *offset = *offset << 4 | digit_value(char_at(hex, i));
    *end = next + has_colon;
    if (has_colon)
        return true;
    while (is_blank(char_at(hex, next)))
        next++;
    if (next == hex->line_bytes) /* the end mark of hexdump */
        return hex->mode == MODE_DUMP && *offset == hex->size;
    return next > *end && count_digits(hex, next) == 2 && (*offset == 0 || hex->mode == MODE_DUMP);
}

/* Whether the text column begins at a place of a dump's line, gap blanks behind the last byte. */
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
        return bad(hex, hex->at, "offset 0x%zx behind %zu bytes", offset, hex->size);
    hex->mode = MODE_DUMP;
    hex->at = end;
    return read_dump_bytes(hex);
}

/* A line, or what is left of it, that does not begin between braces. */
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
    if (hex->mode == MODE_NONE && take_time(hex))
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

/* Have the next line in the window; false at the text's end or if the line is too long. */
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

/* What the end of the text means for what has begun. */
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

/* Read up to the end of a datagram. */
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
    static const struct capture_address client = {{10, 0, 0, 1}, 50000, CAPTURE_IPV4}, server = {{10, 0, 0, 2}, 7777, CAPTURE_IPV4};

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

/* path, or the memory area if path is NULL. */
static struct hex_text *hex_open(const char *path, const void *bytes, size_t size_bytes,
                               char error[CAPTURE_ERROR_BYTES]) {
    struct hex_text *hex = calloc(1, sizeof *hex);
    bool opened;

    if (hex == NULL) {
        snprintf(error, CAPTURE_ERROR_BYTES, "out of memory");
        return NULL;
    }
    if (path != NULL)
        opened = byte_source_open(&hex->source, path, error);
    else
        opened = byte_source_open_memory(&hex->source, bytes, size_bytes, error);
    if (opened)
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
    free(hex);
}

/* SPDX-License-Identifier: MIT */
/* pcapng: a sequence of blocks {type, length, body, length again}. Byte order may change between sections; link type
   and clock between interfaces. Blocks that are not needed to read packets are skipped. */
#include <glib.h>
#include <stdarg.h>
#include <stdio.h>

#include <uerudp/time_ns.h>
#include "tools/capture/pcapng.h"
#include "tools/capture/pcapng_layout.h"

#define SECTION_BYTES 16  /* magic, major, minor, length of the section */
#define INTERFACE_BYTES 8 /* link type, reserved, snap length */
#define BYTE_ORDER_MAGIC UINT32_C(0x1a2b3c4d)
#define BLOCK_MAX_BYTES (16u << 20) /* of blocks that are read as a whole */
#define INTERFACES_MAX 65536
#define SKIP_BYTES 65536u     /* read at a time when skipping */
#define DEFAULT_TICKS 1000000 /* per second */

__extension__ typedef __int128 wide;

struct interface {
    uint64_t ticks_per_second;
    int64_t offset_seconds;
    uint32_t snap_bytes; /* 0: no limit */
    uint16_t link_type;
    char name[CAPTURE_INTERFACE_NAME_BYTES]; /* empty: none */
};

struct capture_pcapng {
    struct byte_source *source;
    char *error;                   /* for the message of a failure, during a call */
    uint64_t block;                /* offset of the current block */
    bool swapped;                  /* the section is in the opposite byte order of this machine */
    GArray *interfaces;            /* struct interface, of the section */
    const struct capture_tap *tap; /* NULL: none */
};

/* The unread part of a block's body. */
struct body {
    const uint8_t *bytes;
    size_t left;
    bool swapped;
};

struct option {
    uint16_t code, size_bytes;
    const uint8_t *value;
};

bool capture_pcapng_begins_with(const uint8_t magic[4]) {
    return memcmp(magic, "\x0a\x0d\x0d\x0a", 4) == 0;
}

/* Sets the message about the current block. Returns false, so that callers can return the result. */
__attribute__((format(printf, 2, 3))) static bool damaged(struct capture_pcapng *pcapng, const char *format, ...) {
    va_list arguments;
    int size = snprintf(pcapng->error, CAPTURE_ERROR_BYTES, "block at byte %llu: ", (unsigned long long)pcapng->block);

    va_start(arguments, format);
    vsnprintf(pcapng->error + size, CAPTURE_ERROR_BYTES - (size_t)size, format, arguments);
    va_end(arguments);
    return false;
}

static uint64_t load64(const uint8_t *bytes, bool swapped) {
    uint64_t value;

    memcpy(&value, bytes, sizeof value);
    return swapped ? __builtin_bswap64(value) : value;
}

/* Returns the next size_bytes of a body; NULL if it has fewer. */
static const uint8_t *read_bytes(struct body *body, size_t size) {
    const uint8_t *bytes = body->bytes;

    if (size > body->left)
        return NULL;
    body->bytes += size;
    body->left -= size;
    return bytes;
}

/* Returns the next item padded to 32 bits; the padding of the last item may be missing. */
static const uint8_t *read_padded(struct body *body, size_t size) {
    const uint8_t *bytes = read_bytes(body, size);
    size_t padding = -size & 3;

    if (bytes != NULL)
        read_bytes(body, padding < body->left ? padding : body->left);
    return bytes;
}

/* Reads the next option of a list; false at its end, or with option->value NULL if the list is damaged. */
static bool next_option(struct body *body, struct option *option) {
    const uint8_t *header = read_bytes(body, 4);

    *option = (struct option){.value = body->bytes};
    if (header == NULL) {
        option->value = body->left == 0 ? body->bytes : NULL;
        return false;
    }
    option->code = pcapng_load16(header, body->swapped);
    if (option->code == PCAPNG_END)
        return false;
    option->size_bytes = pcapng_load16(header + 2, body->swapped);
    option->value = read_padded(body, option->size_bytes);
    return option->value != NULL;
}

/* Sets the message that the file ends, or cannot be read, before size_bytes of the current block. Returns false. */
static bool too_short(struct capture_pcapng *pcapng, const char *what, uint32_t size) {
    const struct byte_source *source = pcapng->source;
    uint64_t end = source->offset + source->available;

    if (source->error[0] != '\0')
        return damaged(pcapng, "%s, at byte %llu", source->error, (unsigned long long)end);
    return damaged(pcapng, "truncated: only %llu of %u bytes of its %s are present",
                   (unsigned long long)(end - pcapng->block), size, what);
}

/* Makes the window hold the first size_bytes of the block. */
static bool need(struct capture_pcapng *pcapng, const char *what, uint32_t size) {
    return byte_source_fill(pcapng->source, size) >= size || too_short(pcapng, what, size);
}

/* Checks that the length at the end of a block repeats the length at its start. */
static bool check_end(struct capture_pcapng *pcapng, const uint8_t *end, uint32_t size) {
    uint32_t again = pcapng_load32(end, pcapng->swapped);

    return again == size || damaged(pcapng, "its length is %u at its start but %u at its end", size, again);
}

/* Makes the window hold the whole block and sets *body. */
static bool load_block(struct capture_pcapng *pcapng, uint32_t size, struct body *body) {
    if (size > BLOCK_MAX_BYTES)
        return damaged(pcapng, "its length %u is above the limit of %u", size, BLOCK_MAX_BYTES);
    if (!need(pcapng, "block", size))
        return false;
    *body = (struct body){pcapng->source->window + PCAPNG_HEADER_BYTES, size - PCAPNG_FRAME_BYTES, pcapng->swapped};
    return check_end(pcapng, body->bytes + body->left, size);
}

static void report_block(struct capture_pcapng *pcapng, const struct capture_block *block) {
    if (pcapng->tap != NULL)
        pcapng->tap->block(pcapng->tap->user, block, NULL);
}

/* Skips the next piece of a block that is not read as a whole. */
static void skip_piece(struct capture_pcapng *pcapng, uint32_t size) {
    report_block(pcapng, &(struct capture_block){.bytes = pcapng->source->window, .size_bytes = size});
    byte_source_skip(pcapng->source, size);
}

/* Skips to the end of a block without loading it. */
static bool skip_block(struct capture_pcapng *pcapng, uint32_t size) {
    struct byte_source *source = pcapng->source;
    uint32_t left = size - 4;

    while (left > 0) {
        uint32_t count = left < SKIP_BYTES ? left : SKIP_BYTES;

        if (byte_source_fill(source, count) < count)
            return too_short(pcapng, "block", size);
        skip_piece(pcapng, count);
        left -= count;
    }
    if (byte_source_fill(source, 4) < 4)
        return too_short(pcapng, "block", size);
    if (!check_end(pcapng, source->window, size))
        return false;
    skip_piece(pcapng, 4);
    return true;
}

/* Determines the byte order from a section header, before its length can be read. */
static bool section_order(struct capture_pcapng *pcapng) {
    uint32_t magic;

    if (!need(pcapng, "section header", PCAPNG_FRAME_BYTES))
        return false;
    magic = pcapng_load32(pcapng->source->window + PCAPNG_HEADER_BYTES, false);
    pcapng->swapped = magic != BYTE_ORDER_MAGIC;
    if (pcapng->swapped && __builtin_bswap32(magic) != BYTE_ORDER_MAGIC)
        return damaged(pcapng, "a section header without byte-order magic");
    g_array_set_size(pcapng->interfaces, 0);
    return true;
}

static bool read_section(struct capture_pcapng *pcapng, struct body *body) {
    const uint8_t *header = read_bytes(body, SECTION_BYTES);

    if (header == NULL)
        return damaged(pcapng, "too short for a section header");
    if (pcapng_load16(header + 4, pcapng->swapped) != 1)
        return damaged(pcapng, "pcapng version %u.%u is not supported", pcapng_load16(header + 4, pcapng->swapped),
                       pcapng_load16(header + 6, pcapng->swapped));
    return true;
}

/* if_tsresol: a power of 10, or with the top bit set a power of 2. */
static bool set_resolution(struct capture_pcapng *pcapng, struct interface *interface, uint8_t resolution) {
    unsigned exponent = resolution & 0x7f;
    uint64_t base = resolution & 0x80 ? 2 : 10;

    if (exponent > (base == 2 ? 63 : 19))
        return damaged(pcapng, "a clock resolution of %u^-%u s is too fine", (unsigned)base, exponent);
    interface->ticks_per_second = 1;
    while (exponent-- > 0)
        interface->ticks_per_second *= base;
    return true;
}

static void set_name(struct interface *interface, const struct option *option) {
    snprintf(interface->name, sizeof interface->name, "%.*s", (int)option->size_bytes, (const char *)option->value);
}

static bool read_interface_option(struct capture_pcapng *pcapng, struct interface *interface,
                                  const struct option *option) {
    if (option->code == PCAPNG_NAME)
        set_name(interface, option);
    if (option->code == PCAPNG_TSRESOL && option->size_bytes == 1)
        return set_resolution(pcapng, interface, option->value[0]);
    if (option->code == PCAPNG_TSOFFSET && option->size_bytes == 8)
        interface->offset_seconds = (int64_t)load64(option->value, pcapng->swapped);
    return true;
}

static bool read_interface(struct capture_pcapng *pcapng, struct body *body) {
    struct interface interface = {.ticks_per_second = DEFAULT_TICKS};
    const uint8_t *header = read_bytes(body, INTERFACE_BYTES);
    struct option option;

    if (header == NULL)
        return damaged(pcapng, "too short for an interface");
    interface.link_type = pcapng_load16(header, pcapng->swapped);
    interface.snap_bytes = pcapng_load32(header + 4, pcapng->swapped);
    while (next_option(body, &option))
        if (!read_interface_option(pcapng, &interface, &option))
            return false;
    if (option.value == NULL)
        return damaged(pcapng, "an option runs past the block's end");
    if (pcapng->interfaces->len == INTERFACES_MAX)
        return damaged(pcapng, "more than %u interfaces", INTERFACES_MAX);
    g_array_append_val(pcapng->interfaces, interface);
    return true;
}

static const struct interface *interface_of(struct capture_pcapng *pcapng, uint32_t number) {
    if (number < pcapng->interfaces->len)
        return &g_array_index(pcapng->interfaces, struct interface, number);
    damaged(pcapng, "a packet of interface %u, but the section has %u so far", number, pcapng->interfaces->len);
    return NULL;
}

static const char *name_of(const struct interface *interface) {
    return interface->name[0] != '\0' ? interface->name : NULL;
}

/* Converts to nanoseconds, saturating at the limits of int64_t. */
static int64_t time_ns_of(const struct interface *interface, uint64_t ticks) {
    wide ns = (wide)ticks * UE_NS_PER_S / interface->ticks_per_second + (wide)interface->offset_seconds * UE_NS_PER_S;

    if (ns > INT64_MAX)
        return INT64_MAX;
    return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

static bool read_comment(struct capture_pcapng *pcapng, struct body *body, struct capture_packet *packet) {
    struct option option;

    while (next_option(body, &option)) {
        if (option.code != PCAPNG_COMMENT || packet->comment != NULL)
            continue;
        packet->comment = (const char *)option.value;
        packet->comment_bytes = option.size_bytes;
    }
    return option.value != NULL || damaged(pcapng, "an option runs past the block's end");
}

/* Enhanced and obsolete packets are the same from byte 4 of their headers on: time, captured length, original
   length, data, options. */
static bool read_timed(struct capture_pcapng *pcapng, uint32_t number, const uint8_t *header, struct body *body,
                       struct capture_packet *packet) {
    const struct interface *interface = interface_of(pcapng, number);
    uint32_t captured = pcapng_load32(header + 8, pcapng->swapped),
             length = pcapng_load32(header + 12, pcapng->swapped);
    const uint8_t *bytes;

    if (interface == NULL)
        return false;
    bytes = read_padded(body, captured);
    if (bytes == NULL)
        return damaged(pcapng, "its packet of %u bytes runs past the block's end", captured);
    *packet = (struct capture_packet){
        .time_ns = time_ns_of(interface, (uint64_t)pcapng_load32(header, pcapng->swapped) << 32 |
                                             pcapng_load32(header + 4, pcapng->swapped)),
        .bytes = bytes,
        .captured_bytes = captured,
        .length_bytes = length > captured ? length : captured,
        .interface = name_of(interface),
        .interface_number = number,
        .link_type = interface->link_type,
    };
    return read_comment(pcapng, body, packet);
}

static bool read_enhanced(struct capture_pcapng *pcapng, struct body *body, struct capture_packet *packet) {
    const uint8_t *header = read_bytes(body, 20);

    if (header == NULL)
        return damaged(pcapng, "too short for a packet");
    return read_timed(pcapng, pcapng_load32(header, pcapng->swapped), header + 4, body, packet);
}

/* The interface has 16 bits; a drop counter follows. */
static bool read_obsolete(struct capture_pcapng *pcapng, struct body *body, struct capture_packet *packet) {
    const uint8_t *header = read_bytes(body, 20);

    if (header == NULL)
        return damaged(pcapng, "too short for a packet");
    return read_timed(pcapng, pcapng_load16(header, pcapng->swapped), header + 4, body, packet);
}

/* A simple packet belongs to interface 0 and has no time; the snap length limits its captured length. */
static bool read_simple(struct capture_pcapng *pcapng, struct body *body, struct capture_packet *packet) {
    const struct interface *interface = interface_of(pcapng, 0);
    const uint8_t *header = read_bytes(body, 4), *bytes;
    uint32_t length, captured;

    if (interface == NULL)
        return false;
    if (header == NULL)
        return damaged(pcapng, "too short for a packet");
    length = captured = pcapng_load32(header, pcapng->swapped);
    if (interface->snap_bytes != 0 && captured > interface->snap_bytes)
        captured = interface->snap_bytes;
    bytes = read_bytes(body, captured);
    if (bytes == NULL)
        return damaged(pcapng, "its packet of %u bytes runs past the block's end", captured);
    *packet = (struct capture_packet){.bytes = bytes,
                                      .captured_bytes = captured,
                                      .length_bytes = length,
                                      .interface = name_of(interface),
                                      .link_type = interface->link_type};
    return true;
}

static bool is_packet(uint32_t type) {
    return type == PCAPNG_ENHANCED_PACKET || type == PCAPNG_SIMPLE_PACKET || type == PCAPNG_OBSOLETE_PACKET;
}

static bool read_known(struct capture_pcapng *pcapng, uint32_t type, struct body *body, struct capture_packet *packet) {
    switch (type) {
    case PCAPNG_SECTION: return read_section(pcapng, body);
    case PCAPNG_INTERFACE: return read_interface(pcapng, body);
    case PCAPNG_OBSOLETE_PACKET: return read_obsolete(pcapng, body, packet);
    case PCAPNG_SIMPLE_PACKET: return read_simple(pcapng, body, packet);
    default: return read_enhanced(pcapng, body, packet);
    }
}

/* A block that is in the window as a whole. */
static struct capture_block whole_block(const struct capture_pcapng *pcapng, uint32_t type, uint32_t size) {
    struct capture_block block = {.bytes = pcapng->source->window,
                                  .size_bytes = size,
                                  .is_swapped = pcapng->swapped,
                                  .header_bytes = PCAPNG_PACKET_HEADER_BYTES};

    switch (type) {
    case PCAPNG_SECTION:
        block.form = CAPTURE_BLOCK_SECTION;
        block.header_bytes = PCAPNG_HEADER_BYTES + SECTION_BYTES;
        break;
    case PCAPNG_INTERFACE:
        block.form = CAPTURE_BLOCK_INTERFACE;
        block.header_bytes = PCAPNG_HEADER_BYTES + INTERFACE_BYTES;
        break;
    case PCAPNG_OBSOLETE_PACKET: block.form = CAPTURE_BLOCK_OBSOLETE; break;
    case PCAPNG_ENHANCED_PACKET: block.form = CAPTURE_BLOCK_ENHANCED; break;
    default:
        block.form = CAPTURE_BLOCK_SIMPLE;
        block.header_bytes = PCAPNG_SIMPLE_HEADER_BYTES;
        break;
    }
    return block;
}

/* Copies the clock and snap length of a packet's interface, which exists because the packet was read. */
static void set_clock(const struct capture_pcapng *pcapng, struct capture_block *block) {
    const uint8_t *number = block->bytes + PCAPNG_HEADER_BYTES;
    const struct interface *interface;
    uint32_t index = 0;

    if (block->form == CAPTURE_BLOCK_ENHANCED)
        index = pcapng_load32(number, pcapng->swapped);
    else if (block->form == CAPTURE_BLOCK_OBSOLETE)
        index = pcapng_load16(number, pcapng->swapped);
    interface = &g_array_index(pcapng->interfaces, struct interface, index);
    block->ticks_per_second = interface->ticks_per_second;
    block->snap_bytes = interface->snap_bytes;
}

/* Reads one block of any type, which *type receives. The block of a packet stays in the window. */
static bool read_block(struct capture_pcapng *pcapng, uint32_t *type, struct capture_packet *packet,
                       struct capture_block *block) {
    struct body body = {0};
    uint32_t size;

    if (!need(pcapng, "header", PCAPNG_HEADER_BYTES))
        return false;
    *type = pcapng_load32(pcapng->source->window, pcapng->swapped);
    if (*type == PCAPNG_SECTION && !section_order(pcapng))
        return false;
    size = pcapng_load32(pcapng->source->window + 4, pcapng->swapped);
    if (size < PCAPNG_FRAME_BYTES || size % 4 != 0)
        return damaged(pcapng, "a length of %u is impossible", size);
    if (!is_packet(*type) && *type != PCAPNG_SECTION && *type != PCAPNG_INTERFACE)
        return skip_block(pcapng, size);
    if (!load_block(pcapng, size, &body) || !read_known(pcapng, *type, &body, packet))
        return false;
    *block = whole_block(pcapng, *type, size);
    if (is_packet(*type))
        set_clock(pcapng, block);
    else
        report_block(pcapng, block);
    byte_source_skip(pcapng->source, size);
    return true;
}

void capture_pcapng_tap(struct capture_pcapng *pcapng, const struct capture_tap *tap) {
    pcapng->tap = tap;
}

enum capture_result capture_pcapng_next(struct capture_pcapng *pcapng, struct capture_packet *packet,
                                        struct capture_block *block, char error[CAPTURE_ERROR_BYTES]) {
    uint32_t type = 0;

    pcapng->error = error;
    while (!is_packet(type)) {
        pcapng->block = pcapng->source->offset;
        if (byte_source_fill(pcapng->source, 1) == 0 && pcapng->source->error[0] == '\0')
            return CAPTURE_END;
        if (!read_block(pcapng, &type, packet, block))
            return CAPTURE_DAMAGED;
    }
    return CAPTURE_PACKET;
}

struct capture_pcapng *capture_pcapng_new(struct byte_source *source) {
    struct capture_pcapng *pcapng = g_new0(struct capture_pcapng, 1);

    pcapng->source = source;
    pcapng->interfaces = g_array_new(FALSE, FALSE, sizeof(struct interface));
    return pcapng;
}

void capture_pcapng_free(struct capture_pcapng *pcapng) {
    if (pcapng == NULL)
        return;
    g_array_unref(pcapng->interfaces);
    g_free(pcapng);
}

/* SPDX-License-Identifier: MIT */
#include "tools/capture/capture_block.h"

#include <glib.h>

#include <uerudp/time_ns.h>
#include "tools/capture/pcapng_layout.h"

#define COMMENT_MAX_BYTES 65535
#define SECTION_LENGTH_OFFSET 16
#define HEADER_MAX_BYTES PCAPNG_PACKET_HEADER_BYTES /* of the longest block kind */

__extension__ typedef __int128 wide;

/* A block that is being written to a file. */
struct block_writer {
    FILE *file;
    const struct capture_block *block;
    const struct capture_block_change *change;
    uint8_t header[HEADER_MAX_BYTES];
    const uint8_t *data;
    size_t data_bytes;
    const uint8_t *options; /* as in the input file */
    size_t options_bytes;
};

static uint32_t load(const struct block_writer *w, size_t offset) {
    return pcapng_load32(w->header + offset, w->block->is_swapped);
}

static void store(struct block_writer *w, size_t offset, uint32_t value) {
    pcapng_store32(w->header + offset, value, w->block->is_swapped);
}

static void put(const struct block_writer *w, const void *bytes, size_t size) {
    if (size > 0)
        fwrite(bytes, 1, size, w->file);
}

static void put32(const struct block_writer *w, uint32_t value) {
    uint8_t bytes[4];

    pcapng_store32(bytes, value, w->block->is_swapped);
    put(w, bytes, sizeof bytes);
}

static void put_padded(const struct block_writer *w, const void *bytes, size_t size) {
    put(w, bytes, size);
    put(w, "\0\0", pcapng_padded(size) - size);
}

/* ---- time ---- */

/* Adds ticks to the time of the packet; false if the result is out of range. */
static bool shift(const struct block_writer *w, uint64_t max, uint64_t *ticks) {
    wide move = (wide)w->change->shift_ns * w->block->ticks_per_second;
    wide moved = (wide)*ticks + (move + (move < 0 ? -UE_NS_PER_S / 2 : UE_NS_PER_S / 2)) / UE_NS_PER_S;

    *ticks = (uint64_t)moved;
    return moved >= 0 && moved <= (wide)max;
}

static bool shift_classic(struct block_writer *w) {
    uint64_t per_second = w->block->ticks_per_second;
    uint64_t ticks = load(w, 0) * per_second + load(w, 4);

    if (!shift(w, (UINT32_MAX + UINT64_C(1)) * per_second - 1, &ticks))
        return false;
    store(w, 0, (uint32_t)(ticks / per_second));
    store(w, 4, (uint32_t)(ticks % per_second));
    return true;
}

static bool shift_pcapng(struct block_writer *w) {
    uint64_t ticks = (uint64_t)load(w, 12) << 32 | load(w, 16);

    if (!shift(w, UINT64_MAX, &ticks))
        return false;
    store(w, 12, (uint32_t)(ticks >> 32));
    store(w, 16, (uint32_t)ticks);
    return true;
}

static bool set_time(struct block_writer *w) {
    if (w->change->shift_ns == 0 || w->block->form == CAPTURE_BLOCK_SIMPLE)
        return true;
    return w->block->form == CAPTURE_BLOCK_CLASSIC ? shift_classic(w) : shift_pcapng(w);
}

/* ---- data ---- */

/* Offset in the header of the captured length; the original length follows. A simple packet has only the original
   length. */
static size_t captured_offset(const struct capture_block *block) {
    return block->form == CAPTURE_BLOCK_CLASSIC ? 8 : 20;
}

static size_t simple_captured(const struct capture_block *block, size_t length) {
    return block->snap_bytes != 0 && length > block->snap_bytes ? block->snap_bytes : length;
}

static size_t captured_bytes(const struct block_writer *w) {
    if (w->block->form == CAPTURE_BLOCK_CLASSIC) /* libpcap may have reduced it */
        return w->block->size_bytes - w->block->header_bytes;
    return w->block->form == CAPTURE_BLOCK_SIMPLE ? simple_captured(w->block, load(w, 8)) : load(w, 20);
}

/* Keeps lengths that do not change as they are: the two lengths in the file may contradict each other. */
static bool set_data(struct block_writer *w) {
    const struct capture_block_change *change = w->change;

    if (!change->has_data)
        return true;
    w->data = change->data;
    if (w->data_bytes == change->captured_bytes)
        return true;
    w->data_bytes = change->captured_bytes;
    if (w->block->form == CAPTURE_BLOCK_SIMPLE) {
        store(w, 8, (uint32_t)change->length_bytes);
        return change->captured_bytes == simple_captured(w->block, change->length_bytes);
    }
    store(w, captured_offset(w->block), (uint32_t)change->captured_bytes);
    store(w, captured_offset(w->block) + 4, (uint32_t)change->length_bytes);
    return true;
}

/* ---- options ---- */

/* A mask of the options that do not identify people, machines or places. */
static uint32_t harmless_options(enum capture_block_kind form) {
    switch (form) {
    case CAPTURE_BLOCK_INTERFACE:
        return 1u << PCAPNG_SPEED | 1u << PCAPNG_TSRESOL | 1u << PCAPNG_FCSLEN | 1u << PCAPNG_TSOFFSET;
    case CAPTURE_BLOCK_ENHANCED:
    case CAPTURE_BLOCK_OBSOLETE:
        return 1u << PCAPNG_PACKET_FLAGS | 1u << PCAPNG_PACKET_DROPS | 1u << PCAPNG_PACKET_ID |
               1u << PCAPNG_PACKET_QUEUE;
    default: return 0;
    }
}

/* Copies the options of that mask to `to`, which has room for all of them, and returns their size. */
static size_t strip(const struct block_writer *w, uint8_t *to) {
    uint32_t harmless = harmless_options(w->block->form);
    size_t at = 0, size = 0;

    while (w->options_bytes - at >= 4) {
        uint16_t code = pcapng_load16(w->options + at, w->block->is_swapped);
        size_t value = pcapng_padded(pcapng_load16(w->options + at + 2, w->block->is_swapped));

        if (code == PCAPNG_END || value > w->options_bytes - at - 4)
            break;
        if (code < 32 && (harmless >> code & 1) != 0) {
            memcpy(to + size, w->options + at, 4 + value);
            size += 4 + value;
        }
        at += 4 + value;
    }
    return size;
}

static size_t comment_bytes(const struct capture_block_change *change) {
    size_t size = change->comment == NULL ? 0 : strlen(change->comment);

    return size < COMMENT_MAX_BYTES ? size : COMMENT_MAX_BYTES;
}

static void put_option_header(const struct block_writer *w, uint16_t code, size_t size) {
    uint16_t words[2] = {code, (uint16_t)size};

    if (w->block->is_swapped) {
        words[0] = __builtin_bswap16(words[0]);
        words[1] = __builtin_bswap16(words[1]);
    }
    put(w, words, sizeof words);
}

/* ---- blocks ---- */

static bool may_have_comment(const struct capture_block *block) {
    return block->form == CAPTURE_BLOCK_ENHANCED || block->form == CAPTURE_BLOCK_OBSOLETE;
}

/* Writes the block from its header on, with its new length. */
static void put_pcapng(struct block_writer *w) {
    bool has_comment = w->change->comment != NULL && may_have_comment(w->block);
    bool needs_end = has_comment && w->options_bytes == 0;
    size_t comment = comment_bytes(w->change);
    size_t extra = (has_comment ? 4 + pcapng_padded(comment) : 0) + (needs_end ? 4 : 0);
    uint32_t size = (uint32_t)(w->block->header_bytes + pcapng_padded(w->data_bytes) + extra + w->options_bytes + 4);

    store(w, 4, size);
    put(w, w->header, w->block->header_bytes);
    put_padded(w, w->data, w->data_bytes);
    if (has_comment) {
        put_option_header(w, PCAPNG_COMMENT, comment);
        put_padded(w, w->change->comment, comment);
    }
    put(w, w->options, w->options_bytes);
    if (needs_end)
        put32(w, PCAPNG_END);
    put32(w, size);
}

/* Writes the block without the options that strip removes. */
static void put_stripped(struct block_writer *w) {
    uint8_t *options = g_malloc(w->options_bytes + 4);

    w->options_bytes = strip(w, options);
    if (w->options_bytes > 0) {
        memset(options + w->options_bytes, 0, 4);
        w->options_bytes += 4;
    }
    w->options = options;
    put_pcapng(w);
    g_free(options);
}

static void find_parts(struct block_writer *w) {
    const struct capture_block *block = w->block;
    bool is_packet = block->form != CAPTURE_BLOCK_SECTION && block->form != CAPTURE_BLOCK_INTERFACE;
    size_t end = block->size_bytes - (block->form == CAPTURE_BLOCK_CLASSIC ? 0 : 4), options;

    memcpy(w->header, block->bytes, block->header_bytes);
    w->data = block->bytes + block->header_bytes;
    w->data_bytes = is_packet ? captured_bytes(w) : 0;
    options = block->header_bytes + pcapng_padded(w->data_bytes);
    w->options_bytes = options < end && block->form != CAPTURE_BLOCK_SIMPLE ? end - options : 0;
    w->options = block->bytes + end - w->options_bytes;
}

static bool is_untouched(const struct capture_block *block, const struct capture_block_change *change) {
    return block->form == CAPTURE_BLOCK_OTHER || block->form == CAPTURE_BLOCK_FILE ||
           (change->shift_ns == 0 && !change->has_data && (change->comment == NULL || !may_have_comment(block)) &&
            !change->is_stripped && !(change->is_unmeasured && block->form == CAPTURE_BLOCK_SECTION));
}

bool capture_block_write(FILE *file, const struct capture_block *block, const struct capture_block_change *change) {
    struct block_writer w = {.file = file, .block = block, .change = change};

    if (is_untouched(block, change)) {
        put(&w, block->bytes, block->size_bytes);
        return true;
    }
    find_parts(&w);
    if (!set_time(&w) || !set_data(&w))
        return false;
    if (block->form == CAPTURE_BLOCK_SECTION && change->is_unmeasured)
        memset(w.header + SECTION_LENGTH_OFFSET, 0xff, 8);
    if (block->form == CAPTURE_BLOCK_CLASSIC) {
        put(&w, w.header, block->header_bytes);
        put(&w, w.data, w.data_bytes);
        return true;
    }
    if (change->is_stripped)
        put_stripped(&w);
    else
        put_pcapng(&w);
    return true;
}

/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* fwrite_unlocked, htole32 */
#include "tools/capture/pcapng_writer.h"

#include <endian.h>
#include <string.h>

#include "tools/capture/pcapng_layout.h"

#define SNAP_BYTES 262144
#define PACKET_MAX_BYTES (UINT32_C(8) << 20) /* half of what the capture reader accepts as a block */
#define OPTION_MAX_BYTES 65535
#define TSRESOL_NS 9
#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define VERSION_1_0 1
#define LENGTH_UNKNOWN UINT32_MAX /* one half of the 64 bits */
#define PACKET_HEAD_BYTES 20

/* Unlocked, because a stdio lock for each part of a block is slow. */
static void put(struct pcapng_writer *writer, const void *bytes, size_t size) {
    /* NOLINTNEXTLINE(clang-analyzer-unix.StdCLibraryFunctions): nobody passes more than there is */
    if (size > 0 && fwrite_unlocked(bytes, 1, size, writer->file) != size)
        writer->failed = true;
}

static void put_padded(struct pcapng_writer *writer, const void *bytes, size_t size) {
    put(writer, bytes, size);
    put(writer, "\0\0", pcapng_padded(size) - size);
}

/* Numbers of 32 bits, at most 8. */
static void put_words(struct pcapng_writer *writer, const uint32_t *words, size_t count) {
    uint32_t stored[8];

    for (size_t i = 0; i < count; i++)
        stored[i] = htole32(words[i]);
    put(writer, stored, count * sizeof *stored);
}

#define PUT_WORDS(writer, ...)                                                                                         \
    put_words(writer, (const uint32_t[]){__VA_ARGS__}, sizeof(const uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

/* The size of an option and the end of the list; 0 if there is no value. */
static size_t options_bytes(const void *value, size_t size) {
    return value == NULL ? 0 : 4 + pcapng_padded(size) + 4;
}

static void put_option(struct pcapng_writer *writer, uint16_t code, const void *value, size_t size) {
    PUT_WORDS(writer, (uint32_t)size << 16 | code);
    put_padded(writer, value, size);
}

static size_t text_bytes(const char *text) {
    size_t size = text == NULL ? 0 : strlen(text);

    return size < OPTION_MAX_BYTES ? size : OPTION_MAX_BYTES;
}

void pcapng_writer_begin(struct pcapng_writer *writer, FILE *file, const char *application) {
    size_t text = text_bytes(application);
    uint32_t size = (uint32_t)(PCAPNG_FRAME_BYTES + 16 + options_bytes(application, text));

    *writer = (struct pcapng_writer){.file = file};
    PUT_WORDS(writer, PCAPNG_SECTION, size, BYTE_ORDER_MAGIC, VERSION_1_0, LENGTH_UNKNOWN, LENGTH_UNKNOWN);
    if (application != NULL) {
        put_option(writer, PCAPNG_APPLICATION, application, text);
        PUT_WORDS(writer, PCAPNG_END);
    }
    PUT_WORDS(writer, size);
}

uint32_t pcapng_writer_add_interface(struct pcapng_writer *writer, uint16_t link_type, const char *name) {
    const uint8_t resolution = TSRESOL_NS;
    size_t text = text_bytes(name);
    uint32_t size = (uint32_t)(PCAPNG_FRAME_BYTES + 8 + (name == NULL ? 0 : 4 + pcapng_padded(text)) +
                               options_bytes(&resolution, 1));

    PUT_WORDS(writer, PCAPNG_INTERFACE, size, link_type, SNAP_BYTES);
    if (name != NULL)
        put_option(writer, PCAPNG_NAME, name, text);
    put_option(writer, PCAPNG_TSRESOL, &resolution, 1);
    PUT_WORDS(writer, PCAPNG_END);
    PUT_WORDS(writer, size);
    return writer->interfaces++;
}

void pcapng_writer_add_packet(struct pcapng_writer *writer, uint32_t interface, const struct capture_packet *packet) {
    size_t comment = packet->comment_bytes < OPTION_MAX_BYTES ? packet->comment_bytes : OPTION_MAX_BYTES;
    uint64_t time_ns = (uint64_t)packet->time_ns;
    uint32_t size;

    if (interface >= writer->interfaces || packet->captured_bytes > PACKET_MAX_BYTES || packet->time_ns < 0) {
        writer->failed = true;
        return;
    }
    size = (uint32_t)(PCAPNG_FRAME_BYTES + PACKET_HEAD_BYTES + pcapng_padded(packet->captured_bytes) +
                      options_bytes(packet->comment, comment));
    PUT_WORDS(writer, PCAPNG_ENHANCED_PACKET, size, interface, (uint32_t)(time_ns >> 32), (uint32_t)time_ns,
              (uint32_t)packet->captured_bytes, (uint32_t)packet->length_bytes);
    put_padded(writer, packet->bytes, packet->captured_bytes);
    if (packet->comment != NULL) {
        put_option(writer, PCAPNG_COMMENT, packet->comment, comment);
        PUT_WORDS(writer, PCAPNG_END);
    }
    PUT_WORDS(writer, size);
}

void pcapng_writer_add_datagram(struct pcapng_writer *writer, uint32_t interface, int64_t time_ns,
                                const struct capture_address *source, const struct capture_address *destination,
                                const void *payload, size_t payload_bytes, const char *comment) {
    size_t size = capture_packet_build(source, destination, payload, payload_bytes, writer->frame);
    struct capture_packet packet = {
        .time_ns = time_ns,
        .bytes = writer->frame,
        .captured_bytes = size,
        .length_bytes = size,
        .comment = comment,
        .comment_bytes = text_bytes(comment),
        .link_type = CAPTURE_LINK_ETHERNET,
    };

    if (size == 0)
        writer->failed = true;
    else
        pcapng_writer_add_packet(writer, interface, &packet);
}

bool pcapng_writer_finish(struct pcapng_writer *writer) {
    if (fflush(writer->file) != 0)
        writer->failed = true;
    return !writer->failed;
}

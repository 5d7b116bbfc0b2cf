/* SPDX-License-Identifier: MIT */
#include "tools/capture/pcapng_writer.h"

#include <string.h>

enum { BLOCK_INTERFACE = 1, BLOCK_PACKET = 6, BLOCK_SECTION = 0x0a0d0d0a };
enum { OPTION_END = 0, OPTION_COMMENT = 1, OPTION_APPLICATION = 4, OPTION_NAME = 2, OPTION_TSRESOL = 9 };

#define SNAP_BYTES 262144
#define PACKET_MAX_BYTES (UINT32_C(8) << 20) /* half of what the capture reader accepts as a block */
#define OPTION_MAX_BYTES 65535
#define TSRESOL_NS 9
#define FRAME_BYTES 12 /* type, length, length again */
#define PACKET_HEAD_BYTES 20

static size_t padded(size_t size) {
    return (size + 3) & ~(size_t)3;
}

static void write_out(struct pcapng_writer *writer, const void *bytes, size_t size) {
    /* NOLINTNEXTLINE(clang-analyzer-unix.StdCLibraryFunctions): nobody passes more than there is */
    if (size > 0 && fwrite(bytes, 1, size, writer->file) != size) {
        writer->failed = true;
    }
}

static void flush_stage(struct pcapng_writer *writer) {
    write_out(writer, writer->stage, writer->staged_bytes);
    writer->staged_bytes = 0;
}

/* Collects a block and writes it at once unless it is large: one stdio call for each number is slow. */
static void put(struct pcapng_writer *writer, const void *bytes, size_t size) {
    if (size > PCAPNG_WRITER_STAGE_BYTES - writer->staged_bytes)
        flush_stage(writer);
    if (size > PCAPNG_WRITER_STAGE_BYTES) {
        write_out(writer, bytes, size);
    } else if (size > 0) {
        memcpy(writer->stage + writer->staged_bytes, bytes, size);
        writer->staged_bytes += size;
    }
}

static void put_padded(struct pcapng_writer *writer, const void *bytes, size_t size) {
    put(writer, bytes, size);
    if (size % 4 != 0)
        put(writer, "\0\0", padded(size) - size);
}

static void put32(struct pcapng_writer *writer, uint32_t value) {
    uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};

    put(writer, bytes, sizeof bytes);
}

/* The size of an option and the end of the list; 0 if there is no value. */
static size_t options_bytes(const void *value, size_t size) {
    return value == NULL ? 0 : 4 + padded(size) + 4;
}

static void put_option(struct pcapng_writer *writer, uint16_t code, const void *value, size_t size) {
    put32(writer, (uint32_t)size << 16 | code);
    put_padded(writer, value, size);
}

static void put_begin(struct pcapng_writer *writer, uint32_t type, uint32_t size) {
    put32(writer, type);
    put32(writer, size);
}

static void put_end(struct pcapng_writer *writer, uint32_t size) {
    put32(writer, size);
    flush_stage(writer);
}

static size_t text_bytes(const char *text) {
    size_t size = text == NULL ? 0 : strlen(text);

    return size < OPTION_MAX_BYTES ? size : OPTION_MAX_BYTES;
}

void pcapng_writer_begin(struct pcapng_writer *writer, FILE *file, const char *application) {
    size_t text = text_bytes(application);
    uint32_t size = (uint32_t)(FRAME_BYTES + 16 + options_bytes(application, text));

    *writer = (struct pcapng_writer){.file = file};
    put_begin(writer, BLOCK_SECTION, size);
    put32(writer, 0x1a2b3c4d);
    put32(writer, 1);          /* version 1.0 */
    put32(writer, UINT32_MAX); /* the length of the section is unknown */
    put32(writer, UINT32_MAX);
    if (application != NULL) {
        put_option(writer, OPTION_APPLICATION, application, text);
        put32(writer, OPTION_END);
    }
    put_end(writer, size);
}

uint32_t pcapng_writer_add_interface(struct pcapng_writer *writer, uint16_t link_type, const char *name) {
    const uint8_t resolution = TSRESOL_NS;
    size_t text = text_bytes(name);
    uint32_t size = (uint32_t)(FRAME_BYTES + 8 + (name == NULL ? 0 : 4 + padded(text)) + options_bytes(&resolution, 1));

    put_begin(writer, BLOCK_INTERFACE, size);
    put32(writer, link_type);
    put32(writer, SNAP_BYTES);
    if (name != NULL)
        put_option(writer, OPTION_NAME, name, text);
    put_option(writer, OPTION_TSRESOL, &resolution, 1);
    put32(writer, OPTION_END);
    put_end(writer, size);
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
    size = (uint32_t)(FRAME_BYTES + PACKET_HEAD_BYTES + padded(packet->captured_bytes) +
                      options_bytes(packet->comment, comment));
    put_begin(writer, BLOCK_PACKET, size);
    put32(writer, interface);
    put32(writer, (uint32_t)(time_ns >> 32));
    put32(writer, (uint32_t)time_ns);
    put32(writer, (uint32_t)packet->captured_bytes);
    put32(writer, (uint32_t)packet->length_bytes);
    put_padded(writer, packet->bytes, packet->captured_bytes);
    if (packet->comment != NULL) {
        put_option(writer, OPTION_COMMENT, packet->comment, comment);
        put32(writer, OPTION_END);
    }
    put_end(writer, size);
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

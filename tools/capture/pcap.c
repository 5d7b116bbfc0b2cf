/* SPDX-License-Identifier: MIT */
/* Classic pcap, parsed by libpcap, which reads through a stdio stream over a byte source. */
#define _GNU_SOURCE /* fopencookie */
#include "tools/capture/pcap.h"
#include "tools/capture/pcapng_layout.h"

#include <glib.h>
#include <pcap/pcap.h>
#include <stdio.h>

#define LINKTYPE_RAW 101

#define LONG_RECORD_MAGIC UINT32_C(0xa1b2cd34)
#define NANO_MAGIC UINT32_C(0xa1b23c4d)
#define RECORD_BYTES 16
#define LONG_RECORD_BYTES 24

struct capture_pcap {
    struct byte_source *source;
    pcap_t *handle;
    uint16_t link_type;
    uint8_t magic[4];

    /* Bytes that libpcap has read from the current packet on. */
    GByteArray *buffered;
    uint64_t buffered_offset; /* its offset in the file */
    uint64_t offset;          /* of the next packet */
};

/* The magic numbers for microseconds, for nanoseconds, and for the longer packet headers of an old Linux patch, in
   either byte order. */
bool capture_pcap_begins_with(const uint8_t magic[4]) {
    static const char magics[][5] = {"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d",
                                     "\x4d\x3c\xb2\xa1", "\xa1\xb2\xcd\x34", "\x34\xcd\xb2\xa1"};

    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (memcmp(magic, magics[i], 4) == 0)
            return true;
    return false;
}

/* Drops the bytes before the next packet. */
static void drop_read(struct capture_pcap *pcap) {
    g_byte_array_remove_range(pcap->buffered, 0, (guint)(pcap->offset - pcap->buffered_offset));
    pcap->buffered_offset = pcap->offset;
}

static ssize_t stream_read(void *cookie, char *into, size_t size) {
    struct capture_pcap *pcap = cookie;
    struct byte_source *source = pcap->source;
    size_t count = byte_source_fill(source, 1);

    count = MIN(count, size);
    drop_read(pcap);
    if (count > 0)
        memcpy(into, source->window, count);
    g_byte_array_append(pcap->buffered, source->window, (guint)count);
    byte_source_skip(source, count);
    return (ssize_t)count;
}

/* Supports ftell only. */
static int stream_seek(void *cookie, off64_t *offset, int whence) {
    const struct capture_pcap *pcap = cookie;

    if (whence != SEEK_CUR || *offset != 0)
        return -1;
    *offset = (off64_t)pcap->source->offset;
    return 0;
}

/* libpcap maps a file's link type to the platform's DLT number, which differs for raw IP. */
static uint16_t link_type_of(int datalink) {
    return datalink == DLT_RAW ? LINKTYPE_RAW : (uint16_t)datalink;
}

/* Makes libpcap read the stream; NULL with a message in error. */
static pcap_t *open_stream(struct capture_pcap *pcap, char text[PCAP_ERRBUF_SIZE]) {
    const cookie_io_functions_t functions = {.read = stream_read, .seek = stream_seek};
    FILE *stream = fopencookie(pcap, "rb", functions);
    pcap_t *handle = NULL;

    snprintf(text, PCAP_ERRBUF_SIZE, "out of memory");
    if (stream != NULL) {
        handle = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, text);
        if (handle == NULL)
            fclose(stream);
    }
    return handle;
}

static uint64_t position(const struct capture_pcap *pcap) {
    return (uint64_t)ftello64(pcap_file(pcap->handle));
}

struct capture_pcap *capture_pcap_open(struct byte_source *source, char error[CAPTURE_ERROR_BYTES]) {
    char text[PCAP_ERRBUF_SIZE];
    struct capture_pcap *pcap = g_new0(struct capture_pcap, 1);

    pcap->source = source;
    pcap->buffered = g_byte_array_new();
    pcap->handle = open_stream(pcap, text);
    if (pcap->handle == NULL) {
        snprintf(error, CAPTURE_ERROR_BYTES, "%.200s", source->error[0] != '\0' ? source->error : text);
        capture_pcap_close(pcap);
        return NULL;
    }
    pcap->link_type = link_type_of(pcap_datalink(pcap->handle));
    memcpy(pcap->magic, pcap->buffered->data, sizeof pcap->magic);
    pcap->offset = position(pcap);
    return pcap;
}

void capture_pcap_tap(struct capture_pcap *pcap, const struct capture_tap *tap) {
    if (tap != NULL)
        tap->block(tap->user,
                   &(struct capture_block){
                       .form = CAPTURE_BLOCK_FILE, .bytes = pcap->buffered->data, .size_bytes = (size_t)pcap->offset},
                   NULL);
}

/* The block of the packet that ends at the stream's position. */
static struct capture_block block_before(const struct capture_pcap *pcap, uint64_t end) {
    bool is_swapped = pcap_is_swapped(pcap->handle);
    uint32_t magic = pcapng_load32(pcap->magic, is_swapped);

    return (struct capture_block){
        .form = CAPTURE_BLOCK_CLASSIC,
        .bytes = pcap->buffered->data + (pcap->offset - pcap->buffered_offset),
        .size_bytes = (size_t)(end - pcap->offset),
        .is_swapped = is_swapped,
        .header_bytes = magic == LONG_RECORD_MAGIC ? LONG_RECORD_BYTES : RECORD_BYTES,
        .ticks_per_second = magic == NANO_MAGIC ? 1000000000 : 1000000,
    };
}

enum capture_result capture_pcap_next(struct capture_pcap *pcap, struct capture_packet *packet,
                                      struct capture_block *block, char error[CAPTURE_ERROR_BYTES]) {
    struct pcap_pkthdr *header;
    const uint8_t *bytes;
    int status;

    status = pcap_next_ex(pcap->handle, &header, &bytes);
    if (status == PCAP_ERROR_BREAK && pcap->source->error[0] == '\0')
        return CAPTURE_END;
    if (status != 1) {
        const char *text = pcap->source->error[0] != '\0' ? pcap->source->error : pcap_geterr(pcap->handle);

        snprintf(error, CAPTURE_ERROR_BYTES, "packet at byte %llu: %.200s", (unsigned long long)pcap->offset, text);
        return CAPTURE_DAMAGED;
    }
    *packet = (struct capture_packet){
        .time_ns = (int64_t)(uint32_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec,
        .bytes = bytes,
        .captured_bytes = header->caplen,
        .length_bytes = header->len > header->caplen ? header->len : header->caplen,
        .link_type = pcap->link_type,
    };
    uint64_t end = position(pcap);
    *block = block_before(pcap, end);
    pcap->offset = end;
    return CAPTURE_PACKET;
}

void capture_pcap_close(struct capture_pcap *pcap) {
    if (pcap == NULL)
        return;
    if (pcap->handle != NULL)
        pcap_close(pcap->handle);
    g_byte_array_unref(pcap->buffered);
    g_free(pcap);
}

/* SPDX-License-Identifier: MIT */
#include "tools/capture/capture.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "tools/capture/format.h"

/* One of pcap and pcapng is not NULL. */
struct capture {
    struct byte_source source;
    struct capture_pcap *pcap;
    struct capture_pcapng *pcapng;
    const struct capture_tap *tap; /* NULL: none */
    uint64_t frames;
    enum capture_result last;
    char error[CAPTURE_ERROR_BYTES];
};

static bool is_pcapng(const uint8_t magic[4]) {
    return memcmp(magic, "\x0a\x0d\x0d\x0a", 4) == 0;
}

/* The magic numbers for microseconds, for nanoseconds, and for the longer packet headers of an old Linux patch, in
   either byte order. */
static bool is_pcap(const uint8_t magic[4]) {
    static const char magics[][5] = {"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d",
                                     "\x4d\x3c\xb2\xa1", "\xa1\xb2\xcd\x34", "\x34\xcd\xb2\xa1"};

    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (memcmp(magic, magics[i], 4) == 0)
            return true;
    return false;
}

static bool format_open(struct capture *capture, char error[CAPTURE_ERROR_BYTES]) {
    size_t available = byte_source_fill(&capture->source, 4);
    const uint8_t *magic = capture->source.window;

    if (available == 0)
        snprintf(error, CAPTURE_ERROR_BYTES, "the file is empty");
    else if (available < 4)
        snprintf(error, CAPTURE_ERROR_BYTES, "too short for a capture file: %zu bytes", available);
    else if (is_pcapng(magic))
        capture->pcapng = capture_pcapng_new(&capture->source);
    else if (is_pcap(magic))
        capture->pcap = capture_pcap_open(&capture->source, error);
    else
        snprintf(error, CAPTURE_ERROR_BYTES, "neither pcap nor pcapng: the file begins with %02x %02x %02x %02x",
                 magic[0], magic[1], magic[2], magic[3]);
    return capture->pcap != NULL || capture->pcapng != NULL;
}

/* Opens path, or the memory area if path is NULL. */
static struct capture *capture_open(const char *path, const void *bytes, size_t size_bytes,
                                    char error[CAPTURE_ERROR_BYTES]) {
    struct capture *capture = g_new0(struct capture, 1);

    if (!byte_source_open(&capture->source, path, bytes, size_bytes, error) || !format_open(capture, error)) {
        capture_close(capture);
        return NULL;
    }
    return capture;
}

struct capture *capture_open_file(const char *path, char error[CAPTURE_ERROR_BYTES]) {
    return capture_open(path, NULL, 0, error);
}

struct capture *capture_open_memory(const void *bytes, size_t size_bytes, char error[CAPTURE_ERROR_BYTES]) {
    return capture_open(NULL, bytes, size_bytes, error);
}

void capture_tap(struct capture *capture, const struct capture_tap *tap) {
    capture->tap = tap;
    if (capture->pcapng != NULL)
        capture_pcapng_tap(capture->pcapng, tap);
    else
        capture_pcap_tap(capture->pcap, tap);
}

enum capture_result capture_next(struct capture *capture, struct capture_packet *packet) {
    struct capture_block block;

    if (capture->last != CAPTURE_PACKET)
        return capture->last;
    if (capture->pcapng != NULL)
        capture->last = capture_pcapng_next(capture->pcapng, packet, &block, capture->error);
    else
        capture->last = capture_pcap_next(capture->pcap, packet, &block, capture->error);
    if (capture->last == CAPTURE_PACKET) {
        packet->frame = ++capture->frames;
        if (capture->tap != NULL)
            capture->tap->block(capture->tap->user, &block, packet);
    }
    return capture->last;
}

const char *capture_error(const struct capture *capture) {
    return capture->error;
}

uint64_t capture_consumed_bytes(const struct capture *capture) {
    return capture->source.consumed_bytes;
}

void capture_close(struct capture *capture) {
    if (capture == NULL)
        return;
    capture_pcap_close(capture->pcap);
    capture_pcapng_free(capture->pcapng);
    byte_source_close(&capture->source);
    g_free(capture);
}

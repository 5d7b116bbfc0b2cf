/* SPDX-License-Identifier: MIT */
#include "tools/capture/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capture/format.h"

/* One of the two formats is open. */
struct ue_capture {
    struct ue_source source;
    struct ue_pcap *pcap;
    struct ue_pcapng *pcapng;
    const struct ue_capture_tap *tap; /* NULL: nobody */
    uint64_t frames;
    enum ue_capture_result last;
    char error[UE_CAPTURE_ERROR_BYTES];
};

static bool is_pcapng(const uint8_t magic[4]) {
    return memcmp(magic, "\x0a\x0d\x0d\x0a", 4) == 0;
}

/* Microseconds, nanoseconds, and the form with longer packet headers of an old Linux patch; either byte order. */
static bool is_pcap(const uint8_t magic[4]) {
    static const char magics[][5] = {"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d",
                                     "\x4d\x3c\xb2\xa1", "\xa1\xb2\xcd\x34", "\x34\xcd\xb2\xa1"};

    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (memcmp(magic, magics[i], 4) == 0)
            return true;
    return false;
}

static bool format_open(struct ue_capture *capture, char error[UE_CAPTURE_ERROR_BYTES]) {
    size_t available = ue_source_fill(&capture->source, 4);
    const uint8_t *magic = capture->source.window;

    if (available == 0)
        snprintf(error, UE_CAPTURE_ERROR_BYTES, "the file is empty");
    else if (available < 4)
        snprintf(error, UE_CAPTURE_ERROR_BYTES, "too short for a capture file: %zu bytes", available);
    else if (is_pcapng(magic))
        capture->pcapng = ue_pcapng_open(&capture->source, error);
    else if (is_pcap(magic))
        capture->pcap = ue_pcap_open(&capture->source, error);
    else
        snprintf(error, UE_CAPTURE_ERROR_BYTES, "neither pcap nor pcapng: it begins with %02x %02x %02x %02x", magic[0],
                 magic[1], magic[2], magic[3]);
    return capture->pcap != NULL || capture->pcapng != NULL;
}

/* path, or the memory area if path is NULL. */
static struct ue_capture *capture_open(const char *path, const void *bytes, size_t size_bytes,
                                       char error[UE_CAPTURE_ERROR_BYTES]) {
    struct ue_capture *capture = calloc(1, sizeof *capture);
    bool opened;

    if (capture == NULL) {
        snprintf(error, UE_CAPTURE_ERROR_BYTES, "out of memory");
        return NULL;
    }
    if (path != NULL)
        opened = ue_source_open(&capture->source, path, error);
    else
        opened = ue_source_open_memory(&capture->source, bytes, size_bytes, error);
    if (!opened || !format_open(capture, error)) {
        ue_capture_close(capture);
        return NULL;
    }
    return capture;
}

struct ue_capture *ue_capture_open(const char *path, char error[UE_CAPTURE_ERROR_BYTES]) {
    return capture_open(path, NULL, 0, error);
}

struct ue_capture *ue_capture_open_memory(const void *bytes, size_t size_bytes, char error[UE_CAPTURE_ERROR_BYTES]) {
    return capture_open(NULL, bytes, size_bytes, error);
}

void ue_capture_tap(struct ue_capture *capture, const struct ue_capture_tap *tap) {
    capture->tap = tap;
    if (capture->pcapng != NULL)
        ue_pcapng_tap(capture->pcapng, tap);
    else
        ue_pcap_tap(capture->pcap, tap);
}

enum ue_capture_result ue_capture_next(struct ue_capture *capture, struct ue_capture_packet *packet) {
    struct ue_block block;

    if (capture->last != UE_CAPTURE_PACKET)
        return capture->last;
    if (capture->pcapng != NULL)
        capture->last = ue_pcapng_next(capture->pcapng, packet, &block, capture->error);
    else
        capture->last = ue_pcap_next(capture->pcap, packet, &block, capture->error);
    if (capture->last == UE_CAPTURE_PACKET) {
        packet->frame = ++capture->frames;
        if (capture->tap != NULL)
            capture->tap->block(capture->tap->user, &block, packet);
    }
    return capture->last;
}

const char *ue_capture_error(const struct ue_capture *capture) {
    return capture->error;
}

uint64_t ue_capture_consumed_bytes(const struct ue_capture *capture) {
    return capture->source.consumed_bytes;
}

void ue_capture_close(struct ue_capture *capture) {
    if (capture == NULL)
        return;
    ue_pcap_close(capture->pcap);
    ue_pcapng_close(capture->pcapng);
    ue_source_close(&capture->source);
    free(capture);
}

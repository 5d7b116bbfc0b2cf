/* SPDX-License-Identifier: MIT */
#include "tools/capture/capture.h"

#include <glib.h>
#include <stdio.h>

#include "tools/capture/pcap.h"
#include "tools/capture/pcapng.h"

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

static bool format_open(struct capture *capture, char error[CAPTURE_ERROR_BYTES]) {
    size_t available = byte_source_fill(&capture->source, 4);
    const uint8_t *magic = capture->source.window;

    if (available == 0)
        snprintf(error, CAPTURE_ERROR_BYTES, "the file is empty");
    else if (available < 4)
        snprintf(error, CAPTURE_ERROR_BYTES, "too short for a capture file: %zu bytes", available);
    else if (capture_pcapng_begins_with(magic))
        capture->pcapng = capture_pcapng_new(&capture->source);
    else if (capture_pcap_begins_with(magic))
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

/* SPDX-License-Identifier: MIT */
/* Private: the bytes of a file, pipe or memory area, inflated on the way if they are gzip-compressed. */
#ifndef UERUDP_TOOLS_CAPTURE_BYTE_SOURCE_H
#define UERUDP_TOOLS_CAPTURE_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/capture/capture.h"

/*
 * A window slides over the plain bytes: `available` of them stand at `window`, the first of which is number `offset`
 * of the plain file. Fill makes the window longer, skip moves its begin; neither goes back.
 */
struct byte_source {
    const uint8_t *window;
    size_t available;
    uint64_t offset;
    bool compressed;
    uint64_t consumed_bytes;            /* bytes taken from file or memory */
    char error[CAPTURE_ERROR_BYTES]; /* why the bytes stopped before the file's end; "" if they did not */

    int fd;                /* -1: memory, */
    const uint8_t *memory; /* of which this is not inflated yet; plain memory is the window itself */
    size_t memory_bytes;
    bool at_end;     /* the window is all there is */
    uint8_t *buffer; /* holds the window of what is not plain memory */
    size_t buffer_bytes;
    struct byte_source_gzip *gzip;
};

/* Open path, or standard input for "-"; false with a text in error. Close also after a failure. */
bool byte_source_open(struct byte_source *source, const char *path, char error[CAPTURE_ERROR_BYTES]);
bool byte_source_open_memory(struct byte_source *source, const void *bytes, size_t size_bytes,
                           char error[CAPTURE_ERROR_BYTES]);
void byte_source_close(struct byte_source *source);

/*
 * Make at least size bytes available and say how many are; fewer only at the end of the file or after an error.
 * Allocates size bytes if the window was smaller, so the caller limits it. Moves earlier windows.
 */
size_t byte_source_fill(struct byte_source *source, size_t size_bytes);

/* Drop size bytes of the window, which must be available. */
static inline void byte_source_skip(struct byte_source *source, size_t size_bytes) {
    source->window += size_bytes;
    source->available -= size_bytes;
    source->offset += size_bytes;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Private: the bytes of a file, pipe or memory area, inflated if they are gzip-compressed. */
#ifndef UERUDP_TOOLS_CAPTURE_BYTE_SOURCE_H
#define UERUDP_TOOLS_CAPTURE_BYTE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/capture/capture.h"

/* A window that slides over the inflated bytes: `available` bytes at `window`, starting at `offset` of the inflated
   file. byte_source_fill extends the window, byte_source_skip advances its start; it never moves back. */
struct byte_source {
    const uint8_t *window;
    size_t available;
    uint64_t offset;
    bool compressed;
    uint64_t consumed_bytes;         /* stored bytes read so far */
    char error[CAPTURE_ERROR_BYTES]; /* why the bytes end before the end of the file; "": no error */

    int fd; /* -1: memory */
    const uint8_t
        *memory; /* stored bytes in memory that are not inflated yet; uncompressed memory is the window itself */
    size_t memory_bytes;
    bool at_end;     /* no bytes follow the window */
    uint8_t *buffer; /* holds the window, except for uncompressed memory */
    size_t buffer_bytes;
    struct byte_source_gzip *gzip;
};

/* Opens path, or standard input for "-", or the bytes in memory if path is NULL. Returns false with a message in error.
   Call byte_source_close also after a failure. */
bool byte_source_open(struct byte_source *source, const char *path, const void *bytes, size_t size_bytes,
                      char error[CAPTURE_ERROR_BYTES]);
void byte_source_close(struct byte_source *source);

/* Makes at least size_bytes available and returns the number of available bytes; fewer only at the end or after an
   error. Allocates size_bytes if the window is smaller, so the caller must limit it. Invalidates earlier window
   pointers. */
size_t byte_source_fill(struct byte_source *source, size_t size_bytes);

/* Removes size_bytes from the start of the window; they must be available. */
static inline void byte_source_skip(struct byte_source *source, size_t size_bytes) {
    source->window += size_bytes;
    source->available -= size_bytes;
    source->offset += size_bytes;
}

#endif

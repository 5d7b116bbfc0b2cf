/* SPDX-License-Identifier: MIT */
#include "tools/capture/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW_BYTES ((size_t)65536)

/* zlib: the largest window, with a gzip header */
#define GZIP_WINDOW_BITS (15 + 16)

struct byte_source_gzip {
    z_stream stream;
    bool inside; /* a gzip member has begun and not ended */
    uint8_t packed[WINDOW_BYTES];
};

static void source_fail(struct byte_source *source, const char *what, const char *why) {
    snprintf(source->error, sizeof source->error, "%s: %s", what, why);
}

/* Reads the next stored bytes; 0 at the end or after an error. Returns what a pipe has, so that live input is not
   delayed. */
static size_t read_stored(struct byte_source *source, uint8_t *into, size_t size) {
    ssize_t count;

    if (source->fd < 0) {
        count = (ssize_t)(size < source->memory_bytes ? size : source->memory_bytes);
        if (count > 0)
            memcpy(into, source->memory, (size_t)count);
        source->memory += count;
        source->memory_bytes -= (size_t)count;
    } else {
        do {
            count = read(source->fd, into, size);
        } while (count < 0 && errno == EINTR);
        if (count < 0) {
            source_fail(source, "cannot read", strerror(errno));
            count = 0;
        }
    }
    source->consumed_bytes += (uint64_t)count;
    return (size_t)count;
}

/* Reads compressed bytes to inflate; false at the end of the file, which is an error inside a gzip member. */
static bool gzip_refill(struct byte_source *source) {
    struct byte_source_gzip *gzip = source->gzip;

    if (gzip->stream.avail_in == 0) {
        gzip->stream.next_in = gzip->packed;
        gzip->stream.avail_in = (uInt)read_stored(source, gzip->packed, sizeof gzip->packed);
    }
    if (gzip->stream.avail_in == 0) {
        if (gzip->inside && source->error[0] == '\0')
            source_fail(source, "gzip data", "ends too early");
        return false;
    }
    if (!gzip->inside)
        inflateReset(&gzip->stream);
    gzip->inside = true;
    return true;
}

/* Returns the next inflated bytes; 0 at the end or after an error. A gzip file may have several members. */
static size_t read_gzip(struct byte_source *source, uint8_t *into, size_t size) {
    struct byte_source_gzip *gzip = source->gzip;
    z_stream *stream = &gzip->stream;

    stream->next_out = into;
    stream->avail_out = (uInt)size;
    while (stream->avail_out == size && source->error[0] == '\0' && gzip_refill(source)) {
        int status = inflate(stream, Z_NO_FLUSH);

        if (status == Z_STREAM_END)
            gzip->inside = false;
        else if (status != Z_OK && status != Z_BUF_ERROR)
            source_fail(source, "gzip data", stream->msg != NULL ? stream->msg : "damaged");
    }
    return size - stream->avail_out;
}

/* Makes the buffer hold size bytes from the start of the window on. */
static void make_room(struct byte_source *source, size_t size) {
    uint8_t *buffer = size > source->buffer_bytes ? g_malloc(size) : source->buffer;

    if (source->available > 0)
        memmove(buffer, source->window, source->available);
    if (buffer != source->buffer) {
        g_free(source->buffer);
        source->buffer = buffer;
        source->buffer_bytes = size;
    }
    source->window = source->buffer;
}

size_t byte_source_fill(struct byte_source *source, size_t size_bytes) {
    if (source->available >= size_bytes || source->at_end)
        return source->available;
    make_room(source, MAX(size_bytes, WINDOW_BYTES));
    while (source->available < size_bytes && !source->at_end) {
        uint8_t *into = source->buffer + source->available;
        size_t room = source->buffer_bytes - source->available;
        size_t count = source->compressed ? read_gzip(source, into, room) : read_stored(source, into, room);

        source->available += count;
        source->at_end = count == 0;
    }
    return source->available;
}

/* Inflates from here on, beginning with the bytes that are already in the window. */
static bool gzip_begin(struct byte_source *source) {
    struct byte_source_gzip *gzip = source->gzip = g_new0(struct byte_source_gzip, 1);

    if (inflateInit2(&gzip->stream, GZIP_WINDOW_BITS) != Z_OK) {
        source_fail(source, "cannot inflate", strerror(ENOMEM));
        source->available = 0;
        return false;
    }
    if (source->fd < 0) {
        source->memory = source->window;
        source->memory_bytes = source->available;
        source->consumed_bytes = 0;
    } else {
        memcpy(gzip->packed, source->window, source->available);
        gzip->stream.next_in = gzip->packed;
        gzip->stream.avail_in = (uInt)source->available;
    }
    gzip->inside = true;
    source->at_end = false;
    source->compressed = true;
    source->available = 0;
    return true;
}

/* Detects gzip and fills the window far enough to detect the format of the content. */
static bool source_begin(struct byte_source *source, char error[CAPTURE_ERROR_BYTES]) {
    bool is_gzip = byte_source_fill(source, 2) >= 2 && source->window[0] == 0x1f && source->window[1] == 0x8b;

    if (is_gzip && gzip_begin(source))
        byte_source_fill(source, 4);
    if (source->available == 0 && source->error[0] != '\0') {
        memcpy(error, source->error, sizeof source->error);
        return false;
    }
    return true;
}

bool byte_source_open(struct byte_source *source, const char *path, const void *bytes, size_t size_bytes,
                      char error[CAPTURE_ERROR_BYTES]) {
    *source = (struct byte_source){.fd = -1};
    if (path == NULL) {
        source->window = bytes;
        source->available = source->consumed_bytes = size_bytes;
        source->at_end = true;
        return source_begin(source, error);
    }
    source->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0) {
        snprintf(error, CAPTURE_ERROR_BYTES, "cannot open: %s", strerror(errno));
        return false;
    }
    return source_begin(source, error);
}

void byte_source_close(struct byte_source *source) {
    if (source->fd >= 0)
        close(source->fd);
    if (source->gzip != NULL)
        inflateEnd(&source->gzip->stream);
    g_free(source->gzip);
    g_free(source->buffer);
    *source = (struct byte_source){.fd = -1};
}

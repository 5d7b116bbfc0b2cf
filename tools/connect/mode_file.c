/* SPDX-License-Identifier: MIT */
/* connect --file: sends a file as reliable messages of one channel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/connect/mode.h"

#define MESSAGE_BYTES_MAX 4096
#define WAITING_BYTES_MAX (64u << 10)

struct file_mode {
    struct connect_mode mode;
    FILE *file;
    int64_t channel;
    size_t message_bytes; /* at most what an idle channel accepts; 0: not known yet */
    bool is_read;         /* to the end of the file */
    uint64_t messages, sent_bytes, echoed_bytes;
    uint64_t last_ns; /* when it was still sending, or waiting for an acknowledgement */
};

static void send_piece(struct file_mode *f, uint32_t channel) {
    uint8_t bytes[MESSAGE_BYTES_MAX];
    size_t size = fread(bytes, 1, f->message_bytes, f->file);
    if (size == 0) {
        f->is_read = true;
        if (ferror(f->file)) {
            connect_mode_fail(&f->mode, "the file cannot be read: %s", g_strerror(errno));
        }
    } else if (connect_mode_push(&f->mode, channel, true, (struct ue_view){bytes, 0, size * 8})) {
        f->messages++;
        f->sent_bytes += size;
    } else {
        connect_mode_fail(&f->mode, "a message of %zu bytes does not fit", size);
    }
}

static void tick(struct connect_mode *mode, uint64_t now_ns) {
    struct file_mode *f = (struct file_mode *)mode;
    if (mode->channel_count == 0 ||
        (f->channel >= 0 && connect_mode_channel_index(mode, (uint32_t)f->channel) == CONNECT_MODE_NO_CHANNEL)) {
        return; /* the server has not opened it yet */
    }
    uint32_t channel = f->channel >= 0 ? (uint32_t)f->channel : mode->channels[0];
    if (f->message_bytes == 0) {
        size_t room_bytes = connect_mode_message_bytes_max(mode, channel);
        f->message_bytes = room_bytes < MESSAGE_BYTES_MAX ? room_bytes : MESSAGE_BYTES_MAX;
    }
    f->last_ns = now_ns;
    while (!f->is_read && mode->state == CONNECT_MODE_RUNNING && mode->queue.size_bytes < WAITING_BYTES_MAX) {
        send_piece(f, channel);
    }
    if (f->is_read && send_queue_is_empty(&mode->queue) && ue_conn_unacked(mode->conn, channel) == 0 &&
        mode->state == CONNECT_MODE_RUNNING) {
        mode->state = CONNECT_MODE_DONE;
    }
}

static void receive(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *bunch) {
    (void)now_ns;
    ((struct file_mode *)mode)->echoed_bytes += bunch->data.bits / 8;
}

static json_t *result(const struct connect_mode *mode) {
    const struct file_mode *f = (const struct file_mode *)mode;
    double seconds = f->last_ns > mode->start_ns ? (double)(f->last_ns - mode->start_ns) / UE_NS_PER_S : 0;
    return json_pack("{s:I, s:I, s:b, s:I, s:f, s:f}", "messages", (json_int_t)f->messages, "bytes",
                     (json_int_t)f->sent_bytes, "delivered", mode->state == CONNECT_MODE_DONE, "bytes_echoed",
                     (json_int_t)f->echoed_bytes, "seconds", seconds, "bytes_per_second",
                     seconds > 0 ? (double)f->sent_bytes / seconds : 0.0);
}

static void clear(struct connect_mode *mode) {
    fclose(((struct file_mode *)mode)->file);
}

/* A directory can be opened but not read. */
static FILE *open_file(const char *path) {
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        errno = EISDIR;
        return NULL;
    }
    return fopen(path, "rb");
}

struct connect_mode *connect_mode_file_new(const struct connect_mode_options *options) {
    static const struct connect_mode_type kind = {
        .name = "file", .receive = receive, .tick = tick, .result = result, .clear = clear};
    FILE *file = open_file(options->file);
    if (file == NULL) {
        cli_error("%s: %s", options->file, g_strerror(errno));
        return NULL;
    }
    struct file_mode *f = g_new0(struct file_mode, 1);
    f->mode.kind = &kind;
    f->file = file;
    f->channel = options->channel;
    return &f->mode;
}

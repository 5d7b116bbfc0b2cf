/* SPDX-License-Identifier: MIT */
#include "tools/live/line_writer.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* small, so that a slow reader counts as a reader */
#define WRITE_BYTES 4096

struct line_writer {
    int descriptor;
    GThread *thread;
    GMutex mutex; /* guards the members below */
    GCond changed;
    GString *waiting; /* from `written` on */
    size_t written;
    bool is_ending;
    bool is_done;      /* the thread has finished */
    bool is_abandoned; /* the caller has given up: the thread frees the writer */
    int error;         /* errno of a write; 0: none */
};

static size_t waiting_bytes(const struct line_writer *w) {
    return w->waiting->len - w->written;
}

/* Returns errno; 0: success, or try again. Another program may have made the descriptor non-blocking. */
static int write_bytes(int descriptor, const char *bytes, size_t size_bytes, ssize_t *done) {
    *done = write(descriptor, bytes, size_bytes);
    if (*done < 0 && errno == EAGAIN) {
        poll(&(struct pollfd){.fd = descriptor, .events = POLLOUT}, 1, -1);
        return 0;
    }
    return *done < 0 && errno != EINTR ? errno : 0;
}

/* The mutex is held on entry and exit, but not during the write. False: an error. */
static bool write_some(struct line_writer *w) {
    char bytes[WRITE_BYTES];
    size_t size_bytes = MIN(waiting_bytes(w), sizeof bytes);
    memcpy(bytes, w->waiting->str + w->written, size_bytes);
    g_mutex_unlock(&w->mutex);
    ssize_t done;
    int error = write_bytes(w->descriptor, bytes, size_bytes, &done);
    g_mutex_lock(&w->mutex);
    w->error = error;
    w->written += done > 0 ? (size_t)done : 0;
    if (w->written == w->waiting->len || w->written > LINE_WRITER_BYTES / 2) {
        g_string_erase(w->waiting, 0, (gssize)w->written);
        w->written = 0;
    }
    g_cond_signal(&w->changed);
    return error == 0;
}

static void free_writer(struct line_writer *w) {
    g_string_free(w->waiting, TRUE);
    g_mutex_clear(&w->mutex);
    g_cond_clear(&w->changed);
    g_free(w);
}

static void *write_all(void *user) {
    struct line_writer *w = user;
    bool good = true;
    g_mutex_lock(&w->mutex);
    while (good && (waiting_bytes(w) != 0 || !w->is_ending)) {
        if (waiting_bytes(w) == 0) {
            g_cond_wait(&w->changed, &w->mutex);
        } else {
            good = write_some(w);
        }
    }
    w->is_done = true;
    bool is_abandoned = w->is_abandoned;
    g_cond_signal(&w->changed);
    g_mutex_unlock(&w->mutex);
    if (is_abandoned) {
        free_writer(w);
    }
    return NULL;
}

struct line_writer *line_writer_new(int descriptor) {
    struct line_writer *w = g_new0(struct line_writer, 1);
    w->descriptor = descriptor;
    w->waiting = g_string_new(NULL);
    g_mutex_init(&w->mutex);
    g_cond_init(&w->changed);
    w->thread = g_thread_new("lines", write_all, w);
    return w;
}

bool line_writer_write(struct line_writer *w, const char *line) {
    size_t size_bytes = strlen(line);
    g_mutex_lock(&w->mutex);
    bool has_room = size_bytes <= LINE_WRITER_BYTES - waiting_bytes(w) && !w->is_done;
    if (has_room) {
        g_string_append_len(w->waiting, line, (gssize)size_bytes);
        g_cond_signal(&w->changed);
    }
    g_mutex_unlock(&w->mutex);
    return has_room;
}

bool line_writer_is_ready(struct line_writer *w) {
    g_mutex_lock(&w->mutex);
    bool is_ready = waiting_bytes(w) < LINE_WRITER_BYTES / 2;
    g_mutex_unlock(&w->mutex);
    return is_ready;
}

/* The mutex is held. */
static void wait_for_reader(struct line_writer *w) {
    gint64 until_us = g_get_monotonic_time() + LINE_WRITER_TIMEOUT_US;
    size_t before = waiting_bytes(w);
    while (!w->is_done) {
        bool is_over = !g_cond_wait_until(&w->changed, &w->mutex, until_us);
        if (waiting_bytes(w) != before) {
            before = waiting_bytes(w);
            until_us = g_get_monotonic_time() + LINE_WRITER_TIMEOUT_US;
        } else if (is_over) {
            return;
        }
    }
}

bool line_writer_close(struct line_writer *w, uint64_t *lost) {
    *lost = 0;
    if (w == NULL) {
        return true;
    }
    g_mutex_lock(&w->mutex);
    w->is_ending = true;
    g_cond_signal(&w->changed);
    wait_for_reader(w);
    for (size_t i = w->written; i < w->waiting->len; i++) {
        *lost += w->waiting->str[i] == '\n';
    }
    bool is_done = w->is_done;
    int error = w->error;
    GThread *thread = w->thread;
    w->is_abandoned = !is_done; /* its thread waits for the reader until the program ends at the latest */
    g_mutex_unlock(&w->mutex);
    if (is_done) {
        g_thread_join(thread);
        free_writer(w);
    } else {
        g_thread_unref(thread);
    }
    errno = error;
    return error == 0;
}

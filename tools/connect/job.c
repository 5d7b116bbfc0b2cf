/* SPDX-License-Identifier: MIT */
#include "tools/connect/job.h"

#include <stdarg.h>

#include "tools/live/actor_message.h"

#define BACKLOG_BYTES (256u << 10)

void connect_job_attach(struct connect_job *job, struct ue_conn *conn, bool wraps) {
    job->conn = conn;
    send_queue_init(&job->queue, conn, wraps, BACKLOG_BYTES);
}

void connect_job_begin(struct connect_job *job, uint64_t now_ns) {
    job->start_ns = now_ns;
    job->last_received_ns = now_ns;
}

void connect_job_free(struct connect_job *job) {
    if (job != NULL) {
        send_queue_clear(&job->queue);
        if (job->kind->clear != NULL) {
            job->kind->clear(job);
        }
        g_free(job);
    }
}

size_t connect_job_message_bytes_max(const struct connect_job *job, uint32_t channel) {
    size_t room_bytes = ue_conn_room_bits(job->conn, channel) / 8;
    size_t wrapping_bytes = job->queue.wraps ? ACTOR_MESSAGE_BYTES : 0;
    return room_bytes > wrapping_bytes ? room_bytes - wrapping_bytes : 0;
}

uint32_t connect_job_channel_index(const struct connect_job *job, uint32_t channel) {
    for (uint32_t i = 0; i < job->channel_count; i++) {
        if (job->channels[i] == channel) {
            return i;
        }
    }
    return CONNECT_JOB_NO_CHANNEL;
}

void connect_job_add_channel(struct connect_job *job, uint32_t channel) {
    bool is_new = connect_job_channel_index(job, channel) == CONNECT_JOB_NO_CHANNEL;
    job->opened_count++;
    if (is_new && job->channel_count < CONNECT_JOB_CHANNELS_MAX) {
        job->channels[job->channel_count++] = channel;
    }
}

/* A server may open channels and send before the client learns that it has joined. */
void connect_job_receive(struct connect_job *job, uint64_t now_ns, const struct ue_event *event) {
    if (event->type == UE_EVENT_CHANNEL_OPENED && event->kind == UE_KIND_ACTOR) {
        connect_job_add_channel(job, event->channel);
    } else if (event->type == UE_EVENT_BUNCH && event->channel != 0 && !event->open &&
               job->state == CONNECT_JOB_RUNNING) {
        struct ue_event message = *event;
        message.data = job->queue.wraps ? actor_message_unwrap(job->conn, event->data) : event->data;
        job->last_received_ns = now_ns;
        job->kind->receive(job, now_ns, &message);
    }
}

void connect_job_tick(struct connect_job *job, uint64_t now_ns) {
    if (job->state == CONNECT_JOB_RUNNING) {
        job->kind->tick(job, now_ns);
        send_queue_send(&job->queue, now_ns);
        if (job->queue.refused != 0) {
            connect_job_fail(job, "a message is too large, or its channel is closed");
        }
    }
}

void connect_job_fail(struct connect_job *job, const char *format, ...) {
    va_list arguments;
    if (job->state == CONNECT_JOB_FAILED) {
        return; /* the first problem is the cause of later ones */
    }
    va_start(arguments, format);
    g_vsnprintf(job->problem, sizeof job->problem, format, arguments);
    va_end(arguments);
    job->state = CONNECT_JOB_FAILED;
}

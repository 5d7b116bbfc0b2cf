/* SPDX-License-Identifier: MIT */
/* What a client does once it has joined: a job, which sees the server's channels and messages and sends its own. */
#ifndef UERUDP_TOOLS_CONNECT_JOB_H
#define UERUDP_TOOLS_CONNECT_JOB_H

#include <jansson.h>

#include "tools/live/send_queue.h"

enum connect_job_state { CONNECT_JOB_RUNNING, CONNECT_JOB_DONE, CONNECT_JOB_FAILED };

#define CONNECT_JOB_CHANNELS_MAX 16
#define CONNECT_JOB_NO_CHANNEL UINT32_MAX

struct connect_job;

struct connect_job_type {
    const char *name;
    /* A message of the server; its view lives during the call. What opens a channel does not come here. */
    void (*take)(struct connect_job *job, uint64_t now_ns, const struct ue_event *bunch);
    /* Once a tick: puts into the backlog what there is to send. */
    void (*work)(struct connect_job *job, uint64_t now_ns);
    /* What came of it, for the report. */
    json_t *(*result)(const struct connect_job *job);
    void (*clear)(struct connect_job *job); /* NULL: nothing */
};

/* The first member of each job. */
struct connect_job {
    const struct connect_job_type *kind;
    enum connect_job_state state;
    char problem[160]; /* why it failed */
    struct ue_conn *conn;
    struct send_queue backlog;
    uint64_t begun_ns;
    uint64_t heard_ns;                      /* when the server's last message came */
    uint32_t channels[CONNECT_JOB_CHANNELS_MAX]; /* that were opened for actors, in order */
    uint32_t channel_count;
    uint32_t opened_count; /* of those, and any further ones */
};

/* What to do; the texts stay the caller's. Members that a job does not name do not count. */
struct connect_job_options {
    uint64_t seed;
    const char *file;
    const char *scenario;
    int64_t channel; /* -1: the first that the server opens */
    bool as_json;    /* what is reported on the way */
};

/* Sends messages of 1 byte to 64 KiB and expects them back. */
struct connect_job *connect_job_echo_new(const struct connect_job_options *options);
/* Sends a file. NULL, with a message, when it cannot be read. */
struct connect_job *connect_job_file_new(const struct connect_job_options *options);
/* Sends lines, and prints what comes back. */
struct connect_job *connect_job_lines_new(const struct connect_job_options *options);
/* Sends the client's side of a scenario of the simulator. NULL, with a message, when there is none of that name. */
struct connect_job *connect_job_scenario_new(const struct connect_job_options *options);

/* Another line; false: no more for now. NULL: there are no more. Only for a job of lines. */
bool connect_job_lines_add(struct connect_job *job, const char *line);

/* From now on events may come. wraps: messages travel as calls of the channel's actor (actor_message.h). */
void connect_job_attach(struct connect_job *job, struct ue_conn *conn, bool wraps);
/* Once joined: from now on it may send. */
void connect_job_begin(struct connect_job *job, uint64_t now_ns);
/* A channel that messages may go through. */
void connect_job_add_channel(struct connect_job *job, uint32_t channel);
void connect_job_receive(struct connect_job *job, uint64_t now_ns, const struct ue_event *event);
void connect_job_tick(struct connect_job *job, uint64_t now_ns);
void connect_job_free(struct connect_job *job);

void connect_job_fail(struct connect_job *job, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The largest message that a channel takes now. */
size_t connect_job_message_bytes_max(const struct connect_job *job, uint32_t channel);
/* The place of a channel in job->channels; CONNECT_JOB_NO_CHANNEL: not there. */
uint32_t connect_job_channel_index(const struct connect_job *job, uint32_t channel);

#endif

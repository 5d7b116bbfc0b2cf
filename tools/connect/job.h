/* SPDX-License-Identifier: MIT */
/* A job: what a client does after it has joined. It receives the server's channels and messages and sends its own. */
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
    /* A message of the server; its view is valid during the call. The bunch that opens a channel is not passed. */
    void (*receive)(struct connect_job *job, uint64_t now_ns, const struct ue_event *bunch);
    /* Called once a tick: adds messages to the send queue. */
    void (*tick)(struct connect_job *job, uint64_t now_ns);
    /* Returns the result for the report. */
    json_t *(*result)(const struct connect_job *job);
    void (*clear)(struct connect_job *job); /* NULL: nothing to free */
};

/* The first member of each job. */
struct connect_job {
    const struct connect_job_type *kind;
    enum connect_job_state state;
    char problem[160]; /* why it failed */
    struct ue_conn *conn;
    struct send_queue queue;
    uint64_t start_ns;
    uint64_t last_received_ns;                   /* when the newest message of the server came */
    uint32_t channels[CONNECT_JOB_CHANNELS_MAX]; /* opened for actors, in order */
    uint32_t channel_count;
    uint32_t opened_count; /* including those that did not fit into the array */
};

/* Options of the jobs; a job ignores members that it does not name. The caller owns the texts. */
struct connect_job_options {
    uint64_t seed;
    const char *file;
    const char *scenario;
    int64_t channel; /* -1: the first that the server opens */
    bool as_json;    /* of what it reports */
};

/* Sends messages of 1 byte to 64 KiB and expects their echoes. */
struct connect_job *connect_job_check_new(const struct connect_job_options *options);
/* Sends a file. NULL, with a message: it cannot be read. */
struct connect_job *connect_job_file_new(const struct connect_job_options *options);
/* Sends lines and prints the answers. */
struct connect_job *connect_job_lines_new(const struct connect_job_options *options);
/* Sends the client's side of a scenario of the simulator. NULL, with a message: no scenario has that name. */
struct connect_job *connect_job_scenario_new(const struct connect_job_options *options);

/* Adds a line, only to a job of lines. NULL: there are no more. False: no more for now. */
bool connect_job_lines_add(struct connect_job *job, const char *line);

/* Connects the job; events may follow. wraps: messages travel as calls of the channel's actor (actor_message.h). */
void connect_job_attach(struct connect_job *job, struct ue_conn *conn, bool wraps);
/* The client has joined; the job may send. */
void connect_job_begin(struct connect_job *job, uint64_t now_ns);
/* Adds a channel for messages. */
void connect_job_add_channel(struct connect_job *job, uint32_t channel);
void connect_job_receive(struct connect_job *job, uint64_t now_ns, const struct ue_event *event);
void connect_job_tick(struct connect_job *job, uint64_t now_ns);
void connect_job_free(struct connect_job *job);

void connect_job_fail(struct connect_job *job, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The largest message that a channel accepts now. */
size_t connect_job_message_bytes_max(const struct connect_job *job, uint32_t channel);
/* The index of a channel in job->channels; CONNECT_JOB_NO_CHANNEL: not found. */
uint32_t connect_job_channel_index(const struct connect_job *job, uint32_t channel);

#endif

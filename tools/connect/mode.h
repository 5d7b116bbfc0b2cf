/* SPDX-License-Identifier: MIT */
/* A mode: what a client does after it has joined. It receives the server's channels and messages and sends its own. */
#ifndef UERUDP_TOOLS_CONNECT_MODE_H
#define UERUDP_TOOLS_CONNECT_MODE_H

#include <jansson.h>

#include "tools/live/send_queue.h"
#include "tools/sim/scenario.h"

enum connect_mode_state { CONNECT_MODE_RUNNING, CONNECT_MODE_DONE, CONNECT_MODE_FAILED };

#define CONNECT_MODE_CHANNELS_MAX 16
#define CONNECT_MODE_NO_CHANNEL UINT32_MAX

struct connect_mode;

struct connect_mode_type {
    const char *name;
    /* A message of the server; its view is valid during the call. The bunch that opens a channel is not passed. */
    void (*receive)(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *bunch);
    /* Instead of `receive`: every event of the connection. */
    void (*handle_event)(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *event);
    /* Called once a tick: adds messages to the send queue. */
    void (*tick)(struct connect_mode *mode, uint64_t now_ns);
    /* Returns the result for the report. */
    json_t *(*result)(const struct connect_mode *mode);
    /* Whether messages were sent and none came back. NULL: they need not. */
    bool (*is_unechoed)(const struct connect_mode *mode);
    void (*clear)(struct connect_mode *mode); /* NULL: nothing to free */
};

/* The first member of each mode. */
struct connect_mode {
    const struct connect_mode_type *kind;
    enum connect_mode_state state;
    char problem[160]; /* why it failed */
    struct ue_conn *conn;
    struct send_queue queue;
    bool sends_calls;
    uint64_t start_ns;
    uint64_t last_received_ns;                    /* when the newest message of the server came */
    uint32_t channels[CONNECT_MODE_CHANNELS_MAX]; /* opened for actors, in order */
    uint32_t channel_count;
};

/* Options of the modes; a mode ignores members that it does not name. The caller owns the texts. */
struct connect_mode_options {
    uint64_t seed;
    const char *file;
    const struct sim_scenario *scenario; /* a game */
    bool is_scenario_asked;              /* a server that does not play it is a problem */
    int64_t channel;                     /* -1: the first that the server opens */
    bool as_json;                        /* of what it reports */
};

/* Sends messages of 1 byte to 64 KiB and expects their echoes. */
struct connect_mode *connect_mode_check_new(const struct connect_mode_options *options);
/* Sends a file. NULL, with a message: it cannot be read. */
struct connect_mode *connect_mode_file_new(const struct connect_mode_options *options);
/* Sends lines and prints the answers. */
struct connect_mode *connect_mode_lines_new(const struct connect_mode_options *options);
/* Plays the client's side of a scenario. */
struct connect_mode *connect_mode_game_new(const struct connect_mode_options *options);

/* Adds a line, only in the mode that sends lines. NULL: there are no more. False: no more for now. */
bool connect_mode_lines_add(struct connect_mode *mode, const char *line);

/* Connects the mode; events may follow. sends_calls: its messages are calls of the channel's actor (byte_actors.h). */
void connect_mode_attach(struct connect_mode *mode, struct ue_conn *conn, bool sends_calls);
/* Copies a message to the send queue. False: the queue is full. */
bool connect_mode_push(struct connect_mode *mode, uint32_t channel, bool reliable, struct ue_view data);
/* The client has joined; the mode may send. */
void connect_mode_begin(struct connect_mode *mode, uint64_t now_ns);
/* Adds a channel for messages. */
void connect_mode_add_channel(struct connect_mode *mode, uint32_t channel);
void connect_mode_receive(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *event);
void connect_mode_tick(struct connect_mode *mode, uint64_t now_ns);
void connect_mode_free(struct connect_mode *mode);

void connect_mode_fail(struct connect_mode *mode, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The largest message that a channel accepts now. */
size_t connect_mode_message_bytes_max(const struct connect_mode *mode, uint32_t channel);
/* The index of a channel in mode->channels; CONNECT_MODE_NO_CHANNEL: not found. */
uint32_t connect_mode_channel_index(const struct connect_mode *mode, uint32_t channel);

#endif

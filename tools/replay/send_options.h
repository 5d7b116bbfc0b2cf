/* SPDX-License-Identifier: MIT */
/* The options of the modes of `uerudp replay` that send to a host. */
#ifndef UERUDP_TOOLS_REPLAY_SEND_OPTIONS_H
#define UERUDP_TOOLS_REPLAY_SEND_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

struct replay_send_options {
    char *target;          /* HOST:PORT; NULL: the mode does not send */
    double speed;          /* times as fast as captured; 0: without waiting */
    char *per_second_text; /* as on the command line; NULL: not given */
    double per_second;     /* wire: datagrams, evenly; 0: as captured */
    gint64 rounds;         /* wire; 0: without end */
    char *pcap;            /* live: where to record; NULL: nowhere */
};

void replay_send_options_init(struct replay_send_options *sending);
void replay_send_options_clear(struct replay_send_options *sending);

/* Adds all but the target to a command line. */
void replay_send_options_add(struct replay_send_options *sending, GOptionContext *context);

/* After parsing: false, with a message, when a value is unusable or goes with no mode that sends. is_live: the mode is
   live. */
bool replay_send_options_resolve(struct replay_send_options *sending, bool is_live);

#endif

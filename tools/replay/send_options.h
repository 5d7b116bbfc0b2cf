/* SPDX-License-Identifier: MIT */
/* Options of the modes of `uerudp replay` that send to a host. */
#ifndef UERUDP_TOOLS_REPLAY_SEND_OPTIONS_H
#define UERUDP_TOOLS_REPLAY_SEND_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

struct replay_send_options {
    const char *target;          /* HOST:PORT; NULL: the mode does not send */
    double speed;                /* factor of the captured speed; 0: without waiting */
    const char *per_second_text; /* as on the command line; NULL: not given */
    double per_second;           /* wire: datagrams, at even intervals; 0: as captured */
    gint64 rounds;               /* wire; 0: no end */
    const char *pcap;            /* live: capture file; NULL: none */
};

void replay_send_options_init(struct replay_send_options *send_options);

/* Adds all options but the target to a command line. */
void replay_send_options_add(struct replay_send_options *send_options, GOptionContext *context);

/* Call it after parsing. False, with a message: a value is unusable, or an option is for a mode that sends. is_live:
   the mode is live. */
bool replay_send_options_resolve(struct replay_send_options *send_options, bool is_live);

#endif

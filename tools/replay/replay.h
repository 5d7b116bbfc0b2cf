/* SPDX-License-Identifier: MIT */
/* Shared by the modes of `uerudp replay`: the capture, the selection of datagrams, the form of the output. */
#ifndef UERUDP_TOOLS_REPLAY_REPLAY_H
#define UERUDP_TOOLS_REPLAY_REPLAY_H

#include "tools/input/datagram_selection.h"
#include "tools/input/capture_reader.h"
#include "tools/replay/check_options.h"
#include "tools/replay/send_options.h"

struct replay_command {
    struct capture_reader reading;
    struct selection selection;
    gboolean json;
    const char *color;
    bool is_colored;                           /* standard output, of check */
    struct replay_send_options send_options;   /* wire, live */
    struct replay_check_options check_options; /* check */
    char **paths;
    int path_count;
};

/* observe: prints what both sides did. */
enum cli_exit replay_observe(struct replay_command *replay);

/* check: compares both sides with the reference model. */
enum cli_exit replay_check(struct replay_command *replay);

/* wire: sends the datagrams to a host, byte for byte. */
enum cli_exit replay_wire(struct replay_command *replay);

/* live: replays the captured client against a live server. */
enum cli_exit replay_live(struct replay_command *replay);

#endif

/* SPDX-License-Identifier: MIT */
/* What the modes of `uerudp replay` share: the capture, the datagrams that the user selects, the form of the output. */
#ifndef UERUDP_TOOLS_REPLAY_REPLAY_H
#define UERUDP_TOOLS_REPLAY_REPLAY_H

#include "tools/cli/selection.h"
#include "tools/input/capture_reader.h"
#include "tools/replay/check_options.h"
#include "tools/replay/send_options.h"

struct replay_command {
    struct capture_reader reading;
    struct selection selection;
    gboolean json;
    struct replay_send_options sending;   /* wire, live */
    struct replay_check_options checking; /* check */
    char **paths;
    int path_count;
};

/* observe: what the two ends did, line by line. */
enum cli_exit replay_observe(struct replay_command *replay);

/* check: whether the two ends did what the reference endpoint would have done. */
enum cli_exit replay_check(struct replay_command *replay);

/* wire: the datagrams once more to a host, byte for byte. */
enum cli_exit replay_wire(struct replay_command *replay);

/* live: the captured client once more, against a real server. */
enum cli_exit replay_live(struct replay_command *replay);

#endif

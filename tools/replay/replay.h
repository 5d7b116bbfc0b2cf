/* SPDX-License-Identifier: MIT */
/* What the modes of `uerudp replay` share: the capture, the datagrams that the user selects, the form of the output. */
#ifndef UERUDP_TOOLS_REPLAY_REPLAY_H
#define UERUDP_TOOLS_REPLAY_REPLAY_H

#include "tools/cli/selection.h"
#include "tools/input/capture_reader.h"
#include "tools/replay/check_options.h"
#include "tools/replay/send_options.h"

struct ue_replay {
    struct ue_reading reading;
    struct ue_selection selection;
    gboolean json;
    struct ue_sending sending;   /* wire, live */
    struct ue_checking checking; /* check */
    char **paths;
    int path_count;
};

/* observe: what the two ends did, line by line. */
enum ue_exit ue_replay_observe(struct ue_replay *replay);

/* check: whether the two ends did what the reference endpoint would have done. */
enum ue_exit ue_replay_check(struct ue_replay *replay);

/* wire: the datagrams once more to a host, byte for byte. */
enum ue_exit ue_replay_wire(struct ue_replay *replay);

/* live: the captured client once more, against a real server. */
enum ue_exit ue_replay_live(struct ue_replay *replay);

#endif

/* SPDX-License-Identifier: MIT */
/* What the modes of `uerudp replay` share: the capture, the datagrams that the user selects, the form of the output. */
#ifndef UE_REPLAY_H
#define UE_REPLAY_H

#include "tools/reading.h"
#include "tools/select.h"

struct ue_replay {
    struct ue_reading reading;
    struct ue_selection selection;
    gboolean json;
    char *target; /* HOST:PORT, for the modes that send; else NULL */
    char **paths;
    int path_count;
};

/* observe: what the two ends did, line by line. */
enum ue_exit ue_replay_observe(struct ue_replay *replay);

#endif

/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "tools/replay/replay.h"

enum ue_exit ue_replay_observe(struct ue_replay *replay) {
    struct ue_seen seen;
    ue_reading_start(&replay->reading, replay->path_count, replay->paths);
    while (ue_reading_next(&replay->reading, &seen)) {
        if (ue_selection_takes(&replay->selection, seen.connection->stream, seen.is_foreign ? NULL : &seen.context,
                               seen.bytes, seen.size_bytes)) {
            printf("%" PRIu64 " %s\n", seen.held->frame, seen.role == 0 ? "client" : "server");
        }
    }
    ue_reading_print_summary(&replay->reading);
    return ue_reading_status(&replay->reading);
}

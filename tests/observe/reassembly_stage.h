/* SPDX-License-Identifier: MIT */
/* A tracker and a reassembly that are fed fragments made by hand, and the transcript of what the latter tells: a line
   for each event, "FRAME EVENT KIND FLAGS 'DATA' BITS of FRAME.ITEM(BITS)...: PROBLEM". */
#ifndef UERUDP_TESTS_OBSERVE_REASSEMBLY_STAGE_H
#define UERUDP_TESTS_OBSERVE_REASSEMBLY_STAGE_H

#include <uerudp/reassembly.h>
#include "tests/observe/tracker_stage.h"

struct assembly_stage {
    struct track_stage track; /* whose transcript it is */
    struct ue_reassembly *assembly;
};

/* Ends with assembly_stage_end. bytes_max: memory there is. */
void assembly_stage_begin(struct assembly_stage *stage, const char *release, size_t bytes_max);
void assembly_stage_end(struct assembly_stage *stage);

/* Sends the items that were added to stage->track as a packet of this side. */
void assembly_stage_flush(struct assembly_stage *stage, unsigned side, int64_t id);

/* Forgets the transcript so far. */
void assembly_stage_forget(struct assembly_stage *stage);

/* Gives a bunch a text as its data and flags by letters: p partial, i initial, c last of the custom exports, f final,
   x exports, m mapped, o open, k close. Returns the bunch. */
struct ue_bunch *assembly_stage_flag(struct ue_bunch *bunch, const char *flags, const char *text);

#endif

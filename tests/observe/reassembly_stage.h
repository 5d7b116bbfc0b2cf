/* SPDX-License-Identifier: MIT */
/* A tracker and a reassembly that process hand-made fragments, and a transcript of the events of the reassembly, one
   per line: "FRAME EVENT KIND FLAGS 'DATA' BITS of FRAME.ITEM(BITS)...: PROBLEM". */
#ifndef UERUDP_TESTS_OBSERVE_REASSEMBLY_STAGE_H
#define UERUDP_TESTS_OBSERVE_REASSEMBLY_STAGE_H

#include <uerudp/reassembly.h>
#include "tests/observe/tracker_stage.h"

struct reassembly_stage {
    struct track_stage tracker; /* also holds the transcript */
    struct ue_reassembly *reassembly;
};

/* Call assembly_stage_end at the end. bytes_max: memory that the allocator provides. */
void reassembly_stage_begin(struct reassembly_stage *stage, const char *release, size_t bytes_max);
void reassembly_stage_end(struct reassembly_stage *stage);

/* Feeds a packet of this side with the items that were added to stage->track. */
void reassembly_stage_flush(struct reassembly_stage *stage, unsigned side, int64_t id);

/* Clears the transcript. */
void reassembly_stage_clear(struct reassembly_stage *stage);

/* Sets the data of a bunch to a text, and its flags by letters: p partial, i initial, c last of the custom exports, f
   final, x exports, m mapped, o open, k close. Returns the bunch. */
struct ue_bunch *reassembly_stage_bunch(struct ue_bunch *bunch, const char *flags, const char *text);

#endif

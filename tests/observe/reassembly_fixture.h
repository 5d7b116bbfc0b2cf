/* SPDX-License-Identifier: MIT */
/* A tracker and a reassembly that process hand-made fragments, and a transcript of the events of the reassembly, one
   per line: "FRAME EVENT KIND FLAGS 'DATA' BITS of FRAME.ITEM(BITS)...: PROBLEM". */
#ifndef UERUDP_TESTS_OBSERVE_REASSEMBLY_FIXTURE_H
#define UERUDP_TESTS_OBSERVE_REASSEMBLY_FIXTURE_H

#include <uerudp/reassembly.h>
#include "tests/observe/tracker_fixture.h"

struct reassembly_fixture {
    struct tracker_fixture tracker; /* also holds the transcript */
    struct ue_reassembly *reassembly;
};

/* Call reassembly_fixture_free at the end. bytes_max: memory that the allocator provides. */
void reassembly_fixture_init(struct reassembly_fixture *fixture, const char *release, size_t bytes_max);
void reassembly_fixture_free(struct reassembly_fixture *fixture);

/* Feeds a packet of this side with the items that were added to fixture->tracker. */
void reassembly_fixture_flush(struct reassembly_fixture *fixture, unsigned side, int64_t id);

/* Clears the transcript. */
void reassembly_fixture_clear(struct reassembly_fixture *fixture);

/* Sets the data of a bunch to a text, and its flags by letters: p partial, i initial, c last of the custom exports, f
   final, x exports, m mapped, o open, k close. Returns the bunch. */
struct ue_bunch *reassembly_fixture_bunch(struct ue_bunch *bunch, const char *flags, const char *text);

#endif

/* SPDX-License-Identifier: MIT */
#include "tests/codec/law_rounds.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/profile.h>
#include "tests/support/rng.h"

static const char *law;
static uint64_t round_number;

void law_rounds_run(const char *name, uint64_t rounds, unsigned accepted_min, bool (*attempt)(size_t row)) {
    law = name;
    rounds = rng_rounds(rounds);
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        uint64_t accepted = 0;
        for (round_number = 0; round_number < rounds; round_number++) {
            accepted += attempt(row);
        }
        unsigned percent = (unsigned)(accepted * 100 / rounds);
        printf("%s %-4s %" PRIu64 " of %" PRIu64 " accepted (%u%%)\n", law, ue_profile_at(row)->name, accepted, rounds,
               percent);
        if (percent < accepted_min) {
            law_rounds_fail("too few accepted", row);
        }
    }
}

_Noreturn void law_rounds_fail(const char *problem, size_t row) {
    fail_msg("%s, generation %s: %s in round %" PRIu64, law, ue_profile_at(row)->name, problem, round_number);
    abort();
}

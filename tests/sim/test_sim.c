/* SPDX-License-Identifier: MIT */
/* Scenarios over impaired networks: each case with several seeds, each seed twice. tools/sim/checker.h lists what a run
   checks. UE_SIM_SEEDS sets the number of seeds per case (20), UE_SIM_FIRST_SEED the first one (1), UE_SIM_CASE selects
   cases by a part of their name, UE_SIM_LONG_SECONDS is the length of the long runs (60). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uerudp/time_ns.h>

#include "tests/sim/scenarios.h"
#include "tests/support/environment.h"
#include "tools/sim/rng.h"

#define SEEDS 20
#define LONG_SECONDS 60

static bool is_selected(const char *name) {
    const char *part = getenv("UE_SIM_CASE");
    return part == NULL || strstr(name, part) != NULL;
}

/* ---- one case ---- */

static uint64_t transcripts; /* hash of the transcripts of all runs so far: equal on every platform */

/* Returns the number of reliable messages that the client received. */
static uint64_t run_twice(const struct sim_scenario *scenario) {
    struct sim_result first;
    struct sim_result second;
    sim_run(scenario, NULL, &first);
    if (!first.ok) {
        fail_msg("%s", first.failure);
    }
    sim_run(scenario, NULL, &second);
    if (first.transcript != second.transcript || !second.ok) {
        fail_msg("%s seed %" PRIu64 ": two runs differ", scenario->name, scenario->seed);
    }
    transcripts = sim_rng_mix(transcripts, first.transcript);
    return first.sides[UE_ROLE_SERVER].received[0] + first.sides[UE_ROLE_SERVER].received[1];
}

/* Changes a scenario for one seed; NULL: no change. */
typedef void variation(struct sim_scenario *scenario, uint64_t seed);

static void run_case(const char *name, const struct sim_scenario *base, variation *vary) {
    if (!is_selected(name)) {
        return;
    }
    uint64_t first = environment_number("UE_SIM_FIRST_SEED", 1);
    uint64_t seeds = environment_number("UE_SIM_SEEDS", SEEDS);
    uint64_t received = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct sim_scenario scenario = *base;
        scenario.name = name;
        scenario.seed = seed;
        if (vary != NULL) {
            vary(&scenario, seed);
        }
        received += run_twice(&scenario);
    }
    printf("%s: %" PRIu64 " seeds, %" PRIu64 " messages, transcripts %016" PRIx64 "\n", name, seeds, received,
           transcripts);
    bool may_be_empty = base->hostile || base->ending == SIM_ENDING_FAILURE || base->ending == SIM_ENDING_UPGRADE;
    assert_true(received > 0 || may_be_empty);
}

/* The seed selects the generation, old ones included. */
static void vary_generation(struct sim_scenario *scenario, uint64_t seed) {
    const char *release = ue_profile_at(seed % UE_PROFILE_COUNT)->name;
    scenario->sides[UE_ROLE_CLIENT].release = release;
    scenario->sides[UE_ROLE_SERVER].release = release;
}

/* ---- cases ---- */

static void named_scenarios_pass(void **state) {
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        run_case(scenario->name, scenario, NULL);
    }
}

static void runs_pass_with_loss(void **state) {
    const unsigned percents[] = {0, 1, 5, 10, 20, 40};
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        struct sim_scenario scenario = scenario_named("clean");
        scenario_set_paths(&scenario,
                           &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .loss = percents[i] / 100.0});
        char name[32];
        snprintf(name, sizeof name, "loss-%u", percents[i]);
        run_case(name, &scenario, vary_generation);
    }
}

static void runs_pass_with_loss_bursts(void **state) {
    const unsigned lengths[] = {2, 5, 20};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct sim_scenario scenario = scenario_named("clean");
        scenario_set_paths(
            &scenario, &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .loss = 0.1, .loss_burst = lengths[i]});
        char name[32];
        snprintf(name, sizeof name, "burst-%u", lengths[i]);
        run_case(name, &scenario, vary_generation);
    }
}

/* The seed selects the direction of the outage: to the server, to the client, or both. */
static void vary_direction(struct sim_scenario *scenario, uint64_t seed) {
    vary_generation(scenario, seed);
    struct sim_outage outage = scenario->paths[UE_ROLE_CLIENT].outages[0];
    scenario->paths[UE_ROLE_SERVER].outages[0] = seed % 3 != 0 ? outage : (struct sim_outage){0};
    scenario->paths[UE_ROLE_CLIENT].outages[0] = seed % 3 != 1 ? outage : (struct sim_outage){0};
}

static void runs_pass_with_outages(void **state) {
    const unsigned seconds[] = {1, 3, 10, 30};
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        struct sim_scenario scenario = scenario_named("stream");
        scenario_set_paths(&scenario,
                           &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS,
                                                     .outages = {{UE_NS_PER_S, (1 + seconds[i]) * UE_NS_PER_S}}});
        scenario.duration_ns = (2 + seconds[i]) * UE_NS_PER_S;
        char name[32];
        snprintf(name, sizeof name, "outage-%us", seconds[i]);
        run_case(name, &scenario, vary_direction);
    }
}

static void runs_pass_with_any_round_trip_time(void **state) {
    const unsigned milliseconds[] = {10, 100, 500};
    for (size_t i = 0; i < sizeof milliseconds / sizeof milliseconds[0]; i++) {
        struct sim_scenario scenario = scenario_named("clean");
        scenario_set_paths(&scenario,
                           &(struct sim_link_config){.delay_ns = milliseconds[i] * UE_NS_PER_MS / 2, .loss = 0.03});
        char name[32];
        snprintf(name, sizeof name, "rtt-%u", milliseconds[i]);
        run_case(name, &scenario, vary_generation);
    }
}

static void runs_pass_with_different_tick_rates(void **state) {
    const struct {
        unsigned client;
        unsigned server;
    } rates[] = {{10, 10}, {30, 120}, {120, 30}, {120, 120}, {60, 10}};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct sim_scenario scenario = scenario_named("lossy");
        scenario.sides[UE_ROLE_CLIENT].tick_hz = rates[i].client;
        scenario.sides[UE_ROLE_SERVER].tick_hz = rates[i].server;
        scenario.duration_ns = 4 * UE_NS_PER_S;
        char name[32];
        snprintf(name, sizeof name, "ticks-%u-%u", rates[i].client, rates[i].server);
        run_case(name, &scenario, vary_generation);
    }
}

/* All impairments together, in each generation. */
static void runs_pass_in_every_generation(void **state) {
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        struct sim_scenario scenario = scenario_named("clean");
        scenario_set_paths(&scenario, &(struct sim_link_config){.delay_ns = 20 * UE_NS_PER_MS,
                                                                .jitter_ns = 20 * UE_NS_PER_MS,
                                                                .loss = 0.05,
                                                                .duplicate = 0.03,
                                                                .reorder = 0.03});
        scenario.duration_ns = 4 * UE_NS_PER_S;
        vary_generation(&scenario, i);
        /* layout A0 has no Ack: a client cannot detect that its Response was lost */
        scenario.handshake = ue_profile_at(i)->handshake != UE_HANDSHAKE_A0;
        char name[32];
        snprintf(name, sizeof name, "generation-%s", ue_profile_at(i)->name);
        run_case(name, &scenario, NULL);
    }
}

/* Generations A and B write the same packets (endpoint.md 40), but the larger reliable buffer cannot be used between
   them. */
static void runs_pass_between_generations_a_and_b(void **state) {
    const char *const pairs[][2] = {{"5.1", "5.4"}, {"5.4", "5.1"}};
    for (size_t i = 0; i < 2; i++) {
        struct sim_scenario scenario = scenario_named("lossy");
        for (size_t side = 0; side < 2; side++) {
            scenario.sides[side].release = pairs[i][side];
            scenario.sides[side].reliable_buffer = 256;
        }
        scenario.sides[i].no_order_cache = true;
        scenario.paths[UE_ROLE_SERVER].outages[0] = (struct sim_outage){UE_NS_PER_S, 3 * UE_NS_PER_S};
        char name[32];
        snprintf(name, sizeof name, "mixed-%s-%s", pairs[i][0], pairs[i][1]);
        run_case(name, &scenario, NULL);
    }
}

/* Corruption that no checksum detects: the two sides may disagree, but number their packets, report each packet once,
   and stay within their memory. */
static void runs_pass_with_corruption(void **state) {
    const double shares[] = {0.003, 0.03, 0.3};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        struct sim_scenario scenario = scenario_named("corrupt");
        scenario_set_paths(&scenario, &(struct sim_link_config){
                                          .delay_ns = 25 * UE_NS_PER_MS, .corrupt = shares[i], .duplicate = 0.05});
        char name[32];
        snprintf(name, sizeof name, "damage-%g%%", shares[i] * 100);
        run_case(name, &scenario, vary_generation);
    }
}

static void runs_pass_with_many_channels(void **state) {
    const uint32_t counts[] = {1, 20, 200};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct sim_scenario scenario = scenario_named("channels");
        scenario.streams[0].channels = counts[i];
        scenario.streams[1].channels = counts[i];
        scenario.duration_ns = 3 * UE_NS_PER_S;
        char name[32];
        snprintf(name, sizeof name, "channels-%" PRIu32, counts[i]);
        run_case(name, &scenario, vary_generation);
    }
}

/* Each seed starts at another sequence shortly before one or both sequence spaces wrap. */
static void vary_first_sequence(struct sim_scenario *scenario, uint64_t seed) {
    vary_generation(scenario, seed);
    scenario->sides[UE_ROLE_CLIENT].first_seq = (uint16_t)(16383 - seed * 7 % 200);
    scenario->sides[UE_ROLE_SERVER].first_seq = (uint16_t)(seed % 2 == 0 ? 16383 - seed * 13 % 300 : 1023 - seed % 50);
}

static void runs_pass_at_sequence_wraps(void **state) {
    struct sim_scenario scenario = scenario_named("terrible");
    scenario.duration_ns = 4 * UE_NS_PER_S;
    run_case("wraps", &scenario, vary_first_sequence);
}

/* More than 16,384 packets, and 1,024 reliable bunches of a channel: both sequence spaces wrap. */
static void a_run_passes_over_the_whole_sequence_space(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    scenario_set_paths(&scenario, &(struct sim_link_config){.delay_ns = 10 * UE_NS_PER_MS, .loss = 0.02});
    scenario.sides[UE_ROLE_CLIENT].tick_hz = 119;
    scenario.sides[UE_ROLE_SERVER].tick_hz = 120;
    scenario.duration_ns = 150 * UE_NS_PER_S;
    if (!is_selected("whole-turn")) {
        return;
    }
    scenario.name = "whole-turn";
    scenario.seed = environment_number("UE_SIM_FIRST_SEED", 1);
    assert_true(run_twice(&scenario) > 1024);
}

/* Long runs with all impairments, one for each way to acknowledge. */
static void long_runs_pass(void **state) {
    const char *const releases[] = {"4.13", "4.25", "5.4", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        struct sim_scenario scenario = scenario_named("stream");
        scenario_set_paths(&scenario, &(struct sim_link_config){.outages = {{10 * UE_NS_PER_S, 14 * UE_NS_PER_S}},
                                                                .delay_ns = 40 * UE_NS_PER_MS,
                                                                .jitter_ns = 10 * UE_NS_PER_MS,
                                                                .loss = 0.03,
                                                                .loss_burst = 3,
                                                                .duplicate = 0.01,
                                                                .reorder = 0.01});
        scenario.sides[UE_ROLE_CLIENT].release = releases[i];
        scenario.sides[UE_ROLE_SERVER].release = releases[i];
        scenario.duration_ns = environment_number("UE_SIM_LONG_SECONDS", LONG_SECONDS) * UE_NS_PER_S;
        scenario.name = "long";
        scenario.seed = environment_number("UE_SIM_FIRST_SEED", 1) + i;
        if (is_selected("long")) {
            run_twice(&scenario);
        }
    }
}

/* The engine's network emulation at both sides. */
static void runs_pass_with_the_emulation_of_the_engine(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    const char *const texts[] = {"PktLoss=3",    "PktDup=2",          "PktLagMin=10",
                                 "PktLagMax=40", "PktIncomingLoss=2", "PktFrameDelay=1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(sim_emulation_set(&scenario.sides[UE_ROLE_CLIENT].emulation, texts[i]), SIM_EMULATION_OK);
        assert_int_equal(sim_emulation_set(&scenario.sides[UE_ROLE_SERVER].emulation, texts[i]), SIM_EMULATION_OK);
    }
    run_case("emulation", &scenario, vary_generation);
}

/* ---- the reliable window is a span (endpoint.md 15) ---- */

static void vary_loss(struct sim_scenario *scenario, uint64_t seed) {
    vary_generation(scenario, seed);
    scenario_set_paths(
        scenario, &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .loss = (double)(1 + seed * 13 % 40) / 100});
}

static void the_reliable_window_is_a_span(void **state) {
    struct sim_scenario scenario = scenario_named("bulk");
    run_case("span", &scenario, vary_loss);
}

/* ---- failures and seeds ---- */

/* A run fails if the network delivers nothing, and its message says how to repeat it. */
static void a_failure_names_the_scenario_and_the_seed(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    scenario.seed = 4711;
    scenario.paths[UE_ROLE_CLIENT].rate_bytes = 1;
    scenario.paths[UE_ROLE_CLIENT].queue_bytes = 1;
    struct sim_result result;
    sim_run(&scenario, NULL, &result);
    assert_false(result.ok);
    assert_non_null(strstr(result.failure, "stream seed 4711"));
}

static void different_seeds_give_different_runs(void **state) {
    struct sim_scenario scenario = scenario_named("lossy");
    struct sim_result results[2];
    for (uint64_t i = 0; i < 2; i++) {
        scenario.seed = i + 1;
        sim_run(&scenario, NULL, &results[i]);
    }
    assert_true(results[0].transcript != results[1].transcript);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_scenarios_pass),
        cmocka_unit_test(runs_pass_with_loss),
        cmocka_unit_test(runs_pass_with_loss_bursts),
        cmocka_unit_test(runs_pass_with_outages),
        cmocka_unit_test(runs_pass_with_any_round_trip_time),
        cmocka_unit_test(runs_pass_with_different_tick_rates),
        cmocka_unit_test(runs_pass_in_every_generation),
        cmocka_unit_test(runs_pass_between_generations_a_and_b),
        cmocka_unit_test(runs_pass_with_corruption),
        cmocka_unit_test(runs_pass_with_many_channels),
        cmocka_unit_test(runs_pass_at_sequence_wraps),
        cmocka_unit_test(a_run_passes_over_the_whole_sequence_space),
        cmocka_unit_test(long_runs_pass),
        cmocka_unit_test(runs_pass_with_the_emulation_of_the_engine),
        cmocka_unit_test(the_reliable_window_is_a_span),
        cmocka_unit_test(a_failure_names_the_scenario_and_the_seed),
        cmocka_unit_test(different_seeds_give_different_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

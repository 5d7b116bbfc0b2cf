/* SPDX-License-Identifier: MIT */
/* The matrix of bad networks: every case with many seeds, each seed twice. Everything that a run checks is in
   tools/sim/checker.h. UE_SIM_SEEDS sets the seeds per case (20), UE_SIM_FIRST_SEED where they begin (1), UE_SIM_CASE
   picks cases by a part of their name, UE_SIM_LONG_SECONDS is how long the long runs are (60). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/sim/sim.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define SEEDS 20
#define LONG_SECONDS 60

static uint64_t number_of(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : otherwise;
}

static bool is_picked(const char *name) {
    const char *part = getenv("UE_SIM_CASE");
    return part == NULL || strstr(name, part) != NULL;
}

/* ---- one case ---- */

/* Returns how many reliable messages the client heard. */
static uint64_t run_twice(const struct sim_scenario *scenario) {
    struct sim_result once;
    struct sim_result twice;
    sim_run(scenario, NULL, &once);
    if (!once.ok) {
        fail_msg("%s", once.failure);
    }
    sim_run(scenario, NULL, &twice);
    if (once.transcript != twice.transcript || !twice.ok) {
        fail_msg("%s seed %" PRIu64 ": two runs differ", scenario->name, scenario->seed);
    }
    return once.sides[UE_ROLE_SERVER].received[1];
}

/* Changes a scenario for one seed; NULL: nothing. */
typedef void variation(struct sim_scenario *scenario, uint64_t seed);

static void run_case(const char *name, const struct sim_scenario *base, variation *vary) {
    if (!is_picked(name)) {
        return;
    }
    uint64_t first = number_of("UE_SIM_FIRST_SEED", 1);
    uint64_t seeds = number_of("UE_SIM_SEEDS", SEEDS);
    uint64_t heard = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct sim_scenario scenario = *base;
        scenario.name = name;
        scenario.seed = seed;
        if (vary != NULL) {
            vary(&scenario, seed);
        }
        heard += run_twice(&scenario);
    }
    printf("%s: %" PRIu64 " seeds, %" PRIu64 " reliable messages\n", name, seeds, heard);
    bool may_be_silent = base->hostile || base->ending == SIM_ENDING_FAILURE || base->ending == SIM_ENDING_UPGRADE;
    assert_true(heard > 0 || may_be_silent);
}

static struct sim_scenario named(const char *name) {
    const struct sim_scenario *scenario = sim_scenario_find(name);
    assert_non_null(scenario);
    return *scenario;
}

/* Seeds take turns through the generations of the engine, old ones included. */
static void any_generation(struct sim_scenario *scenario, uint64_t seed) {
    const char *release = ue_profile_at(seed % UE_PROFILE_COUNT)->name;
    scenario->sides[UE_ROLE_CLIENT].release = release;
    scenario->sides[UE_ROLE_SERVER].release = release;
}

static void set_paths(struct sim_scenario *scenario, const struct sim_link_config *path) {
    scenario->paths[UE_ROLE_CLIENT] = *path;
    scenario->paths[UE_ROLE_SERVER] = *path;
}

/* ---- the axes ---- */

static void test_named(void **state) {
    (void)state;
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        run_case(scenario->name, scenario, NULL);
    }
}

static void test_losses(void **state) {
    (void)state;
    const unsigned percents[] = {0, 1, 5, 10, 20, 40};
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        struct sim_scenario scenario = named("clean");
        set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .loss = percents[i] / 100.0});
        char name[32];
        snprintf(name, sizeof name, "loss-%u", percents[i]);
        run_case(name, &scenario, any_generation);
    }
}

static void test_bursts(void **state) {
    (void)state;
    const unsigned lengths[] = {2, 5, 20};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct sim_scenario scenario = named("clean");
        set_paths(&scenario,
                  &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .loss = 0.1, .loss_burst = lengths[i]});
        char name[32];
        snprintf(name, sizeof name, "burst-%u", lengths[i]);
        run_case(name, &scenario, any_generation);
    }
}

/* One way only: to the server, to the client, or both, by the seed. */
static void one_way(struct sim_scenario *scenario, uint64_t seed) {
    any_generation(scenario, seed);
    struct sim_outage outage = scenario->paths[UE_ROLE_CLIENT].outages[0];
    scenario->paths[UE_ROLE_SERVER].outages[0] = seed % 3 != 0 ? outage : (struct sim_outage){0};
    scenario->paths[UE_ROLE_CLIENT].outages[0] = seed % 3 != 1 ? outage : (struct sim_outage){0};
}

static void test_outages(void **state) {
    (void)state;
    const unsigned seconds[] = {1, 3, 10, 30};
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        struct sim_scenario scenario = named("game");
        set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS,
                                                       .outages = {{NS_PER_S, (1 + seconds[i]) * NS_PER_S}}});
        scenario.duration_ns = (2 + seconds[i]) * NS_PER_S;
        char name[32];
        snprintf(name, sizeof name, "outage-%us", seconds[i]);
        run_case(name, &scenario, one_way);
    }
}

static void test_round_trips(void **state) {
    (void)state;
    const unsigned milliseconds[] = {10, 100, 500};
    for (size_t i = 0; i < sizeof milliseconds / sizeof milliseconds[0]; i++) {
        struct sim_scenario scenario = named("clean");
        set_paths(&scenario, &(struct sim_link_config){.delay_ns = milliseconds[i] * NS_PER_MS / 2, .loss = 0.03});
        char name[32];
        snprintf(name, sizeof name, "rtt-%u", milliseconds[i]);
        run_case(name, &scenario, any_generation);
    }
}

static void test_ticks(void **state) {
    (void)state;
    const struct {
        unsigned client;
        unsigned server;
    } paces[] = {{10, 10}, {30, 120}, {120, 30}, {120, 120}, {60, 10}};
    for (size_t i = 0; i < sizeof paces / sizeof paces[0]; i++) {
        struct sim_scenario scenario = named("lossy");
        scenario.sides[UE_ROLE_CLIENT].tick_hz = paces[i].client;
        scenario.sides[UE_ROLE_SERVER].tick_hz = paces[i].server;
        scenario.duration_ns = 4 * NS_PER_S;
        char name[32];
        snprintf(name, sizeof name, "ticks-%u-%u", paces[i].client, paces[i].server);
        run_case(name, &scenario, any_generation);
    }
}

/* Everything at once, in each generation. */
static void test_generations(void **state) {
    (void)state;
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        struct sim_scenario scenario = named("clean");
        set_paths(&scenario, &(struct sim_link_config){.delay_ns = 20 * NS_PER_MS,
                                                       .jitter_ns = 20 * NS_PER_MS,
                                                       .loss = 0.05,
                                                       .duplicate = 0.03,
                                                       .reorder = 0.03});
        scenario.duration_ns = 4 * NS_PER_S;
        any_generation(&scenario, i);
        /* layout A0 has no Ack: a client whose Response is lost never learns it */
        scenario.handshake = ue_profile_at(i)->handshake != UE_HANDSHAKE_A0;
        char name[32];
        snprintf(name, sizeof name, "generation-%s", ue_profile_at(i)->name);
        run_case(name, &scenario, NULL);
    }
}

/* Generations A and B write the same packets (endpoint.md 13); the larger reliable buffer must not be used then. */
static void test_mixed_generations(void **state) {
    (void)state;
    const char *const pairs[][2] = {{"5.1", "5.4"}, {"5.4", "5.1"}};
    for (size_t i = 0; i < 2; i++) {
        struct sim_scenario scenario = named("lossy");
        for (size_t side = 0; side < 2; side++) {
            scenario.sides[side].release = pairs[i][side];
            scenario.sides[side].reliable_buffer = 256;
        }
        scenario.sides[i].no_order_cache = true;
        scenario.paths[UE_ROLE_SERVER].outages[0] = (struct sim_outage){NS_PER_S, 3 * NS_PER_S};
        char name[32];
        snprintf(name, sizeof name, "mixed-%s-%s", pairs[i][0], pairs[i][1]);
        run_case(name, &scenario, NULL);
    }
}

/* Damage that nothing notices: the ends may part, but number their packets, judge each once, and stay in their memory.
 */
static void test_damage(void **state) {
    (void)state;
    const double shares[] = {0.003, 0.03, 0.3};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        struct sim_scenario scenario = named("corrupt");
        set_paths(&scenario,
                  &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .corrupt = shares[i], .duplicate = 0.05});
        char name[32];
        snprintf(name, sizeof name, "damage-%g%%", shares[i] * 100);
        run_case(name, &scenario, any_generation);
    }
}

static void test_channels(void **state) {
    (void)state;
    const uint32_t counts[] = {1, 20, 200};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct sim_scenario scenario = named("channels");
        scenario.streams[0].channels = counts[i];
        scenario.streams[1].channels = counts[i];
        scenario.duration_ns = 3 * NS_PER_S;
        char name[32];
        snprintf(name, sizeof name, "channels-%" PRIu32, counts[i]);
        run_case(name, &scenario, any_generation);
    }
}

/* Each seed another place shortly before one or both sequence spaces wrap. */
static void near_wrap(struct sim_scenario *scenario, uint64_t seed) {
    any_generation(scenario, seed);
    scenario->sides[UE_ROLE_CLIENT].first_seq = (uint16_t)(16383 - seed * 7 % 200);
    scenario->sides[UE_ROLE_SERVER].first_seq = (uint16_t)(seed % 2 == 0 ? 16383 - seed * 13 % 300 : 1023 - seed % 50);
}

static void test_wraps(void **state) {
    (void)state;
    struct sim_scenario scenario = named("terrible");
    scenario.duration_ns = 4 * NS_PER_S;
    run_case("wraps", &scenario, near_wrap);
}

/* More than 16,384 packets and 1,024 reliable bunches of a channel: both spaces go round. */
static void test_whole_turn(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    set_paths(&scenario, &(struct sim_link_config){.delay_ns = 10 * NS_PER_MS, .loss = 0.02});
    scenario.sides[UE_ROLE_CLIENT].tick_hz = 119;
    scenario.sides[UE_ROLE_SERVER].tick_hz = 120;
    scenario.duration_ns = 150 * NS_PER_S;
    if (!is_picked("whole-turn")) {
        return;
    }
    scenario.name = "whole-turn";
    scenario.seed = number_of("UE_SIM_FIRST_SEED", 1);
    assert_true(run_twice(&scenario) > 1024);
}

/* Hours in seconds: everything that a network does, in one run per way to acknowledge. */
static void test_long_run(void **state) {
    (void)state;
    const char *const releases[] = {"4.13", "4.25", "5.4", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        struct sim_scenario scenario = named("game");
        set_paths(&scenario, &(struct sim_link_config){.outages = {{10 * NS_PER_S, 14 * NS_PER_S}},
                                                       .delay_ns = 40 * NS_PER_MS,
                                                       .jitter_ns = 10 * NS_PER_MS,
                                                       .loss = 0.03,
                                                       .loss_burst = 3,
                                                       .duplicate = 0.01,
                                                       .reorder = 0.01});
        scenario.sides[UE_ROLE_CLIENT].release = releases[i];
        scenario.sides[UE_ROLE_SERVER].release = releases[i];
        scenario.duration_ns = number_of("UE_SIM_LONG_SECONDS", LONG_SECONDS) * NS_PER_S;
        scenario.name = "long";
        scenario.seed = number_of("UE_SIM_FIRST_SEED", 1) + i;
        if (is_picked("long")) {
            run_twice(&scenario);
        }
    }
}

/* The engine's emulation at both ends. */
static void test_emulation(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    const char *const texts[] = {"PktLoss=3",    "PktDup=2",          "PktLagMin=10",
                                 "PktLagMax=40", "PktIncomingLoss=2", "PktFrameDelay=1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(sim_emulation_set(&scenario.sides[UE_ROLE_CLIENT].emulation, texts[i]), SIM_EMULATION_OK);
        assert_int_equal(sim_emulation_set(&scenario.sides[UE_ROLE_SERVER].emulation, texts[i]), SIM_EMULATION_OK);
    }
    run_case("emulation", &scenario, any_generation);
}

/* ---- the reliable window is a span (endpoint.md 18) ---- */

static void bulk_with_loss(struct sim_scenario *scenario, uint64_t seed) {
    any_generation(scenario, seed);
    set_paths(scenario,
              &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .loss = (double)(1 + seed * 13 % 40) / 100});
}

static void test_window_is_a_span(void **state) {
    (void)state;
    struct sim_scenario scenario = named("bulk");
    run_case("span", &scenario, bulk_with_loss);
}

/* ---- the checkers themselves ---- */

/* A run ends as a failure when the network never lets anything through, and says how to repeat it. */
static void test_failure_names_seed(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    scenario.seed = 4711;
    scenario.paths[UE_ROLE_CLIENT].rate_bytes = 1;
    scenario.paths[UE_ROLE_CLIENT].queue_bytes = 1;
    struct sim_result result;
    sim_run(&scenario, NULL, &result);
    assert_false(result.ok);
    assert_non_null(strstr(result.failure, "game seed 4711"));
}

static void test_seeds_differ(void **state) {
    (void)state;
    struct sim_scenario scenario = named("lossy");
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
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_outages),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_mixed_generations),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_whole_turn),
        cmocka_unit_test(test_long_run),
        cmocka_unit_test(test_emulation),
        cmocka_unit_test(test_window_is_a_span),
        cmocka_unit_test(test_failure_names_seed),
        cmocka_unit_test(test_seeds_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "tools/sim/scenario.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define TICK_HZ 60
#define RELEASE "5.5"
#define PATIENCE_NS (5 * NS_PER_S)
#define PATIENCE_ROUNDS 10

#define KIB_BITS (1024u * 8)

/* Both ends at nearly the same pace, so that their phases sweep past each other. */
#define SIDES .sides = {{.tick_hz = 59.9}, {.tick_hz = 60}}
#define PATHS(...) .paths = {{.delay_ns = 25 * NS_PER_MS, __VA_ARGS__}, {.delay_ns = 25 * NS_PER_MS, __VA_ARGS__}}

/* A little of everything, both ways: 1 bit to 64 KiB. */
#define MIXED                                                                                                          \
    .streams = {                                                                                                       \
        {.from = UE_ROLE_SERVER,                                                                                       \
         .channel = 2,                                                                                                 \
         .channels = 4,                                                                                                \
         .reliable = true,                                                                                             \
         .merge = true,                                                                                                \
         .every_ticks = 3,                                                                                             \
         .burst = 2,                                                                                                   \
         .min_bits = 1,                                                                                                \
         .max_bits = 2 * KIB_BITS},                                                                                    \
        {.from = UE_ROLE_CLIENT,                                                                                       \
         .channel = 2,                                                                                                 \
         .channels = 4,                                                                                                \
         .reliable = true,                                                                                             \
         .merge = true,                                                                                                \
         .every_ticks = 4,                                                                                             \
         .min_bits = 1,                                                                                                \
         .max_bits = KIB_BITS},                                                                                        \
        {.from = UE_ROLE_SERVER, .channel = 2, .channels = 2, .every_ticks = 2, .min_bits = 64, .max_bits = 900 * 8},  \
        {.from = UE_ROLE_CLIENT, .channel = 3, .channels = 3, .every_ticks = 1, .min_bits = 64, .max_bits = 100 * 8},  \
        {.from = UE_ROLE_SERVER,                                                                                       \
         .channel = 6,                                                                                                 \
         .reliable = true,                                                                                             \
         .every_ticks = 97,                                                                                            \
         .min_bits = KIB_BITS,                                                                                         \
         .max_bits = 64 * KIB_BITS},                                                                                   \
        {.from = UE_ROLE_SERVER,                                                                                       \
         .channel = 7,                                                                                                 \
         .every_ticks = 31,                                                                                            \
         .min_bits = KIB_BITS / 2,                                                                                     \
         .max_bits = 16 * KIB_BITS},                                                                                   \
    }

/* The traffic of performance 2.1. */
#define GAME                                                                                                           \
    .streams = {                                                                                                       \
        {.from = UE_ROLE_SERVER,                                                                                       \
         .channel = 2,                                                                                                 \
         .reliable = true,                                                                                             \
         .every_ticks = 3,                                                                                             \
         .min_bits = 200 * 8,                                                                                          \
         .max_bits = 200 * 8},                                                                                         \
        {.from = UE_ROLE_SERVER, .channel = 2, .every_ticks = 2, .min_bits = 600 * 8, .max_bits = 600 * 8},            \
        {.from = UE_ROLE_CLIENT, .channel = 2, .every_ticks = 1, .min_bits = 60 * 8, .max_bits = 60 * 8},              \
    }

#define SHORT .duration_ns = 6 * NS_PER_S

static const struct ue_scenario scenarios[] = {
    {.name = "clean", SIDES, PATHS(0), MIXED, SHORT},
    {.name = "game", SIDES, PATHS(0), GAME, SHORT},
    {.name = "lossy", SIDES, PATHS(.loss = 0.05), MIXED, SHORT},
    {.name = "terrible", SIDES, PATHS(.loss = 0.4, .jitter_ns = 20 * NS_PER_MS), MIXED, SHORT},
    {.name = "burst", SIDES, PATHS(.loss = 0.05, .loss_burst = 3), MIXED, SHORT},
    {.name = "jitter", SIDES, PATHS(.jitter_ns = 20 * NS_PER_MS), MIXED, SHORT},
    {.name = "reorder", SIDES, PATHS(.reorder = 0.1), MIXED, SHORT},
    {.name = "shuffle", SIDES, PATHS(.shuffle = true), MIXED, SHORT},
    {.name = "duplicate", SIDES, PATHS(.duplicate = 0.1, .jitter_ns = 5 * NS_PER_MS), MIXED, SHORT},
    {.name = "corrupt", SIDES, PATHS(.corrupt = 0.02), MIXED, SHORT, .hostile = true},
    {.name = "sealed",
     SIDES,
     /* the first byte says whether the rest is sealed, and no tag covers it */
     PATHS(.corrupt = 0.03, .corrupt_from_ns = NS_PER_S, .corrupt_skip_bytes = 1),
     MIXED,
     SHORT,
     .handshake = true,
     .encrypt = true},
    {.name = "outage",
     SIDES,
     .paths = {{.delay_ns = 25 * NS_PER_MS}, {.delay_ns = 25 * NS_PER_MS, .outages = {{2 * NS_PER_S, 3 * NS_PER_S}}}},
     MIXED,
     SHORT},
    {.name = "thin", SIDES, PATHS(.rate_bytes = 60000, .queue_bytes = 30000), GAME, SHORT},
    {.name = "bloat", SIDES, PATHS(.bloat_ns = 70 * NS_PER_MS), GAME, SHORT},
    {.name = "wrap",
     .sides = {{.tick_hz = 59.9, .first_seq = 16300}, {.tick_hz = 60, .first_seq = 16383}},
     PATHS(.loss = 0.05),
     MIXED,
     SHORT},
    {.name = "handshake", SIDES, PATHS(.loss = 0.1), GAME, SHORT, .handshake = true},
    {.name = "login", SIDES, PATHS(.loss = 0.1), GAME, SHORT, .handshake = true, .login = true},
    {.name = "channels",
     SIDES,
     PATHS(.loss = 0.05),
     .streams =
         {{.from = UE_ROLE_SERVER,
           .channel = 2,
           .channels = 200,
           .reliable = true,
           .every_ticks = 1,
           .burst = 5,
           .min_bits = 1,
           .max_bits = 400},
          {.from = UE_ROLE_CLIENT, .channel = 2, .channels = 200, .every_ticks = 2, .min_bits = 64, .max_bits = 400}},
     SHORT},
    {.name = "churn",
     SIDES,
     PATHS(.loss = 0.1),
     .streams = {{.from = UE_ROLE_SERVER,
                  .channel = 2,
                  .channels = 20,
                  .reliable = true,
                  .every_ticks = 1,
                  .burst = 2,
                  .min_bits = 8,
                  .max_bits = 2 * KIB_BITS,
                  .close_after = 5}},
     SHORT},
    {.name = "bulk",
     SIDES,
     PATHS(.rate_bytes = 12500000, .queue_bytes = 256000),
     .streams = {{.from = UE_ROLE_SERVER,
                  .channel = 2,
                  .reliable = true,
                  .every_ticks = 1,
                  .burst = 1024,
                  .min_bits = 900 * 8,
                  .max_bits = 900 * 8,
                  .total = 2000}},
     .duration_ns = 120 * NS_PER_S},
};

const struct ue_scenario *ue_scenario_at(size_t index) {
    return index < sizeof scenarios / sizeof scenarios[0] ? &scenarios[index] : NULL;
}

const struct ue_scenario *ue_scenario_find(const char *name) {
    const struct ue_scenario *scenario;
    for (size_t i = 0; (scenario = ue_scenario_at(i)) != NULL; i++) {
        if (strcmp(scenario->name, name) == 0) {
            return scenario;
        }
    }
    return NULL;
}

const struct ue_profile *ue_scenario_profile(const struct ue_scenario *scenario, enum ue_role side) {
    const char *release = scenario->sides[side].release;
    return ue_profile_find(release != NULL ? release : RELEASE);
}

uint64_t ue_scenario_tick_ns(const struct ue_scenario *scenario, enum ue_role side) {
    double hz = scenario->sides[side].tick_hz;
    return (uint64_t)((double)NS_PER_S / (hz > 0 ? hz : TICK_HZ));
}

static uint64_t delay_ns(const struct ue_link_config *config, uint64_t tick_ns) {
    uint64_t aside_ns = config->reorder > 0 ? UE_LINK_ASIDE_NS : 0;
    return config->delay_ns + config->jitter_ns + config->bloat_ns + config->frame_delay_ticks * tick_ns + aside_ns;
}

uint64_t ue_scenario_rtt_ns(const struct ue_scenario *scenario) {
    uint64_t sum_ns = 0;
    for (enum ue_role side = UE_ROLE_CLIENT; side <= UE_ROLE_SERVER; side++) {
        const struct ue_emulation *emulation = &scenario->sides[side].emulation;
        uint64_t tick_ns = ue_scenario_tick_ns(scenario, side);
        sum_ns += delay_ns(&scenario->paths[side], tick_ns) + delay_ns(&emulation->outgoing, tick_ns) +
                  delay_ns(&emulation->incoming, tick_ns) + 2 * tick_ns;
    }
    return sum_ns;
}

uint64_t ue_scenario_patience_ns(const struct ue_scenario *scenario) {
    return scenario->patience_ns != 0 ? scenario->patience_ns
                                      : PATIENCE_NS + PATIENCE_ROUNDS * ue_scenario_rtt_ns(scenario);
}

const struct ue_stream *ue_scenario_stream(const struct ue_scenario *scenario, enum ue_role from, uint32_t channel,
                                           bool reliable) {
    for (size_t i = 0; i < UE_SCENARIO_STREAMS_MAX; i++) {
        const struct ue_stream *stream = &scenario->streams[i];
        uint32_t channels = stream->channels != 0 ? stream->channels : 1;
        if (stream->every_ticks != 0 && stream->from == from && stream->reliable == reliable &&
            channel - stream->channel < channels) {
            return stream;
        }
    }
    return NULL;
}

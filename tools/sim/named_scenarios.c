/* SPDX-License-Identifier: MIT */
/* The named scenarios: first the impaired networks of tests, then events in the life of a connection. */
#include <string.h>

#include "tools/sim/scenario.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

#define KIB_BITS (1024u * 8)

/* Tick rates that differ a little, so that the phase between the sides changes over a run. */
#define SIDES .sides = {{.tick_hz = 59.9}, {.tick_hz = 60}}
#define PATHS(...) .paths = {{.delay_ns = 25 * NS_PER_MS, __VA_ARGS__}, {.delay_ns = 25 * NS_PER_MS, __VA_ARGS__}}

/* Messages of every kind in both directions, 1 bit to 64 KiB. */
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

/* The traffic of a game: frequent small updates, some calls, now and then a large message. */
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

/* The same for sides with few ticks. */
#define QUIET_GAME                                                                                                     \
    .streams = {                                                                                                       \
        {.from = UE_ROLE_SERVER,                                                                                       \
         .channel = 2,                                                                                                 \
         .reliable = true,                                                                                             \
         .every_ticks = 5,                                                                                             \
         .min_bits = 200 * 8,                                                                                          \
         .max_bits = 200 * 8},                                                                                         \
        {.from = UE_ROLE_CLIENT, .channel = 2, .every_ticks = 3, .min_bits = 60 * 8, .max_bits = 60 * 8},              \
    }

/* A channel that opens, carries two messages and closes with this reason, repeatedly. */
#define CLOSING(first, reason)                                                                                         \
    {.from = UE_ROLE_SERVER,                                                                                           \
     .channel = (first),                                                                                               \
     .reliable = true,                                                                                                 \
     .every_ticks = 7,                                                                                                 \
     .min_bits = 64,                                                                                                   \
     .max_bits = 512,                                                                                                  \
     .close_after = 2,                                                                                                 \
     .close_reason = (reason)}

#define SHORT .duration_ns = 6 * NS_PER_S
#define JOIN .handshake = true, .login = true

static const struct sim_scenario scenarios[] = {
    {.name = "clean",
     .about = "messages of every kind in both directions over a good network, connected from the start",
     SIDES,
     PATHS(0),
     MIXED,
     SHORT},
    {.name = "game", .about = "the traffic of a game, connected from the start", SIDES, PATHS(0), GAME, SHORT},
    {.name = "lossy", .about = "5 % loss", SIDES, PATHS(.loss = 0.05), MIXED, SHORT},
    {.name = "terrible",
     .about = "40 % loss and jitter",
     SIDES,
     PATHS(.loss = 0.4, .jitter_ns = 20 * NS_PER_MS),
     MIXED,
     SHORT},
    {.name = "burst", .about = "losses in bursts", SIDES, PATHS(.loss = 0.05, .loss_burst = 3), MIXED, SHORT},
    {.name = "jitter",
     .about = "20 ms of jitter, which reorders",
     SIDES,
     PATHS(.jitter_ns = 20 * NS_PER_MS),
     MIXED,
     SHORT},
    {.name = "reorder",
     .about = "one datagram in ten is overtaken by the next",
     SIDES,
     PATHS(.reorder = 0.1),
     MIXED,
     SHORT},
    {.name = "shuffle", .about = "reordering by the engine's PktOrder", SIDES, PATHS(.shuffle = true), MIXED, SHORT},
    {.name = "duplicate",
     .about = "one datagram in ten is duplicated",
     SIDES,
     PATHS(.duplicate = 0.1, .jitter_ns = 5 * NS_PER_MS),
     MIXED,
     SHORT},
    {.name = "corrupt", .about = "bit errors", SIDES, PATHS(.corrupt = 0.02), MIXED, SHORT, .hostile = true},
    {.name = "sealed",
     .about = "AES-GCM after the login, with bit errors",
     SIDES,
     /* the first byte says whether the rest is encrypted, and no authentication tag covers it */
     PATHS(.corrupt = 0.03, .corrupt_from_ns = NS_PER_S, .corrupt_skip_bytes = 1),
     MIXED,
     SHORT,
     .handshake = true,
     .encrypt = true},
    {.name = "outage",
     .about = "nothing arrives from the server for a second",
     SIDES,
     .paths = {{.delay_ns = 25 * NS_PER_MS}, {.delay_ns = 25 * NS_PER_MS, .outages = {{2 * NS_PER_S, 3 * NS_PER_S}}}},
     MIXED,
     SHORT},
    {.name = "thin",
     .about = "a rate limit of 60 kB/s with a short queue",
     SIDES,
     PATHS(.rate_bytes = 60000, .queue_bytes = 30000),
     GAME,
     SHORT},
    {.name = "bloat",
     .about = "a buffer that releases its datagrams every 70 ms",
     SIDES,
     PATHS(.bloat_ns = 70 * NS_PER_MS),
     GAME,
     SHORT},
    {.name = "wrap",
     .about = "packet and channel sequences wrap around",
     .sides = {{.tick_hz = 59.9, .first_seq = 16300}, {.tick_hz = 60, .first_seq = 16383}},
     PATHS(.loss = 0.05),
     MIXED,
     SHORT},
    {.name = "handshake",
     .about = "a handshake that loses packets",
     SIDES,
     PATHS(.loss = 0.1),
     GAME,
     SHORT,
     .handshake = true},
    {.name = "login-lossy",
     .about = "a login that loses packets",
     SIDES,
     PATHS(.loss = 0.1),
     GAME,
     SHORT,
     .handshake = true,
     .login = true},
    {.name = "channels",
     .about = "200 channels",
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
     .about = "channels that close and open again",
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
     .about = "1.8 MB as fast as possible",
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

    {.name = "login",
     .about = "handshake, login, some traffic; the client disconnects",
     SIDES,
     PATHS(0),
     GAME,
     JOIN,
     .duration_ns = NS_PER_S,
     .ending = SIM_ENDING_CLIENT},
    {.name = "mixed",
     .about = "messages of every kind in both directions, over a network with every impairment",
     SIDES,
     PATHS(.loss = 0.02, .jitter_ns = 8 * NS_PER_MS, .duplicate = 0.01, .reorder = 0.01),
     MIXED,
     JOIN,
     SHORT,
     .ending = SIM_ENDING_CLIENT},
    {.name = "legacy",
     .about = "the same with engine 4.18, which acknowledges each packet",
     .sides = {{.release = "4.18", .tick_hz = 59.9}, {.release = "4.18", .tick_hz = 60}},
     PATHS(.loss = 0.02, .duplicate = 0.01, .reorder = 0.01),
     MIXED,
     JOIN,
     SHORT,
     .ending = SIM_ENDING_CLIENT},
    {.name = "loss-burst",
     .about = "the traffic of a game with 10 % loss in runs of four",
     SIDES,
     PATHS(.loss = 0.1, .loss_burst = 4, .loss_from_ns = NS_PER_S),
     GAME,
     JOIN,
     SHORT,
     .ending = SIM_ENDING_CLIENT},
    {.name = "big-bunch",
     .about = "reliable and unreliable messages of up to 64 KiB, in fragments of which some are lost",
     SIDES,
     PATHS(.loss = 0.03, .loss_from_ns = NS_PER_S / 2),
     .streams =
         {{.from = UE_ROLE_SERVER,
           .channel = 2,
           .reliable = true,
           .every_ticks = 20,
           .min_bits = 8 * KIB_BITS,
           .max_bits = 64 * KIB_BITS},
          {.from = UE_ROLE_SERVER, .channel = 3, .every_ticks = 9, .min_bits = 2 * KIB_BITS, .max_bits = 16 * KIB_BITS},
          {.from = UE_ROLE_CLIENT, .channel = 2, .every_ticks = 1, .min_bits = 60 * 8, .max_bits = 60 * 8}},
     JOIN,
     .duration_ns = 2 * NS_PER_S,
     .ending = SIM_ENDING_CLIENT},
    {.name = "actor-world",
     .about = "forty actors that spawn, change, call and are destroyed",
     SIDES,
     PATHS(.loss = 0.01, .loss_from_ns = NS_PER_S / 2),
     .streams = {{.from = UE_ROLE_SERVER,
                  .channel = 2,
                  .every_ticks = 1,
                  .channels = 40,
                  .burst = 4,
                  .min_bits = 64,
                  .max_bits = 400},
                 {.from = UE_ROLE_SERVER,
                  .channel = 2,
                  .channels = 20,
                  .reliable = true,
                  .merge = true,
                  .every_ticks = 4,
                  .burst = 2,
                  .min_bits = 16,
                  .max_bits = 200},
                 {.from = UE_ROLE_SERVER,
                  .channel = 22,
                  .channels = 10,
                  .reliable = true,
                  .every_ticks = 5,
                  .min_bits = 64,
                  .max_bits = 400,
                  .close_after = 3,
                  .close_reason = 3},
                 {.from = UE_ROLE_SERVER,
                  .channel = 32,
                  .channels = 10,
                  .reliable = true,
                  .every_ticks = 7,
                  .min_bits = 64,
                  .max_bits = 400,
                  .close_after = 2,
                  .close_reason = 1},
                 {.from = UE_ROLE_CLIENT, .channel = 2, .every_ticks = 1, .min_bits = 96, .max_bits = 200},
                 {.from = UE_ROLE_CLIENT,
                  .channel = 2,
                  .reliable = true,
                  .every_ticks = 9,
                  .min_bits = 32,
                  .max_bits = 160},
                 {.from = UE_ROLE_SERVER,
                  .channel = 42,
                  .channels = 3,
                  .reliable = true,
                  .every_ticks = 10,
                  .is_notice = true}},
     .actors = true,
     JOIN,
     .duration_ns = 3 * NS_PER_S,
     .ending = SIM_ENDING_CLIENT},
    {.name = "voice",
     .about = "voice packets of players beside the traffic of a game",
     SIDES,
     PATHS(.loss = 0.02, .loss_from_ns = NS_PER_S / 2),
     .streams = {{.from = UE_ROLE_SERVER,
                  .channel = 1,
                  .is_voice = true,
                  .every_ticks = 3,
                  .min_bits = 40 * 8,
                  .max_bits = 120 * 8},
                 {.from = UE_ROLE_CLIENT,
                  .channel = 1,
                  .is_voice = true,
                  .every_ticks = 3,
                  .min_bits = 40 * 8,
                  .max_bits = 120 * 8},
                 {.from = UE_ROLE_SERVER,
                  .channel = 2,
                  .reliable = true,
                  .every_ticks = 6,
                  .min_bits = 200 * 8,
                  .max_bits = 200 * 8}},
     .actors = true,
     JOIN,
     .duration_ns = 2 * NS_PER_S,
     .ending = SIM_ENDING_CLIENT},
    {.name = "overload",
     .about = "the server sends more than a rate limit of 40 kB/s carries",
     SIDES,
     .paths = {{.delay_ns = 25 * NS_PER_MS}, {.delay_ns = 25 * NS_PER_MS, .rate_bytes = 40000, .queue_bytes = 8000}},
     .streams = {{.from = UE_ROLE_SERVER,
                  .channel = 2,
                  .reliable = true,
                  .every_ticks = 3,
                  .min_bits = 200 * 8,
                  .max_bits = 200 * 8},
                 {.from = UE_ROLE_SERVER,
                  .channel = 2,
                  .hasty = true,
                  .every_ticks = 1,
                  .min_bits = 800 * 8,
                  .max_bits = 800 * 8},
                 {.from = UE_ROLE_CLIENT, .channel = 2, .every_ticks = 1, .min_bits = 60 * 8, .max_bits = 60 * 8}},
     JOIN,
     .duration_ns = 2 * NS_PER_S,
     .ending = SIM_ENDING_CLIENT},
    {.name = "restart",
     .about = "the client's address changes: restart handshake, and the connection continues (from 4.22)",
     .sides = {{.tick_hz = 9.9}, {.tick_hz = 10}},
     PATHS(0),
     QUIET_GAME,
     JOIN,
     .duration_ns = 14 * NS_PER_S,
     .move_ns = 11500 * NS_PER_MS,
     .ending = SIM_ENDING_CLIENT},
    {.name = "kick",
     .about = "the server closes the connection",
     SIDES,
     PATHS(0),
     GAME,
     JOIN,
     .duration_ns = NS_PER_S,
     .ending = SIM_ENDING_SERVER},
    {.name = "timeout",
     .about = "the network loses everything, and both sides time out",
     .sides = {{.tick_hz = 9.9}, {.tick_hz = 10}},
     PATHS(.outages = {{2 * NS_PER_S, UINT64_MAX}}),
     QUIET_GAME,
     JOIN,
     .duration_ns = 3 * NS_PER_S,
     .timeout_ns = 3 * NS_PER_S,
     .ending = SIM_ENDING_TIMEOUT},
    {.name = "refused",
     .about = "the server refuses the login with a Failure",
     SIDES,
     PATHS(0),
     GAME,
     JOIN,
     .duration_ns = NS_PER_S,
     .ending = SIM_ENDING_FAILURE},
    {.name = "upgrade",
     .about = "the server refuses another network version with an Upgrade",
     SIDES,
     PATHS(0),
     GAME,
     JOIN,
     .duration_ns = NS_PER_S,
     .ending = SIM_ENDING_UPGRADE},
    {.name = "close-reasons",
     .about = "actor channels that close with each of the engine's reasons",
     SIDES,
     PATHS(.loss = 0.02, .loss_from_ns = NS_PER_S / 2),
     .streams = {CLOSING(2, 0), CLOSING(3, 1), CLOSING(4, 2), CLOSING(5, 3), CLOSING(6, 4), CLOSING(7, 5)},
     JOIN,
     .duration_ns = 2 * NS_PER_S,
     .ending = SIM_ENDING_CLIENT},
};

const struct sim_scenario *sim_scenario_at(size_t index) {
    return index < sizeof scenarios / sizeof scenarios[0] ? &scenarios[index] : NULL;
}

const struct sim_scenario *sim_scenario_find(const char *name) {
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        if (strcmp(scenario->name, name) == 0) {
            return scenario;
        }
    }
    return NULL;
}

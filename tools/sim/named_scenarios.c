/* SPDX-License-Identifier: MIT */
/* The named scenarios: first the impaired networks of tests, then events in the life of a connection. */
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/sim/scenario.h"

#define KIB_BITS (1024u * 8)

/* Tick rates that differ a little, so that the phase between the sides changes over a run. */
#define SIDES .sides = {{.tick_hz = 59.9}, {.tick_hz = 60}}
#define PATHS(...) .paths = {{.delay_ns = 25 * UE_NS_PER_MS, __VA_ARGS__}, {.delay_ns = 25 * UE_NS_PER_MS, __VA_ARGS__}}

/* Messages from a side, which it sends on this channel and the following ones. */
#define SERVER(first, ticks, ...) {.from = UE_ROLE_SERVER, .channel = (first), .every_ticks = (ticks), __VA_ARGS__}
#define CLIENT(first, ticks, ...) {.from = UE_ROLE_CLIENT, .channel = (first), .every_ticks = (ticks), __VA_ARGS__}
#define BITS(least, most) .min_bits = (least), .max_bits = (most)
#define BYTES(count) BITS((count) * 8, (count) * 8)
#define RELIABLE .reliable = true

/* Messages of every kind in both directions, 1 bit to 64 KiB. */
#define MIXED                                                                                                          \
    .streams = {                                                                                                       \
        SERVER(2, 3, RELIABLE, BITS(1, 2 * KIB_BITS), .channels = 4, .merge = true, .burst = 2),                       \
        CLIENT(2, 4, RELIABLE, BITS(1, KIB_BITS), .channels = 4, .merge = true),                                       \
        SERVER(2, 2, BITS(64, 900 * 8), .channels = 2),                                                                \
        CLIENT(3, 1, BITS(64, 100 * 8), .channels = 3),                                                                \
        SERVER(6, 97, RELIABLE, BITS(KIB_BITS, 64 * KIB_BITS)),                                                        \
        SERVER(7, 31, BITS(KIB_BITS / 2, 16 * KIB_BITS)),                                                              \
    }

/* Messages as often and as large as those of a game, for measurements. */
#define STREAM .streams = {SERVER(2, 3, RELIABLE, BYTES(200)), SERVER(2, 2, BYTES(600)), CLIENT(2, 1, BYTES(60))}

/* A game of few actors. */
#define SMALL_GAME .game = true, .cast = {.ships = 2, .crates = 1, .lamps = 1}

#define SHORT .duration_ns = 6 * UE_NS_PER_S
#define JOIN .handshake = true, .login = true

#define SCENARIO(id, text, ...) {.name = (id), .about = (text), __VA_ARGS__}

static const struct sim_scenario scenarios[] = {
    SCENARIO("clean", "messages of every kind in both directions over a good network, connected from the start", SIDES,
             PATHS(0), MIXED, SHORT),
    SCENARIO("game", "a game: handshake, login, actors with properties and calls; the client disconnects", SIDES,
             PATHS(0), .game = true, JOIN, SHORT, .ending = SIM_ENDING_CLIENT),
    SCENARIO("beacon", "a client joins a beacon, asks for seats in a game, and leaves", SIDES, PATHS(0), .game = true,
             .driver = UE_DRIVER_BEACON, JOIN, .duration_ns = 3 * UE_NS_PER_S, .ending = SIM_ENDING_CLIENT),
    SCENARIO("demo", "the packets of a replay: actors that spawn, change and are destroyed; nothing is answered", SIDES,
             PATHS(0), .game = true, .driver = UE_DRIVER_DEMO, SHORT),
    SCENARIO("stream", "streams of messages as often and as large as a game's", SIDES, PATHS(0), STREAM, SHORT),
    SCENARIO("lossy", "5 % loss", SIDES, PATHS(.loss = 0.05), MIXED, SHORT),
    SCENARIO("terrible", "40 % loss and jitter", SIDES, PATHS(.loss = 0.4, .jitter_ns = 20 * UE_NS_PER_MS), MIXED,
             SHORT),
    SCENARIO("burst", "losses in bursts", SIDES, PATHS(.loss = 0.05, .loss_burst = 3), MIXED, SHORT),
    SCENARIO("jitter", "20 ms of jitter, which reorders", SIDES, PATHS(.jitter_ns = 20 * UE_NS_PER_MS), MIXED, SHORT),
    SCENARIO("reorder", "one datagram in ten is overtaken by the next", SIDES, PATHS(.reorder = 0.1), MIXED, SHORT),
    SCENARIO("shuffle", "reordering by the engine's PktOrder", SIDES, PATHS(.shuffle = true), MIXED, SHORT),
    SCENARIO("duplicate", "one datagram in ten is duplicated", SIDES,
             PATHS(.duplicate = 0.1, .jitter_ns = 5 * UE_NS_PER_MS), MIXED, SHORT),
    SCENARIO("corrupt", "bit errors", SIDES, PATHS(.corrupt = 0.02), MIXED, SHORT, .hostile = true),
    SCENARIO("sealed", "AES-GCM after the login, with bit errors", SIDES,
             /* the first byte says whether the rest is encrypted, and no authentication tag covers it */
             PATHS(.corrupt = 0.03, .corrupt_from_ns = UE_NS_PER_S, .corrupt_skip_bytes = 1), MIXED, SHORT,
             .handshake = true, .encrypt = true),
    SCENARIO("outage", "nothing arrives from the server for a second", SIDES,
             .paths = {{.delay_ns = 25 * UE_NS_PER_MS},
                       {.delay_ns = 25 * UE_NS_PER_MS, .outages = {{2 * UE_NS_PER_S, 3 * UE_NS_PER_S}}}},
             MIXED, SHORT),
    SCENARIO("thin", "a rate limit of 60 kB/s with a short queue", SIDES,
             PATHS(.rate_bytes = 60000, .queue_bytes = 30000), STREAM, SHORT),
    SCENARIO("bloat", "a buffer that releases its datagrams every 70 ms", SIDES, PATHS(.bloat_ns = 70 * UE_NS_PER_MS),
             STREAM, SHORT),
    SCENARIO("wrap", "packet and channel sequences wrap around",
             .sides = {{.tick_hz = 59.9, .first_seq = 16300}, {.tick_hz = 60, .first_seq = 16383}}, PATHS(.loss = 0.05),
             MIXED, SHORT),
    SCENARIO("handshake", "a handshake that loses packets", SIDES, PATHS(.loss = 0.1), SMALL_GAME, SHORT,
             .handshake = true),
    SCENARIO("login-lossy", "a login that loses packets", SIDES, PATHS(.loss = 0.1), SMALL_GAME, SHORT,
             .handshake = true, .login = true),
    SCENARIO("channels", "200 channels", SIDES, PATHS(.loss = 0.05),
             .streams = {SERVER(2, 1, RELIABLE, BITS(1, 400), .channels = 200, .burst = 5),
                         CLIENT(2, 2, BITS(64, 400), .channels = 200)},
             SHORT),
    SCENARIO("churn", "channels that close and open again", SIDES, PATHS(.loss = 0.1),
             .streams = {SERVER(2, 1, RELIABLE, BITS(8, 2 * KIB_BITS), .channels = 20, .burst = 2, .close_after = 5)},
             SHORT),
    SCENARIO("bulk", "1.8 MB as fast as possible", SIDES, PATHS(.rate_bytes = 12500000, .queue_bytes = 256000),
             .streams = {SERVER(2, 1, RELIABLE, BYTES(900), .burst = 1024, .total = 2000)},
             .duration_ns = 120 * UE_NS_PER_S),

    SCENARIO("login", "handshake, login, a moment of a game; the client disconnects", SIDES, PATHS(0), SMALL_GAME, JOIN,
             .duration_ns = UE_NS_PER_S, .ending = SIM_ENDING_CLIENT),
    SCENARIO("mixed", "messages of every kind in both directions, over a network with every impairment", SIDES,
             PATHS(.loss = 0.02, .jitter_ns = 8 * UE_NS_PER_MS, .duplicate = 0.01, .reorder = 0.01), MIXED, JOIN, SHORT,
             .ending = SIM_ENDING_CLIENT),
    SCENARIO("legacy", "the same with engine 4.18, which acknowledges each packet",
             .sides = {{.release = "4.18", .tick_hz = 59.9}, {.release = "4.18", .tick_hz = 60}},
             PATHS(.loss = 0.02, .duplicate = 0.01, .reorder = 0.01), MIXED, JOIN, SHORT, .ending = SIM_ENDING_CLIENT),
    SCENARIO("loss-burst", "a game with 10 % loss in runs of four", SIDES,
             PATHS(.loss = 0.1, .loss_burst = 4, .loss_from_ns = UE_NS_PER_S), SMALL_GAME, JOIN, SHORT,
             .ending = SIM_ENDING_CLIENT),
    SCENARIO("big-bunch", "reliable and unreliable messages of up to 64 KiB, in fragments of which some are lost",
             SIDES, PATHS(.loss = 0.03, .loss_from_ns = UE_NS_PER_S / 2),
             .streams = {SERVER(2, 20, RELIABLE, BITS(8 * KIB_BITS, 64 * KIB_BITS)),
                         SERVER(3, 9, BITS(2 * KIB_BITS, 16 * KIB_BITS)), CLIENT(2, 1, BYTES(60))},
             JOIN, .duration_ns = 2 * UE_NS_PER_S, .ending = SIM_ENDING_CLIENT),
    SCENARIO("voice", "four players whose talk spurts overlap, beside a game", SIDES,
             PATHS(.loss = 0.02, .loss_from_ns = UE_NS_PER_S / 2),
             .streams = {SERVER(1, 3, BITS(40 * 8, 120 * 8), .is_voice = true, .talkers = 3),
                         CLIENT(1, 3, BITS(40 * 8, 120 * 8), .is_voice = true)},
             SMALL_GAME, JOIN, .duration_ns = 2 * UE_NS_PER_S, .ending = SIM_ENDING_CLIENT),
    SCENARIO("frame-time", "the client asks for the server's frame times; one frame in twenty lasts three ticks",
             .sides = {{.tick_hz = 59.9}, {.tick_hz = 60, .long_frame_every = 20, .long_frame_ticks = 3}}, PATHS(0),
             SMALL_GAME, JOIN, .duration_ns = 3 * UE_NS_PER_S, .frame_time = true),
    SCENARIO("overload", "the server sends more than a rate limit of 40 kB/s carries", SIDES,
             .paths = {{.delay_ns = 25 * UE_NS_PER_MS},
                       {.delay_ns = 25 * UE_NS_PER_MS, .rate_bytes = 40000, .queue_bytes = 8000}},
             .streams = {SERVER(2, 3, RELIABLE, BYTES(200)), SERVER(2, 1, BYTES(800), .hasty = true),
                         CLIENT(2, 1, BYTES(60))},
             JOIN, .duration_ns = 2 * UE_NS_PER_S, .ending = SIM_ENDING_CLIENT),
    SCENARIO("restart", "the client's address changes: restart handshake, and the connection continues (from 4.22)",
             .sides = {{.tick_hz = 9.9}, {.tick_hz = 10}}, PATHS(0), SMALL_GAME, JOIN, .duration_ns = 14 * UE_NS_PER_S,
             .move_ns = 11500 * UE_NS_PER_MS, .ending = SIM_ENDING_CLIENT),
    SCENARIO("kick", "the server closes the connection", SIDES, PATHS(0), SMALL_GAME, JOIN, .duration_ns = UE_NS_PER_S,
             .ending = SIM_ENDING_SERVER),
    SCENARIO("timeout", "the network loses everything, and both sides time out",
             .sides = {{.tick_hz = 9.9}, {.tick_hz = 10}}, PATHS(.outages = {{2 * UE_NS_PER_S, UINT64_MAX}}),
             SMALL_GAME, JOIN, .duration_ns = 3 * UE_NS_PER_S, .timeout_ns = 3 * UE_NS_PER_S,
             .ending = SIM_ENDING_TIMEOUT),
    SCENARIO("refused", "the server refuses the login with a Failure", SIDES, PATHS(0), SMALL_GAME, JOIN,
             .duration_ns = UE_NS_PER_S, .ending = SIM_ENDING_FAILURE),
    SCENARIO("upgrade", "the server refuses another network version with an Upgrade", SIDES, PATHS(0), SMALL_GAME, JOIN,
             .duration_ns = UE_NS_PER_S, .ending = SIM_ENDING_UPGRADE),
    SCENARIO("close-reasons", "actor channels that close with each of the engine's reasons", SIDES,
             PATHS(.loss = 0.02, .loss_from_ns = UE_NS_PER_S / 2), .game = true,
             .cast = {.ships = 2, .crates = 5, .lamps = 2, .crate_ticks = 12}, JOIN, .duration_ns = 2 * UE_NS_PER_S,
             .ending = SIM_ENDING_CLIENT),
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

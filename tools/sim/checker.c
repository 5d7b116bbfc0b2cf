/* SPDX-License-Identifier: MIT */
#include "tools/sim/checker.h"

#include <inttypes.h>
#include <string.h>

#include <uerudp/inspect.h>

/* Memory that a connection may still hold when everything is delivered and acknowledged: rings that grew to the most
   packets in flight, channels with their state, and a base. These are limits of the test, twice what was observed, not
   limits of the protocol. */
#define FLIGHT_BYTES 192
#define GAME_FLIGHT_BYTES 1024 /* packets of a game carry many channels */
#define CHANNEL_BYTES 256
#define FLOOR_BYTES 8192u
#define GAME_BYTES 16384u /* unfinished unreliable messages of a game */

bool sim_checker_init(struct sim_checker *checker, const struct sim_scenario *scenario) {
    memset(checker, 0, sizeof *checker);
    checker->scenario = scenario;
    return delivery_checker_init(&checker->delivery, scenario, &checker->failure) &&
           packet_checker_init(&checker->packets, &checker->failure, scenario->hostile);
}

void sim_checker_free(struct sim_checker *checker) {
    delivery_checker_free(&checker->delivery);
    packet_checker_free(&checker->packets);
}

void sim_checker_connect(struct sim_checker *checker, enum ue_role side, const struct ue_conn *conn) {
    packet_checker_connect(&checker->packets, side, ue_conn_context(conn));
    if (checker->scenario->encrypt || checker->scenario->compress) {
        packet_checker_allow_encryption(&checker->packets);
    }
    if (checker->scenario->compress) {
        static const char name[] = "OutPacketId";
        int64_t first = 0;
        ue_conn_inspect(conn, ue_fact_find(name, sizeof name - 1), 0, &first);
        packet_checker_set_first(&checker->packets, side, first);
    }
    checker->idle_bytes[side] = ue_conn_memory_bytes(conn, NULL);
}

void sim_checker_ack(struct sim_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_event *packet) {
    bool is_claimed = packet->delivered && checker->scenario->driver != UE_DRIVER_DEMO; /* which claims it at once */
    packet_checker_ack(&checker->packets, side, now_ns, packet->packet_id, is_claimed);
    if (!checker->scenario->hostile) {
        delivery_checker_ack(&checker->delivery, side, now_ns, packet->packet_id, is_claimed);
    }
}

static uint32_t open_channels(const struct sim_scenario *scenario) {
    uint32_t count = 2 + (scenario->game ? SIM_GAME_CHANNELS_MAX : 0);
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        count += scenario->streams[i].every_ticks != 0 ? scenario->streams[i].channels + 1 : 0;
    }
    return count;
}

void sim_checker_tick(struct sim_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_conn *conn) {
    int64_t flying = packet_checker_in_flight(&checker->packets, side);
    if (flying > checker->most_in_flight[side]) {
        checker->most_in_flight[side] = flying;
    }
    if (ue_conn_state(conn) == UE_CONN_CLOSED && !checker->scenario->hostile &&
        checker->scenario->ending == SIM_ENDING_QUIET) {
        sim_failure_set(&checker->failure, now_ns, "side %d closed", (int)side);
    }
    const struct ue_counters *counters = ue_conn_counters(conn);
    if (counters->outbox_lost + counters->events_lost > 0) {
        sim_failure_set(&checker->failure, now_ns, "side %d: an output queue overflowed", (int)side);
    }
}

/* An unreliable message that lost a part stays in memory until the next one of its channel arrives, and at the end of a
   run none arrives. */
static size_t unfinished_bytes(const struct sim_scenario *scenario, enum ue_role side) {
    size_t bytes = scenario->game ? GAME_BYTES : 0;
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &scenario->streams[i];
        if (stream->every_ticks != 0 && !stream->reliable && stream->from != side) {
            bytes += (stream->channels != 0 ? stream->channels : 1) * (stream->max_bits / 8) * 3 / 2;
        }
    }
    return bytes;
}

/* Rings keep the size to which they grew; the memory of messages and bunches is freed. */
static size_t rest_bytes(const struct sim_checker *checker, enum ue_role side) {
    return checker->idle_bytes[side] + FLOOR_BYTES + open_channels(checker->scenario) * CHANNEL_BYTES +
           (size_t)checker->most_in_flight[side] * (checker->scenario->game ? GAME_FLIGHT_BYTES : FLIGHT_BYTES) +
           unfinished_bytes(checker->scenario, side);
}

static void check_side(struct sim_checker *checker, enum ue_role side, uint64_t now_ns, const struct ue_conn *conn) {
    size_t used = ue_conn_memory_bytes(conn, NULL);
    if (ue_conn_state(conn) != UE_CONN_OPEN) {
        sim_failure_set(&checker->failure, now_ns, "side %d is not open at the end", (int)side);
    }
    for (uint32_t channel = 0; channel < SIM_SCENARIO_CHANNELS_MAX; channel++) {
        uint32_t unacked = ue_conn_unacked(conn, channel);
        if (unacked != 0) {
            sim_failure_set(&checker->failure, now_ns,
                            "side %d still holds %" PRIu32 " reliable bunches of channel %" PRIu32, (int)side, unacked,
                            channel);
        }
    }
    if (used > rest_bytes(checker, side)) {
        sim_failure_set(&checker->failure, now_ns,
                        "side %d uses %" PRIu64 " bytes at the end, %" PRIu64 " at the start", (int)side,
                        (uint64_t)used, (uint64_t)checker->idle_bytes[side]);
    }
}

void sim_checker_finish(struct sim_checker *checker, uint64_t now_ns, struct ue_conn *const conns[2]) {
    check_side(checker, UE_ROLE_CLIENT, now_ns, conns[UE_ROLE_CLIENT]);
    check_side(checker, UE_ROLE_SERVER, now_ns, conns[UE_ROLE_SERVER]);
    packet_checker_finish(&checker->packets, now_ns);
}

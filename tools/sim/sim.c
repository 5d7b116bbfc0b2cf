/* SPDX-License-Identifier: MIT */
#include "tools/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uerudp/inspect.h>
#include <uerudp/time_ns.h>

#include "tools/sim/simulated_endpoint.h"

#define SETTLE_NS UE_NS_PER_S
#define SETTLE_ROUNDS 3
#define LEAVE_ROUNDS 2

/* The phases of a run, in order. */
enum phase {
    PHASE_RUNNING,  /* until the duration is over, or all that was to be sent has been sent and received */
    PHASE_DRAINING, /* without impairment and new messages everything reliable arrives */
    PHASE_SETTLING, /* then both sides agree */
    PHASE_LEAVING,  /* instead of settling, where the scenario ends the connection */
    PHASE_OVER
};

struct simulation {
    const struct sim_scenario *scenario;
    struct sim_callbacks watch;
    struct sim_checker checker;
    struct sim_endpoint endpoints[2];
    struct sim_link *links[2]; /* [sender] */
    struct sim_result result;
    enum phase phase;
    uint64_t now_ns;
    uint64_t until_ns; /* limit of draining; end of settling and leaving */
    uint32_t client_address;
    bool has_joined; /* both sides, when everything had arrived */
    bool must_close; /* both sides had joined when one of them closed */
};

/* ---- taps ---- */

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size) {
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word = ue_bytes_load64(bytes);
        hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
        hash ^= hash >> 32;
    }
    for (; size > 0; bytes++, size--) {
        hash = (hash ^ *bytes) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static int64_t check_datagram(struct simulation *sim, enum ue_role from, const struct sim_link_report *report) {
    return sim->scenario->unchecked ? -1 : packet_checker_datagram(&sim->checker.packets, from, report);
}

static void count_sent(struct sim_result *result, enum ue_role from, const struct sim_link_report *report) {
    struct sim_side *side = &result->sides[from];
    side->datagrams++;
    side->wire_bytes += report->size_bytes + UE_IPV4_UDP_BYTES;
}

static void note_bytes(struct sim_result *result, enum ue_role from, const struct sim_link_report *report) {
    result->transcript =
        hash_bytes(sim_rng_mix(result->transcript ^ report->now_ns, from), report->bytes, report->size_bytes);
}

static bool read_queued_bits(const struct ue_conn *conn, int64_t *bits) {
    static const char name[] = "QueuedBits";
    *bits = 0;
    return conn != NULL && ue_conn_inspect(conn, ue_fact_find(name, sizeof name - 1), 0, bits);
}

static void see(struct simulation *sim, enum ue_role from, const struct sim_link_report *report) {
    const struct packet_checker *packets = &sim->checker.packets;
    int64_t packet_id = check_datagram(sim, from, report);
    if (report->event == SIM_DATAGRAM_SENT) {
        count_sent(&sim->result, from, report);
        if (!sim->scenario->unchecked) {
            note_bytes(&sim->result, from, report);
        }
    }
    if (sim->watch.datagram != NULL) {
        bool is_new = report->event == SIM_DATAGRAM_SENT && !sim->scenario->unchecked && packets->has_newest;
        struct sim_datagram datagram = {
            .from = from,
            .report = report,
            .packet_id = packet_id,
            .context = sim->endpoints[from].conn != NULL ? ue_conn_context(sim->endpoints[from].conn) : NULL,
            .content = is_new ? &packets->newest : NULL};
        datagram.has_queued_bits =
            report->event == SIM_DATAGRAM_SENT && read_queued_bits(sim->endpoints[from].conn, &datagram.queued_bits);
        sim->watch.datagram(sim->watch.user, &datagram);
    }
}

static void see_client(void *user, const struct sim_link_report *report) {
    see(user, UE_ROLE_CLIENT, report);
}

static void see_server(void *user, const struct sim_link_report *report) {
    see(user, UE_ROLE_SERVER, report);
}

/* ---- setup ---- */

/* endpoint.md 38.1. */
static bool make_links(struct simulation *sim) {
    const struct sim_scenario *scenario = sim->scenario;
    for (enum ue_role from = UE_ROLE_CLIENT; from <= UE_ROLE_SERVER; from++) {
        const struct sim_link_config stages[] = {scenario->sides[from].emulation.outgoing, scenario->paths[from],
                                                 scenario->sides[!from].emulation.incoming};
        sim->links[from] = sim_link_new(stages, sizeof stages / sizeof stages[0], scenario->seed, from);
        if (sim->links[from] == NULL) {
            return false;
        }
    }
    sim_link_set_tap(sim->links[UE_ROLE_CLIENT], see_client, sim);
    sim_link_set_tap(sim->links[UE_ROLE_SERVER], see_server, sim);
    return true;
}

static bool make_endpoint(struct simulation *sim, enum ue_role role) {
    struct sim_endpoint *endpoint = &sim->endpoints[role];
    if (!sim_endpoint_init(endpoint, sim->scenario, role, &sim->checker)) {
        return false;
    }
    endpoint->in = sim->links[!role];
    endpoint->out = sim->links[role];
    endpoint->watch = &sim->watch;
    endpoint->transcript = &sim->result.transcript;
    endpoint->client_address = &sim->client_address;
    return true;
}

static bool make(struct simulation *sim) {
    return sim_checker_init(&sim->checker, sim->scenario) && make_links(sim) && make_endpoint(sim, UE_ROLE_CLIENT) &&
           make_endpoint(sim, UE_ROLE_SERVER);
}

struct simulation *sim_new(const struct sim_scenario *scenario, const struct sim_callbacks *watch) {
    struct simulation *sim = calloc(1, sizeof *sim);
    if (sim == NULL) {
        return NULL;
    }
    sim->scenario = scenario;
    if (watch != NULL) {
        sim->watch = *watch;
    }
    if (make(sim)) {
        sim_endpoint_start(&sim->endpoints[UE_ROLE_CLIENT]);
        sim_endpoint_start(&sim->endpoints[UE_ROLE_SERVER]);
    } else {
        sim_failure_set(&sim->checker.failure, 0, "cannot start: no memory, or a configuration that is refused");
    }
    return sim;
}

void sim_free(struct simulation *sim) {
    if (sim == NULL) {
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        sim_endpoint_free(&sim->endpoints[i]);
        sim_link_free(sim->links[i]);
    }
    sim_checker_free(&sim->checker);
    free(sim);
}

/* ---- phases ---- */

static uint64_t count_missing(const struct simulation *sim) {
    bool is_checked = !sim->scenario->hostile && !sim->scenario->unchecked;
    return is_checked ? delivery_checker_missing(&sim->checker.delivery) : 0;
}

static bool is_closed(const struct simulation *sim) {
    return sim_endpoint_is_closed(&sim->endpoints[UE_ROLE_CLIENT]) &&
           sim_endpoint_is_closed(&sim->endpoints[UE_ROLE_SERVER]);
}

/* Whether the client has what the server's game replicates. */
static bool is_game_equal(const struct simulation *sim) {
    struct sim_game *server = sim->endpoints[UE_ROLE_SERVER].game;
    const struct sim_game *client = sim->endpoints[UE_ROLE_CLIENT].game;
    return sim->scenario->unchecked || server == NULL || client == NULL || sim_game_is_equal(server, client);
}

/* Whether everything reliable has arrived and both sides know it. A connection with corrupted datagrams may never reach
   this. */
static bool is_agreed(const struct simulation *sim) {
    if (sim->scenario->hostile) {
        return true;
    }
    bool is_acked = sim_endpoint_is_acked(&sim->endpoints[UE_ROLE_CLIENT]) &&
                    sim_endpoint_is_acked(&sim->endpoints[UE_ROLE_SERVER]);
    return is_acked && count_missing(sim) == 0 && is_game_equal(sim);
}

static bool has_run(const struct simulation *sim) {
    bool is_done = sim_endpoint_is_done(&sim->endpoints[0]) && sim_endpoint_is_done(&sim->endpoints[1]);
    return sim->now_ns >= sim->scenario->duration_ns || (is_done && is_agreed(sim)) || is_closed(sim);
}

static void drain(struct simulation *sim) {
    bool is_dead = sim->scenario->ending == SIM_ENDING_TIMEOUT;
    for (size_t i = 0; i < 2; i++) {
        sim->endpoints[i].is_silent = true;
        if (!is_dead) {
            sim_link_stop_impairment(sim->links[i]);
        }
    }
    sim->phase = PHASE_DRAINING;
    sim->until_ns = sim->now_ns + sim_scenario_delivery_timeout_ns(sim->scenario);
}

/* Closes the side whose role the scenario names, and waits as long as the other side needs to notice. */
static void start_leaving(struct simulation *sim) {
    enum sim_ending ending = sim->scenario->ending;
    struct sim_endpoint *endpoint = &sim->endpoints[ending == SIM_ENDING_CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER];
    if ((ending == SIM_ENDING_CLIENT || ending == SIM_ENDING_SERVER) && endpoint->conn != NULL) {
        sim->must_close = sim->has_joined;
        sim_endpoint_close(endpoint, sim->now_ns);
    }
    sim->phase = PHASE_LEAVING;
    sim->until_ns = sim->now_ns + LEAVE_ROUNDS * sim_scenario_rtt_ns(sim->scenario) + sim->scenario->timeout_ns;
}

static void start_settling(struct simulation *sim) {
    sim->phase = PHASE_SETTLING;
    sim->until_ns = sim->now_ns + SETTLE_NS + SETTLE_ROUNDS * sim_scenario_rtt_ns(sim->scenario);
}

static void check_endpoint(struct simulation *sim) {
    struct sim_failure *failure = &sim->checker.failure;
    struct ue_conn *conns[2] = {sim->endpoints[0].conn, sim->endpoints[1].conn};
    if (conns[0] == NULL || conns[1] == NULL) {
        sim_failure_set(failure, sim->now_ns, "never connected");
    } else if (sim->scenario->ending == SIM_ENDING_QUIET) {
        sim_checker_finish(&sim->checker, sim->now_ns, conns);
    } else if (sim->must_close && !is_closed(sim)) {
        sim_failure_set(failure, sim->now_ns, "not closed at the end");
    }
}

static void finish(struct simulation *sim) {
    sim->phase = PHASE_OVER;
    if (sim->scenario->login && sim->scenario->ending <= SIM_ENDING_SERVER && !sim->has_joined) {
        sim_failure_set(&sim->checker.failure, sim->now_ns, "ended before the client had joined");
    }
    if (!sim->scenario->hostile && !sim->scenario->unchecked) {
        check_endpoint(sim);
    }
}

static bool has_drained(const struct simulation *sim) {
    return sim->scenario->ending > SIM_ENDING_SERVER || sim->now_ns >= sim->until_ns || is_agreed(sim);
}

static void report_final(struct simulation *sim, bool may_miss) {
    if (sim->endpoints[UE_ROLE_SERVER].game != NULL && !may_miss) {
        sim_game_report_final(sim->endpoints[UE_ROLE_SERVER].game, sim->now_ns);
    }
}

static void after_draining(struct simulation *sim) {
    bool may_miss = sim->scenario->ending > SIM_ENDING_SERVER;
    if (count_missing(sim) > 0 && !may_miss) {
        sim_failure_set(&sim->checker.failure, sim->now_ns, "%" PRIu64 " reliable messages are still missing",
                        count_missing(sim));
    } else if (!is_game_equal(sim) && !may_miss && !sim->scenario->hostile) {
        sim_failure_set(&sim->checker.failure, sim->now_ns, "the client's actors are not equal to the server's");
    } else {
        report_final(sim, may_miss);
        sim->has_joined = sim->endpoints[0].may_send_streams && sim->endpoints[1].may_send_streams;
        (sim->scenario->ending == SIM_ENDING_QUIET ? start_settling : start_leaving)(sim);
    }
}

/* Moves on to the next phase; each may be over as soon as it begins. */
static void advance(struct simulation *sim) {
    if (sim->phase == PHASE_RUNNING && has_run(sim)) {
        drain(sim);
    }
    if (sim->phase == PHASE_DRAINING && has_drained(sim)) {
        after_draining(sim);
    }
    if ((sim->phase == PHASE_SETTLING || sim->phase == PHASE_LEAVING) && sim->now_ns >= sim->until_ns) {
        finish(sim);
    }
    if (sim->checker.failure.is_set) {
        sim->phase = PHASE_OVER;
    }
}

/* Calls of a game are compared with those of the other side. */
static void connect_games(struct simulation *sim) {
    struct sim_game *games[2] = {sim->endpoints[0].game, sim->endpoints[1].game};
    bool is_checked = !sim->scenario->hostile && !sim->scenario->unchecked;
    if (games[0] != NULL && games[1] != NULL && is_checked) {
        sim_game_set_peer(games[0], games[1]);
        sim_game_set_peer(games[1], games[0]);
    }
}

bool sim_step(struct simulation *sim) {
    advance(sim);
    if (sim->phase == PHASE_OVER) {
        return false;
    }
    struct sim_endpoint *client = &sim->endpoints[UE_ROLE_CLIENT];
    struct sim_endpoint *server = &sim->endpoints[UE_ROLE_SERVER];
    struct sim_endpoint *next = sim_endpoint_next_ns(client) <= sim_endpoint_next_ns(server) ? client : server;
    sim->now_ns = sim_endpoint_next_ns(next);
    sim->client_address = sim->scenario->move_ns != 0 && sim->now_ns >= sim->scenario->move_ns;
    connect_games(sim);
    sim_endpoint_tick(next, sim->now_ns);
    return true;
}

/* ---- results ---- */

/* Calls and values of a game count as messages. */
static void add_game(const struct simulation *sim, enum ue_role role, struct sim_side *side) {
    const struct sim_game *game = sim->endpoints[role].game;
    const struct sim_game *peer = sim->endpoints[!role].game;
    if (game == NULL || peer == NULL) {
        return;
    }
    const struct sim_game_counts counts = sim_game_counts(game);
    const struct sim_game_counts peer_counts = sim_game_counts(peer);
    for (size_t reliable = 0; reliable < 2; reliable++) {
        side->sent[reliable] += counts.calls_sent[reliable];
        side->received[reliable] += peer_counts.calls_received[reliable];
    }
    side->sent[0] += counts.values_sent;
    side->received[0] += peer_counts.values_received;
}

static void fill_side(const struct simulation *sim, enum ue_role role, struct sim_side *side) {
    const struct delivery_checker *delivery = &sim->checker.delivery;
    memcpy(side->sent, delivery->sent[role], sizeof side->sent);
    memcpy(side->received, delivery->received[role], sizeof side->received);
    side->received_bytes = delivery->received_bytes[role];
    add_game(sim, role, side);
    if (sim->endpoints[role].conn != NULL) {
        side->counters = *ue_conn_counters(sim->endpoints[role].conn);
        ue_conn_memory_bytes(sim->endpoints[role].conn, &side->peak_memory_bytes);
    }
}

void sim_read_result(const struct simulation *sim, struct sim_result *result) {
    const struct sim_failure *failure = &sim->checker.failure;
    *result = sim->result;
    result->end_ns = sim->now_ns;
    result->last_ns = sim->checker.delivery.last_ns;
    result->ok = !failure->is_set;
    fill_side(sim, UE_ROLE_CLIENT, &result->sides[UE_ROLE_CLIENT]);
    fill_side(sim, UE_ROLE_SERVER, &result->sides[UE_ROLE_SERVER]);
    if (failure->is_set) {
        snprintf(result->failure, sizeof result->failure, "%s seed %" PRIu64 " at %.6f s: %s",
                 sim->scenario->name != NULL ? sim->scenario->name : "scenario", sim->scenario->seed,
                 (double)failure->at_ns / UE_NS_PER_S, failure->text);
    }
}

uint32_t sim_reliable_peak(const struct simulation *sim, enum ue_role side, uint32_t channel) {
    const struct ue_conn *conn = sim->endpoints[side].conn;
    return conn != NULL ? ue_conn_unacked_peak(conn, channel) : 0;
}

void sim_run(const struct sim_scenario *scenario, const struct sim_callbacks *watch, struct sim_result *result) {
    struct simulation *sim = sim_new(scenario, watch);
    if (sim == NULL) {
        *result = (struct sim_result){.failure = "no memory"};
        return;
    }
    while (sim_step(sim)) {
    }
    sim_read_result(sim, result);
    sim_free(sim);
}

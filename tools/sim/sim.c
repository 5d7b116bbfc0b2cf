/* SPDX-License-Identifier: MIT */
#include "tools/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/sim/end.h"

#define NS_PER_S UINT64_C(1000000000)
#define UDP_IP_BYTES 28
#define SETTLE_NS NS_PER_S
#define SETTLE_ROUNDS 3

struct run {
    const struct ue_scenario *scenario;
    struct ue_sim_watch watch;
    struct ue_checker checker;
    struct ue_end ends[2];
    struct ue_link *links[2]; /* by sender */
    struct ue_sim_result *result;
    uint64_t now_ns;
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

static void see(struct run *run, enum ue_role from, const struct ue_link_report *report) {
    struct ue_sim_side *side = &run->result->sides[from];
    ue_witness_report(&run->checker.witness, from, report);
    if (report->fate == UE_FATE_SENT) {
        side->datagrams++;
        side->wire_bytes += report->size_bytes + UDP_IP_BYTES;
        uint64_t *transcript = &run->result->transcript;
        *transcript = hash_bytes(ue_rng_mix(*transcript ^ report->now_ns, from), report->bytes, report->size_bytes);
    }
    if (run->watch.datagram != NULL) {
        run->watch.datagram(run->watch.user, from, report);
    }
}

static void see_client(void *user, const struct ue_link_report *report) {
    see(user, UE_ROLE_CLIENT, report);
}

static void see_server(void *user, const struct ue_link_report *report) {
    see(user, UE_ROLE_SERVER, report);
}

/* ---- making ---- */

static bool make_links(struct run *run) {
    const struct ue_scenario *scenario = run->scenario;
    for (enum ue_role from = UE_ROLE_CLIENT; from <= UE_ROLE_SERVER; from++) {
        const struct ue_link_config stages[] = {scenario->sides[from].emulation.outgoing, scenario->paths[from],
                                                scenario->sides[!from].emulation.incoming};
        run->links[from] = ue_link_new(stages, sizeof stages / sizeof stages[0], scenario->seed, from);
        if (run->links[from] == NULL) {
            return false;
        }
    }
    ue_link_set_tap(run->links[UE_ROLE_CLIENT], see_client, run);
    ue_link_set_tap(run->links[UE_ROLE_SERVER], see_server, run);
    return true;
}

static bool make_end(struct run *run, enum ue_role role) {
    struct ue_end *end = &run->ends[role];
    if (!ue_end_init(end, run->scenario, role, &run->checker)) {
        return false;
    }
    end->in = run->links[!role];
    end->out = run->links[role];
    end->watch = &run->watch;
    end->transcript = &run->result->transcript;
    return true;
}

static bool make(struct run *run) {
    return ue_checker_init(&run->checker, run->scenario) && make_links(run) && make_end(run, UE_ROLE_CLIENT) &&
           make_end(run, UE_ROLE_SERVER);
}

static void destroy(struct run *run) {
    for (size_t i = 0; i < 2; i++) {
        ue_end_free(&run->ends[i]);
        ue_link_free(run->links[i]);
    }
    ue_checker_free(&run->checker);
}

/* ---- running ---- */

static void step(struct run *run) {
    struct ue_end *client = &run->ends[UE_ROLE_CLIENT];
    struct ue_end *server = &run->ends[UE_ROLE_SERVER];
    struct ue_end *next = ue_end_next_ns(client) <= ue_end_next_ns(server) ? client : server;
    run->now_ns = ue_end_next_ns(next);
    ue_end_tick(next, run->now_ns);
}

static bool is_failed(const struct run *run) {
    return run->checker.failure.is_set;
}

static uint64_t missing(const struct run *run) {
    return run->scenario->hostile ? 0 : ue_ledger_missing(&run->checker.ledger);
}

/* Until its time is over, or all that was to be said has been said and heard. */
static void talk(struct run *run) {
    while (!is_failed(run) && run->now_ns < run->scenario->duration_ns) {
        bool is_done = ue_end_is_done(&run->ends[0]) && ue_end_is_done(&run->ends[1]);
        if (is_done && missing(run) == 0) {
            return;
        }
        step(run);
    }
}

/* With good links and nothing new to say everything reliable arrives. */
static void drain(struct run *run) {
    for (size_t i = 0; i < 2; i++) {
        run->ends[i].is_silent = true;
        ue_link_heal(run->links[i]);
    }
    uint64_t limit_ns = run->now_ns + ue_scenario_patience_ns(run->scenario);
    while (!is_failed(run) && missing(run) > 0 && run->now_ns < limit_ns) {
        step(run);
    }
    if (missing(run) > 0) {
        ue_failure_set(&run->checker.failure, run->now_ns, "%" PRIu64 " reliable messages are still missing",
                       missing(run));
    }
}

static void settle(struct run *run) {
    uint64_t end_ns = run->now_ns + SETTLE_NS + SETTLE_ROUNDS * ue_scenario_rtt_ns(run->scenario);
    while (!is_failed(run) && run->now_ns < end_ns) {
        step(run);
    }
    struct ue_conn *conns[2] = {run->ends[0].conn, run->ends[1].conn};
    if (!run->scenario->hostile && (conns[0] == NULL || conns[1] == NULL)) {
        ue_failure_set(&run->checker.failure, run->now_ns, "never connected");
    } else if (!run->scenario->hostile) {
        ue_checker_settled(&run->checker, run->now_ns, conns);
    }
}

/* ---- results ---- */

static void fill_side(const struct run *run, enum ue_role role) {
    struct ue_sim_side *side = &run->result->sides[role];
    const struct ue_ledger *ledger = &run->checker.ledger;
    memcpy(side->sent, ledger->sent[role], sizeof side->sent);
    memcpy(side->heard, ledger->heard[role], sizeof side->heard);
    side->heard_bytes = ledger->heard_bytes[role];
    if (run->ends[role].conn != NULL) {
        side->counters = *ue_conn_counters(run->ends[role].conn);
        ue_conn_memory_bytes(run->ends[role].conn, &side->peak_memory_bytes);
    }
}

static void fill_result(struct run *run) {
    struct ue_sim_result *result = run->result;
    const struct ue_failure *failure = &run->checker.failure;
    result->end_ns = run->now_ns;
    result->last_ns = run->checker.ledger.last_ns;
    result->ok = !failure->is_set;
    fill_side(run, UE_ROLE_CLIENT);
    fill_side(run, UE_ROLE_SERVER);
    if (failure->is_set) {
        snprintf(result->failure, sizeof result->failure, "%s seed %" PRIu64 " at %.6f s: %s",
                 run->scenario->name != NULL ? run->scenario->name : "scenario", run->scenario->seed,
                 (double)failure->at_ns / (double)NS_PER_S, failure->text);
    }
}

void ue_sim_run(const struct ue_scenario *scenario, const struct ue_sim_watch *watch, struct ue_sim_result *result) {
    struct run run = {.scenario = scenario, .result = result};
    memset(result, 0, sizeof *result);
    if (watch != NULL) {
        run.watch = *watch;
    }
    if (make(&run)) {
        ue_end_start(&run.ends[UE_ROLE_CLIENT]);
        ue_end_start(&run.ends[UE_ROLE_SERVER]);
        talk(&run);
        drain(&run);
        settle(&run);
    } else {
        ue_failure_set(&run.checker.failure, 0, "cannot begin: no memory, or a configuration that is refused");
    }
    fill_result(&run);
    destroy(&run);
}

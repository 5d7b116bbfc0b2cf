/* SPDX-License-Identifier: MIT */
/* The options that the engine does not have (endpoint.md 39): each off and on, in a network that it is meant for. The
   printed table is for readers. The tests assert that every run is correct, that options of one run do not affect
   another, and that options that only validate the peer change nothing between valid endpoints. */
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

#define SEEDS 10
#define LATENCIES_MAX 200000

/* ---- figures of a scenario ---- */

struct figures {
    double p50_ms, p99_ms, max_ms; /* of reliable messages */
    double lost_percent;           /* of unreliable ones */
    double wire_bytes;             /* per second, both ways */
    double datagrams;              /* per second, both ways */
    double resent;                 /* bunches, per run */
    double overflowed;             /* datagrams that a full queue dropped, per run */
};

static double latencies_ms[LATENCIES_MAX];
static size_t latency_count;
static uint64_t overflowed;

static void record_latency(void *user, const struct sim_delivery *delivery) {
    if (delivery->reliable && latency_count < LATENCIES_MAX) {
        latencies_ms[latency_count++] = (double)(delivery->now_ns - delivery->sent_ns) / UE_NS_PER_MS;
    }
}

static void count_overflow(void *user, const struct sim_datagram *datagram) {
    overflowed += datagram->report->event == SIM_DATAGRAM_OVERFLOWED;
}

static int compare_double(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct figures run_seeds(const struct sim_scenario *base) {
    struct sim_callbacks watch = {.delivered = record_latency, .datagram = count_overflow};
    struct figures f = {0};
    double seconds = 0;
    uint64_t sent = 0;
    uint64_t received = 0;
    latency_count = 0;
    overflowed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_scenario scenario = *base;
        struct sim_result result;
        scenario.seed = seed;
        sim_run(&scenario, &watch, &result);
        if (!result.ok) {
            fail_msg("%s", result.failure);
        }
        seconds += (double)result.end_ns / UE_NS_PER_S;
        for (size_t side = 0; side < 2; side++) {
            sent += result.sides[side].sent[0];
            received += result.sides[side].received[0];
            f.wire_bytes += (double)result.sides[side].wire_bytes;
            f.datagrams += (double)result.sides[side].datagrams;
            f.resent += (double)result.sides[side].counters.out_bunches_resent / SEEDS;
        }
    }
    qsort(latencies_ms, latency_count, sizeof latencies_ms[0], compare_double);
    if (latency_count > 0) {
        f.p50_ms = latencies_ms[latency_count / 2];
        f.p99_ms = latencies_ms[latency_count * 99 / 100];
        f.max_ms = latencies_ms[latency_count - 1];
    }
    f.lost_percent = sent > 0 ? 100 * (1 - (double)received / (double)sent) : 0;
    f.wire_bytes /= seconds;
    f.datagrams /= seconds;
    f.overflowed = (double)overflowed / SEEDS;
    return f;
}

static void print_figures(const char *option, const char *state, const struct figures *f) {
    printf("%-18s %-4s %7.1f %7.1f %8.1f %9.2f %9.0f %9.1f %8.0f %8.0f\n", option, state, f->p50_ms, f->p99_ms,
           f->max_ms, f->lost_percent, f->wire_bytes, f->datagrams, f->resent, f->overflowed);
}

static void print_header(void) {
    printf("%-18s %-4s %7s %7s %8s %9s %9s %9s %8s %8s\n", "option", "", "p50 ms", "p99 ms", "max ms", "unrel. %",
           "bytes/s", "packets/s", "resent", "overflow");
}

/* Both sides without the option, then both with it. */
static void compare_option(const char *option, const struct sim_scenario *scenario,
                           const struct ue_conn_options *options) {
    struct sim_scenario with = *scenario;
    with.sides[UE_ROLE_CLIENT].options = *options;
    with.sides[UE_ROLE_SERVER].options = *options;
    struct figures off = run_seeds(scenario);
    struct figures on = run_seeds(&with);
    print_figures(option, "off", &off);
    print_figures("", "on", &on);
}

/* ---- scenarios ---- */

/* Messages at long intervals: the loss of the last packet of a burst is often detected late. */
static struct sim_scenario sparse(void) {
    struct sim_scenario scenario = scenario_named("stream");
    memset(scenario.streams, 0, sizeof scenario.streams);
    scenario.streams[0] = (struct sim_stream){
        .from = UE_ROLE_SERVER, .channel = 2, .reliable = true, .every_ticks = 61, .min_bits = 800, .max_bits = 800};
    scenario_set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .loss = 0.3});
    scenario.duration_ns = 60 * UE_NS_PER_S;
    return scenario;
}

static void tail_probes_work_on_a_sparse_stream(void **state) {
    struct sim_scenario scenario = sparse();
    print_header();
    compare_option("tail_probe", &scenario, &(struct ue_conn_options){.tail_probe = true});
    compare_option("tail_probe_data", &scenario, &(struct ue_conn_options){.tail_probe_data = true});
}

static void repeating_for_some_ticks_works_on_a_sparse_stream(void **state) {
    struct sim_scenario scenario = sparse();
    print_header();
    compare_option(
        "repeat_ticks", &scenario,
        &(struct ue_conn_options){.tail_probe = true, .quiet = true, .repeat_reliable = true, .repeat_ticks = 2});
}

static void quiet_works_on_a_sparse_stream(void **state) {
    struct sim_scenario scenario = sparse();
    scenario_set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .loss = 0.01});
    compare_option("quiet", &scenario, &(struct ue_conn_options){.quiet = true});
}

/* The server receives nothing for five seconds, and its unreliable data pushes unreported packets out of the
   history. */
static void the_send_window_works_with_an_outage_of_acks(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    scenario.sides[UE_ROLE_SERVER].tick_hz = 120;
    scenario.paths[UE_ROLE_CLIENT].outages[0] = (struct sim_outage){2 * UE_NS_PER_S, 7 * UE_NS_PER_S};
    scenario.duration_ns = 10 * UE_NS_PER_S;
    compare_option("send_window", &scenario, &(struct ue_conn_options){.send_window = true});
}

/* After an outage everything that was lost is resent in one tick, more than the queue holds. */
static void the_burst_limit_works_after_an_outage(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    scenario.streams[0].every_ticks = 1;
    scenario_set_paths(
        &scenario, &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .rate_bytes = 100000, .queue_bytes = 8000});
    scenario.paths[UE_ROLE_SERVER].outages[0] = (struct sim_outage){2 * UE_NS_PER_S, 3 * UE_NS_PER_S};
    scenario.duration_ns = 10 * UE_NS_PER_S;
    compare_option("burst_limit", &scenario, &(struct ue_conn_options){.burst_limit = 2});
}

/* A program that sends more than the link carries, without asking whether the connection is ready. */
static void pacing_works_on_a_slow_link(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    scenario.streams[1].every_ticks = 1;
    scenario.streams[1].hasty = true;
    scenario.sides[UE_ROLE_SERVER].net_speed = 30000;
    scenario_set_paths(
        &scenario, &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .rate_bytes = 32000, .queue_bytes = 8000});
    scenario.duration_ns = 20 * UE_NS_PER_S;
    compare_option("pacing", &scenario, &(struct ue_conn_options){.pacing = true});
}

static void the_reorder_wait_works_with_jitter(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    scenario_set_paths(&scenario,
                       &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .jitter_ns = 40 * UE_NS_PER_MS});
    scenario.duration_ns = 60 * UE_NS_PER_S;
    compare_option("reorder_wait_ns", &scenario, &(struct ue_conn_options){.reorder_wait_ns = 30 * UE_NS_PER_MS});
}

/* A resend starts a packet before most of a tick's packets are received: their acks need another history word, and
   nothing is sent for a while afterwards. */
static void prompt_acks_work_with_bursts(void **state) {
    struct sim_scenario scenario = sparse();
    scenario.streams[0].every_ticks = 13;
    scenario.streams[1] = (struct sim_stream){.from = UE_ROLE_CLIENT,
                                              .channel = 2,
                                              .reliable = true,
                                              .every_ticks = 61,
                                              .burst = 50,
                                              .min_bits = 7000,
                                              .max_bits = 7000};
    compare_option("prompt_acks", &scenario, &(struct ue_conn_options){.prompt_acks = true});
}

static void repeating_reliable_bunches_works_with_loss(void **state) {
    struct sim_scenario scenario = scenario_named("stream");
    scenario_set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .loss = 0.05});
    scenario.duration_ns = 60 * UE_NS_PER_S;
    compare_option("repeat_reliable", &scenario, &(struct ue_conn_options){.repeat_reliable = true});
}

/* ---- closing ---- */

#define TICK_NS (UE_NS_PER_S / 60)

/* Two connections without a network between them. */
struct direct_pair {
    struct ue_conn *conns[2];
    uint64_t now_ns;
    bool drops_from_server; /* the server's datagrams are lost */
};

static void direct_pair_init(struct direct_pair *pair, const struct ue_conn_options *options) {
    static const uint8_t seed[UE_SEED_BYTES];
    static const uint8_t hello[] = {0, 1, 0, 0, 0, 0};
    *pair = (struct direct_pair){.now_ns = UE_NS_PER_S};
    for (enum ue_role role = UE_ROLE_CLIENT; role <= UE_ROLE_SERVER; role++) {
        struct ue_conn_config config = {
            .profile = ue_profile_find("5.5"), .role = role, .seed = seed, .options = *options};
        pair->conns[role] = ue_conn_new(NULL, &config);
        assert_non_null(pair->conns[role]);
        ue_conn_adopt(pair->conns[role], pair->now_ns, 100, 100);
        ue_conn_admit(pair->conns[role]);
    }
    struct ue_outgoing bunch = {.reliable = true, .data = {hello, 0, sizeof hello * 8}};
    assert_int_equal(ue_conn_send(pair->conns[UE_ROLE_CLIENT], pair->now_ns, &bunch, NULL), UE_OK);
}

static void direct_pair_free(struct direct_pair *pair) {
    ue_conn_free(pair->conns[0]);
    ue_conn_free(pair->conns[1]);
}

static void direct_pair_tick(struct direct_pair *pair) {
    pair->now_ns += TICK_NS;
    for (enum ue_role role = UE_ROLE_CLIENT; role <= UE_ROLE_SERVER; role++) {
        struct ue_bytes datagram;
        struct ue_event event;
        ue_conn_end_receive(pair->conns[role], pair->now_ns);
        ue_conn_tick(pair->conns[role], pair->now_ns);
        while (ue_conn_next_event(pair->conns[role], &event)) {
        }
        while (ue_conn_next_datagram(pair->conns[role], &datagram)) {
            if (role == UE_ROLE_CLIENT || !pair->drops_from_server) {
                ue_conn_receive(pair->conns[!role], pair->now_ns, datagram.bytes, datagram.size_bytes);
            }
        }
    }
}

/* The server closes and the packet with the close is lost; returns the seconds until the client has closed. */
static double seconds_until_client_closed(const struct ue_conn_options *options) {
    struct direct_pair pair;
    direct_pair_init(&pair, options);
    for (int i = 0; i < 60; i++) {
        direct_pair_tick(&pair);
    }
    assert_int_equal(ue_conn_state(pair.conns[UE_ROLE_CLIENT]), UE_CONN_OPEN);
    uint64_t closed_ns = pair.now_ns;
    ue_conn_close(pair.conns[UE_ROLE_SERVER], pair.now_ns, UE_CLOSE_HOST_CLOSED);
    pair.drops_from_server = true;
    direct_pair_tick(&pair);
    pair.drops_from_server = false;
    while (ue_conn_state(pair.conns[UE_ROLE_CLIENT]) != UE_CONN_CLOSED && pair.now_ns < closed_ns + 100 * UE_NS_PER_S) {
        direct_pair_tick(&pair);
    }
    double seconds = (double)(pair.now_ns - closed_ns) / UE_NS_PER_S;
    direct_pair_free(&pair);
    return seconds;
}

static void a_resent_close_reaches_the_client_earlier(void **state) {
    double off = seconds_until_client_closed(&(struct ue_conn_options){0});
    double on = seconds_until_client_closed(&(struct ue_conn_options){.resend_close = true});
    printf("%-18s off  client closes after %.2f s\n%-18s on   client closes after %.2f s\n", "resend_close", off, "",
           on);
    assert_true(on <= off);
}

/* ---- options without effect ---- */

static uint64_t transcript_of(const struct sim_scenario *base, const struct ue_conn_options *options) {
    struct sim_scenario scenario = *base;
    struct sim_result result;
    scenario.seed = 7;
    scenario.sides[UE_ROLE_CLIENT].options = *options;
    scenario.sides[UE_ROLE_SERVER].options = *options;
    sim_run(&scenario, NULL, &result);
    if (!result.ok) {
        fail_msg("%s", result.failure);
    }
    return result.transcript;
}

static void strict_options_do_not_change_valid_traffic(void **state) {
    const struct ue_conn_options none = {0};
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        const struct ue_conn_options strict = {
            .strict_client = true, .strict_header = true, .resend_close = scenario->ending == SIM_ENDING_QUIET};
        if (!scenario->hostile && transcript_of(scenario, &strict) != transcript_of(scenario, &none)) {
            fail_msg("%s: strict options change the traffic of valid endpoints", scenario->name);
        }
    }
}

/* A run with every option between two runs without: the latter are equal. */
static void options_do_not_affect_later_runs(void **state) {
    const struct ue_conn_options all = {.tail_probe = true,
                                        .quiet = true,
                                        .send_window = true,
                                        .burst_limit = 4,
                                        .pacing = true,
                                        .reorder_wait_ns = 20 * UE_NS_PER_MS,
                                        .prompt_acks = true,
                                        .repeat_reliable = true,
                                        .repeat_ticks = 2};
    const struct ue_conn_options none = {0};
    struct sim_scenario scenario = scenario_named("terrible");
    uint64_t before = transcript_of(&scenario, &none);
    uint64_t with = transcript_of(&scenario, &all);
    assert_true(transcript_of(&scenario, &none) == before);
    assert_true(with != before);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_probes_work_on_a_sparse_stream),
        cmocka_unit_test(repeating_for_some_ticks_works_on_a_sparse_stream),
        cmocka_unit_test(quiet_works_on_a_sparse_stream),
        cmocka_unit_test(the_send_window_works_with_an_outage_of_acks),
        cmocka_unit_test(the_burst_limit_works_after_an_outage),
        cmocka_unit_test(pacing_works_on_a_slow_link),
        cmocka_unit_test(the_reorder_wait_works_with_jitter),
        cmocka_unit_test(prompt_acks_work_with_bursts),
        cmocka_unit_test(repeating_reliable_bunches_works_with_loss),
        cmocka_unit_test(a_resent_close_reaches_the_client_earlier),
        cmocka_unit_test(strict_options_do_not_change_valid_traffic),
        cmocka_unit_test(options_do_not_affect_later_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

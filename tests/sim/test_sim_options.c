/* SPDX-License-Identifier: MIT */
/* What the options that the engine does not have (endpoint.md 7) are good for: each with and without, in a network for
   which it was made. The table is for readers; what is asserted is that every run is correct, that options that are off
   leave no trace, and that those that only judge the peer change nothing between peers that behave. */
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
#define SEEDS 10
#define LATENCIES_MAX 200000

/* ---- figures of one way to run a scenario ---- */

struct figures {
    double p50_ms, p99_ms, max_ms; /* of reliable messages */
    double lost_percent;           /* of unreliable ones */
    double wire_bytes;             /* per second, both ways */
    double datagrams;              /* per second, both ways */
    double resent;                 /* bunches, per run */
    double overflowed;             /* datagrams that a queue had no room for, per run */
};

static double latencies_ms[LATENCIES_MAX];
static size_t latency_count;
static uint64_t overflowed;

static void note_delivery(void *user, const struct sim_delivery *delivery) {
    (void)user;
    if (delivery->reliable && latency_count < LATENCIES_MAX) {
        latencies_ms[latency_count++] = (double)(delivery->now_ns - delivery->sent_ns) / (double)NS_PER_MS;
    }
}

static void note_datagram(void *user, const struct sim_datagram *datagram) {
    (void)user;
    overflowed += datagram->report->event == SIM_DATAGRAM_OVERFLOWED;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct figures run_seeds(const struct sim_scenario *base) {
    struct sim_callbacks watch = {.delivered = note_delivery, .datagram = note_datagram};
    struct figures f = {0};
    double seconds = 0;
    uint64_t sent = 0;
    uint64_t heard = 0;
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
        seconds += (double)result.end_ns / (double)NS_PER_S;
        for (size_t side = 0; side < 2; side++) {
            sent += result.sides[side].sent[0];
            heard += result.sides[side].received[0];
            f.wire_bytes += (double)result.sides[side].wire_bytes;
            f.datagrams += (double)result.sides[side].datagrams;
            f.resent += (double)result.sides[side].counters.out_bunches_resent / SEEDS;
        }
    }
    qsort(latencies_ms, latency_count, sizeof latencies_ms[0], compare);
    if (latency_count > 0) {
        f.p50_ms = latencies_ms[latency_count / 2];
        f.p99_ms = latencies_ms[latency_count * 99 / 100];
        f.max_ms = latencies_ms[latency_count - 1];
    }
    f.lost_percent = sent > 0 ? 100 * (1 - (double)heard / (double)sent) : 0;
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

/* Both ends without the option, then both with it. */
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

static struct sim_scenario named(const char *name) {
    const struct sim_scenario *scenario = sim_scenario_find(name);
    assert_non_null(scenario);
    return *scenario;
}

static void set_paths(struct sim_scenario *scenario, const struct sim_link_config *path) {
    scenario->paths[UE_ROLE_CLIENT] = *path;
    scenario->paths[UE_ROLE_SERVER] = *path;
}

/* Seldom a message, and nothing behind it: the last packet of a burst is lost more often than noticed. */
static struct sim_scenario sparse(void) {
    struct sim_scenario scenario = named("game");
    memset(scenario.streams, 0, sizeof scenario.streams);
    scenario.streams[0] = (struct sim_stream){
        .from = UE_ROLE_SERVER, .channel = 2, .reliable = true, .every_ticks = 61, .min_bits = 800, .max_bits = 800};
    set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .loss = 0.3});
    scenario.duration_ns = 60 * NS_PER_S;
    return scenario;
}

static void test_tail_probe(void **state) {
    (void)state;
    struct sim_scenario scenario = sparse();
    print_header();
    compare_option("tail_probe", &scenario, &(struct ue_conn_options){.tail_probe = true});
    compare_option("tail_probe_data", &scenario, &(struct ue_conn_options){.tail_probe_data = true});
}

static void test_quiet(void **state) {
    (void)state;
    struct sim_scenario scenario = sparse();
    set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .loss = 0.01});
    compare_option("quiet", &scenario, &(struct ue_conn_options){.quiet = true});
}

/* Nothing comes back for five seconds, and unreliable data pushes what is unreported out of the history. */
static void test_send_window(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    scenario.sides[UE_ROLE_SERVER].tick_hz = 120;
    scenario.paths[UE_ROLE_CLIENT].outages[0] = (struct sim_outage){2 * NS_PER_S, 7 * NS_PER_S};
    scenario.duration_ns = 10 * NS_PER_S;
    compare_option("send_window", &scenario, &(struct ue_conn_options){.send_window = true});
}

/* After an outage everything that was lost leaves in one tick, more than the queue takes. */
static void test_burst_limit(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    scenario.streams[0].every_ticks = 1;
    set_paths(&scenario,
              &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .rate_bytes = 100000, .queue_bytes = 8000});
    scenario.paths[UE_ROLE_SERVER].outages[0] = (struct sim_outage){2 * NS_PER_S, 3 * NS_PER_S};
    scenario.duration_ns = 10 * NS_PER_S;
    compare_option("burst_limit", &scenario, &(struct ue_conn_options){.burst_limit = 2});
}

/* A program that says more than the line carries, and does not ask. */
static void test_pacing(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    scenario.streams[1].every_ticks = 1;
    scenario.streams[1].hasty = true;
    scenario.sides[UE_ROLE_SERVER].net_speed = 30000;
    set_paths(&scenario,
              &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .rate_bytes = 32000, .queue_bytes = 8000});
    scenario.duration_ns = 20 * NS_PER_S;
    compare_option("pacing", &scenario, &(struct ue_conn_options){.pacing = true});
}

static void test_reorder_wait(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .jitter_ns = 40 * NS_PER_MS});
    scenario.duration_ns = 60 * NS_PER_S;
    compare_option("reorder_wait_ns", &scenario, &(struct ue_conn_options){.reorder_wait_ns = 30 * NS_PER_MS});
}

/* A resend begins a packet while most of a tick's packets are still to be read: these need another history word, and
   after them nothing comes for a while. */
static void test_prompt_acks(void **state) {
    (void)state;
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

static void test_repeat_reliable(void **state) {
    (void)state;
    struct sim_scenario scenario = named("game");
    set_paths(&scenario, &(struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .loss = 0.05});
    scenario.duration_ns = 60 * NS_PER_S;
    compare_option("repeat_reliable", &scenario, &(struct ue_conn_options){.repeat_reliable = true});
}

/* ---- leaving ---- */

#define TICK_NS (NS_PER_S / 60)
#define POOL_BYTES (2u << 20)

/* Two ends on a direct line. */
struct duo {
    void *region;
    struct ue_conn *conns[2];
    uint64_t now_ns;
    bool is_cut; /* what the server sends is lost */
};

static void open_duo(struct duo *duo, const struct ue_conn_options *options) {
    static const uint8_t seed[UE_SEED_BYTES];
    static const uint8_t hello[] = {0, 1, 0, 0, 0, 0};
    *duo = (struct duo){.region = malloc(POOL_BYTES), .now_ns = NS_PER_S};
    struct ue_pool *pool = ue_pool_init(duo->region, POOL_BYTES);
    for (enum ue_role role = UE_ROLE_CLIENT; role <= UE_ROLE_SERVER; role++) {
        struct ue_conn_config config = {
            .profile = ue_profile_find("5.5"), .role = role, .seed = seed, .options = *options};
        duo->conns[role] = ue_conn_new(pool, &config);
        assert_non_null(duo->conns[role]);
        ue_conn_adopt(duo->conns[role], duo->now_ns, 100, 100);
        ue_conn_admit(duo->conns[role]);
    }
    struct ue_outgoing bunch = {.reliable = true, .data = {hello, 0, sizeof hello * 8}};
    assert_int_equal(ue_conn_send(duo->conns[UE_ROLE_CLIENT], duo->now_ns, &bunch, NULL), UE_OK);
}

static void close_duo(struct duo *duo) {
    ue_conn_free(duo->conns[0]);
    ue_conn_free(duo->conns[1]);
    free(duo->region);
}

static void tick_duo(struct duo *duo) {
    duo->now_ns += TICK_NS;
    for (enum ue_role role = UE_ROLE_CLIENT; role <= UE_ROLE_SERVER; role++) {
        struct ue_bytes datagram;
        struct ue_event event;
        ue_conn_end_receive(duo->conns[role], duo->now_ns);
        ue_conn_tick(duo->conns[role], duo->now_ns);
        while (ue_conn_next_event(duo->conns[role], &event)) {
        }
        while (ue_conn_next_datagram(duo->conns[role], &datagram)) {
            if (role == UE_ROLE_CLIENT || !duo->is_cut) {
                ue_conn_receive(duo->conns[!role], duo->now_ns, datagram.bytes, datagram.size_bytes);
            }
        }
    }
}

/* The server leaves, and the packet that says so is lost: seconds until the client knows. */
static double seconds_until_known(const struct ue_conn_options *options) {
    struct duo duo;
    open_duo(&duo, options);
    for (int i = 0; i < 60; i++) {
        tick_duo(&duo);
    }
    assert_int_equal(ue_conn_state(duo.conns[UE_ROLE_CLIENT]), UE_CONN_OPEN);
    uint64_t left_ns = duo.now_ns;
    ue_conn_close(duo.conns[UE_ROLE_SERVER], duo.now_ns, UE_CLOSE_HOST_CLOSED);
    duo.is_cut = true;
    tick_duo(&duo);
    duo.is_cut = false;
    while (ue_conn_state(duo.conns[UE_ROLE_CLIENT]) != UE_CONN_CLOSED && duo.now_ns < left_ns + 100 * NS_PER_S) {
        tick_duo(&duo);
    }
    double seconds = (double)(duo.now_ns - left_ns) / (double)NS_PER_S;
    close_duo(&duo);
    return seconds;
}

static void test_resend_close(void **state) {
    (void)state;
    double off = seconds_until_known(&(struct ue_conn_options){0});
    double on = seconds_until_known(&(struct ue_conn_options){.resend_close = true});
    printf("%-18s off  client knows after %.2f s\n%-18s on   client knows after %.2f s\n", "resend_close", off, "", on);
    assert_true(on <= off);
}

/* ---- what must not change anything ---- */

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

static void test_strictness_changes_nothing(void **state) {
    (void)state;
    const struct ue_conn_options none = {0};
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        const struct ue_conn_options strict = {
            .strict_client = true, .strict_header = true, .resend_close = scenario->ending == SIM_ENDING_QUIET};
        if (!scenario->hostile && transcript_of(scenario, &strict) != transcript_of(scenario, &none)) {
            fail_msg("%s: strictness changes what well-behaved ends say", scenario->name);
        }
    }
}

/* A run with every option between two without leaves these alike: options live in their connection only. */
static void test_off_leaves_no_trace(void **state) {
    (void)state;
    const struct ue_conn_options all = {.tail_probe = true,
                                        .quiet = true,
                                        .send_window = true,
                                        .burst_limit = 4,
                                        .pacing = true,
                                        .reorder_wait_ns = 20 * NS_PER_MS,
                                        .prompt_acks = true,
                                        .repeat_reliable = true};
    const struct ue_conn_options none = {0};
    struct sim_scenario scenario = named("terrible");
    uint64_t before = transcript_of(&scenario, &none);
    uint64_t with = transcript_of(&scenario, &all);
    assert_true(transcript_of(&scenario, &none) == before);
    assert_true(with != before);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tail_probe),
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_send_window),
        cmocka_unit_test(test_burst_limit),
        cmocka_unit_test(test_pacing),
        cmocka_unit_test(test_reorder_wait),
        cmocka_unit_test(test_prompt_acks),
        cmocka_unit_test(test_repeat_reliable),
        cmocka_unit_test(test_resend_close),
        cmocka_unit_test(test_strictness_changes_nothing),
        cmocka_unit_test(test_off_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Links against their parameters: each kind of impairment alone by its statistics, chains of links by invariants, and
   equal seeds by equal runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uerudp/time_ns.h>

#include "tests/support/within.h"
#include "tools/sim/link.h"
#include "tools/sim/network_emulation.h"
#include "tools/sim/rng.h"

#define COUNT 100000
#define SEED UINT64_C(0x11ac)

/* What a tap reported of a datagram. */
struct link_arrival {
    uint64_t sent_ns;
    uint64_t arrived_ns; /* 0: never arrived */
    uint32_t copies;     /* copies that arrived */
    uint64_t place;      /* position among all arrivals */
    bool corrupted;
};

struct link_trace {
    struct link_arrival arrivals[COUNT];
    uint64_t arrival_count;
    uint64_t hash;
};

static void record_report(void *user, const struct sim_link_report *report) {
    struct link_trace *trace = user;
    struct link_arrival *arrival = &trace->arrivals[report->number];
    trace->hash = sim_rng_mix(trace->hash,
                              sim_rng_mix(report->now_ns, report->number * SIM_DATAGRAM_EVENT_COUNT + report->event));
    if (report->event == SIM_DATAGRAM_SENT) {
        arrival->sent_ns = report->now_ns;
    } else if (report->event == SIM_DATAGRAM_ARRIVED) {
        arrival->copies++;
        arrival->arrived_ns = arrival->arrived_ns == 0 ? report->now_ns : arrival->arrived_ns;
        arrival->place = trace->arrival_count++;
        arrival->corrupted = report->corrupted;
    }
}

/* Sends COUNT datagrams that carry their number, one each spacing_ns, and drains the link. */
static struct link_trace *run_stages(const struct sim_link_config *stages, size_t stage_count, uint64_t seed,
                                     uint64_t spacing_ns, size_t size_bytes) {
    struct link_trace *trace = calloc(1, sizeof *trace);
    struct sim_link *link = sim_link_new(stages, stage_count, seed, 0);
    assert_non_null(trace);
    assert_non_null(link);
    sim_link_set_tap(link, record_report, trace);
    uint8_t datagram[1024] = {0};
    const uint8_t *bytes;
    size_t size;
    uint64_t now_ns = 1;
    for (uint32_t i = 0; i < COUNT; i++, now_ns += spacing_ns) {
        memcpy(datagram, &i, sizeof i);
        sim_link_send(link, now_ns, datagram, size_bytes);
        while (sim_link_pop(link, now_ns, &bytes, &size)) {
            assert_int_equal(size, size_bytes);
        }
    }
    while (sim_link_deadline(link) != UINT64_MAX) {
        sim_link_pop(link, now_ns += UE_NS_PER_MS, &bytes, &size);
    }
    sim_link_free(link);
    return trace;
}

static struct link_trace *run(struct sim_link_config config) {
    return run_stages(&config, 1, SEED, UE_NS_PER_MS, 100);
}

static double share_lost(const struct link_trace *trace) {
    uint32_t lost = 0;
    for (size_t i = 0; i < COUNT; i++) {
        lost += trace->arrivals[i].copies == 0;
    }
    return (double)lost / COUNT;
}

/* Asserts that a share of COUNT draws is within five standard deviations of the expected one. */
static void assert_share(double share, double expected, double variance_factor) {
    double variance = expected * (1 - expected) * variance_factor / COUNT;
    if ((share - expected) * (share - expected) > 25 * variance) {
        fail_msg("share %g, expected %g, variance %g", share, expected, variance);
    }
}

static void an_unimpaired_link_delivers_at_once(void **state) {
    struct link_trace *trace = run((struct sim_link_config){0});
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(trace->arrivals[i].arrived_ns, trace->arrivals[i].sent_ns);
        assert_int_equal(trace->arrivals[i].place, i);
    }
    free(trace);
}

static void loss_has_the_configured_share(void **state) {
    const double losses[] = {0.01, 0.05, 0.2, 0.4};
    for (size_t i = 0; i < 4; i++) {
        struct link_trace *trace = run((struct sim_link_config){.loss = losses[i]});
        assert_share(share_lost(trace), losses[i], 1);
        free(trace);
    }
    struct link_trace *all = run((struct sim_link_config){.loss = 1});
    assert_int_equal(all->arrival_count, 0);
    free(all);
}

static void loss_bursts_have_the_configured_mean_length(void **state) {
    struct link_trace *trace = run((struct sim_link_config){.loss = 0.05, .loss_burst = 3});
    uint32_t lost = 0;
    uint32_t runs = 0;
    for (size_t i = 0; i < COUNT; i++) {
        bool is_lost = trace->arrivals[i].copies == 0;
        lost += is_lost;
        runs += is_lost && (i == 0 || trace->arrivals[i - 1].copies != 0);
    }
    assert_share((double)lost / COUNT, 0.05, 6);
    double mean = (double)lost / runs;
    assert_true(mean > 2.75 && mean < 3.25);
    free(trace);
}

/* Senders with different intervals lose the same datagrams among those that they send at equal times. */
static void loss_depends_on_the_time_of_sending(void **state) {
    struct sim_link_config config = {.loss = 0.2};
    struct link_trace *each = run_stages(&config, 1, SEED, UE_NS_PER_MS, 100);
    struct link_trace *third = run_stages(&config, 1, SEED, 3 * UE_NS_PER_MS, 100);
    struct link_trace *other = run_stages(&config, 1, SEED + 1, UE_NS_PER_MS, 100);
    uint32_t differences = 0;
    for (size_t i = 0; i < COUNT / 3; i++) {
        assert_int_equal(third->arrivals[i].copies, each->arrivals[3 * i].copies);
        differences += other->arrivals[i].copies != each->arrivals[i].copies;
    }
    assert_true(differences > COUNT / 20);
    free(each);
    free(third);
    free(other);
}

/* For links in real time: the same datagrams are lost at any speed; copies are lost independently. */
static void loss_by_number_depends_on_the_datagram_number(void **state) {
    struct sim_link_config config = {.loss = 0.2, .loss_by_number = true};
    struct link_trace *slow = run_stages(&config, 1, SEED, 3 * UE_NS_PER_MS, 100);
    struct link_trace *fast = run_stages(&config, 1, SEED, UE_NS_PER_MS / 7, 100);
    struct link_trace *other = run_stages(&config, 1, SEED + 1, UE_NS_PER_MS / 7, 100);
    uint32_t differences = 0;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(slow->arrivals[i].copies, fast->arrivals[i].copies);
        differences += fast->arrivals[i].copies != other->arrivals[i].copies;
    }
    assert_share(share_lost(fast), 0.2, 1);
    assert_share((double)differences / COUNT, 2 * 0.2 * 0.8, 1);
    free(slow);
    free(fast);
    free(other);
}

static void loss_applies_to_the_configured_sizes_only(void **state) {
    struct sim_link_config config = {.loss = 1, .loss_min_bytes = 50, .loss_max_bytes = 200};
    const struct {
        size_t size;
        uint64_t arrival_count;
    } cases[] = {{49, COUNT}, {50, 0}, {200, 0}, {201, COUNT}};
    for (size_t i = 0; i < 4; i++) {
        struct link_trace *trace = run_stages(&config, 1, SEED, UE_NS_PER_MS, cases[i].size);
        assert_int_equal(trace->arrival_count, cases[i].arrival_count);
        free(trace);
    }
}

static void masks_and_outages_drop_their_datagrams_only(void **state) {
    struct sim_link_config config = {.mask = "x..xx.",
                                     .outages = {{UE_NS_PER_S, 3 * UE_NS_PER_S}, {5 * UE_NS_PER_S, 6 * UE_NS_PER_S}}};
    struct link_trace *trace = run(config);
    for (size_t i = 0; i < COUNT; i++) {
        bool is_masked = i == 0 || i == 3 || i == 4;
        uint64_t sent_ns = trace->arrivals[i].sent_ns;
        bool in_outage = (sent_ns >= UE_NS_PER_S && sent_ns < 3 * UE_NS_PER_S) ||
                         (sent_ns >= 5 * UE_NS_PER_S && sent_ns < 6 * UE_NS_PER_S);
        assert_int_equal(trace->arrivals[i].copies, is_masked || in_outage ? 0 : 1);
    }
    free(trace);
}

static void delay_and_jitter_are_uniformly_distributed(void **state) {
    struct link_trace *trace =
        run((struct sim_link_config){.delay_ns = 25 * UE_NS_PER_MS, .jitter_ns = 20 * UE_NS_PER_MS});
    double sum_ms = 0;
    uint32_t overtaken = 0;
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t waited_ns = trace->arrivals[i].arrived_ns - trace->arrivals[i].sent_ns;
        assert_true(is_within(waited_ns, 25 * UE_NS_PER_MS, 45 * UE_NS_PER_MS));
        sum_ms += (double)waited_ns / UE_NS_PER_MS;
        overtaken += i > 0 && trace->arrivals[i].place < trace->arrivals[i - 1].place;
    }
    /* uniform over 20 ms: mean 35, variance 20^2 / 12; neighbours 1 ms apart swap with probability 19^2 / (2 * 20^2) */
    double excess_ms = sum_ms / COUNT - 35;
    assert_true(excess_ms * excess_ms < 25 * (20.0 * 20.0 / 12) / COUNT);
    assert_share((double)overtaken / COUNT, 0.45125, 2);
    free(trace);
}

static void duplication_has_the_configured_share(void **state) {
    struct link_trace *trace = run((struct sim_link_config){.duplicate = 0.1});
    assert_share((double)(trace->arrival_count - COUNT) / COUNT, 0.1, 1);
    assert_true(share_lost(trace) == 0);
    free(trace);
}

static void corruption_has_the_configured_share(void **state) {
    struct link_trace *trace = run((struct sim_link_config){.corrupt = 0.1});
    uint32_t corrupted = 0;
    for (size_t i = 0; i < COUNT; i++) {
        corrupted += trace->arrivals[i].corrupted;
    }
    assert_share((double)corrupted / COUNT, 0.1, 1);
    free(trace);
}

static void reordering_has_the_configured_share(void **state) {
    struct link_trace *trace = run((struct sim_link_config){.reorder = 0.1});
    uint32_t overtaken = 0;
    for (size_t i = 1; i < COUNT; i++) {
        overtaken += trace->arrivals[i].place < trace->arrivals[i - 1].place;
    }
    /* a datagram that releases a held one is not held itself */
    assert_share((double)overtaken / COUNT, 0.1 / 1.1, 1);
    assert_true(share_lost(trace) == 0);
    free(trace);
}

/* A held datagram that no other follows arrives, too. */
static void a_held_datagram_without_a_successor_arrives_after_a_timeout(void **state) {
    struct sim_link_config config = {.reorder = 1};
    struct sim_link *link = sim_link_new(&config, 1, SEED, 0);
    const uint8_t *bytes;
    size_t size;
    sim_link_send(link, 0, (const uint8_t *)"a", 1);
    assert_false(sim_link_pop(link, SIM_LINK_REORDER_TIMEOUT_NS - 1, &bytes, &size));
    assert_int_equal(sim_link_deadline(link), SIM_LINK_REORDER_TIMEOUT_NS);
    assert_true(sim_link_pop(link, SIM_LINK_REORDER_TIMEOUT_NS, &bytes, &size));
    sim_link_free(link);
}

static void shuffle_delivers_half_of_the_datagrams_at_once(void **state) {
    struct link_trace *trace = run((struct sim_link_config){.shuffle = true});
    uint32_t undelayed = 0;
    for (size_t i = 0; i < COUNT; i++) {
        undelayed += trace->arrivals[i].arrived_ns == trace->arrivals[i].sent_ns;
    }
    assert_share((double)undelayed / COUNT, 0.5, 1);
    assert_true(share_lost(trace) * COUNT < 40); /* those still held at the end */
    free(trace);
}

/* 100-byte datagrams each millisecond are twice the rate. */
static void a_rate_limit_delays_and_a_full_queue_drops(void **state) {
    struct link_trace *trace = run((struct sim_link_config){.rate_bytes = 50000, .queue_bytes = 1000});
    assert_true(share_lost(trace) > 0.499 && share_lost(trace) < 0.501);
    for (size_t i = 0; i < COUNT; i++) {
        if (trace->arrivals[i].copies != 0) {
            /* one in transmission, ten in the queue, and its own transmission of 2 ms */
            assert_true(is_within(trace->arrivals[i].arrived_ns - trace->arrivals[i].sent_ns, 2 * UE_NS_PER_MS,
                                  22 * UE_NS_PER_MS));
        }
    }
    free(trace);
    struct link_trace *without_queue_limit = run((struct sim_link_config){.rate_bytes = 200000});
    assert_int_equal(without_queue_limit->arrival_count, COUNT);
    assert_int_equal(without_queue_limit->arrivals[COUNT - 1].arrived_ns -
                         without_queue_limit->arrivals[COUNT - 1].sent_ns,
                     UE_NS_PER_MS / 2);
    free(without_queue_limit);
}

static void bloat_delivers_at_intervals(void **state) {
    struct link_trace *trace = run((struct sim_link_config){.bloat_ns = 30 * UE_NS_PER_MS});
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(trace->arrivals[i].arrived_ns % (30 * UE_NS_PER_MS), 0);
        assert_int_equal(trace->arrivals[i].place, i);
        assert_true(trace->arrivals[i].arrived_ns - trace->arrivals[i].sent_ns < 30 * UE_NS_PER_MS);
    }
    free(trace);
}

static void frame_delay_counts_the_ticks_of_its_own_side(void **state) {
    struct sim_link_config stages[2] = {{.frame_delay_ticks = 2}, {0}};
    struct sim_link *link = sim_link_new(stages, 2, SEED, 0);
    const uint8_t *bytes;
    size_t size;
    sim_link_send(link, 0, (const uint8_t *)"a", 1);
    sim_link_tick(link, 10, 0);
    sim_link_tick(link, 20, 1); /* a tick of the other side */
    assert_false(sim_link_pop(link, 20, &bytes, &size));
    sim_link_tick(link, 30, 0);
    assert_true(sim_link_pop(link, 30, &bytes, &size));
    sim_link_free(link);
}

static const struct sim_link_config everything = {.loss = 0.1,
                                                  .loss_burst = 2,
                                                  .corrupt = 0.05,
                                                  .duplicate = 0.05,
                                                  .reorder = 0.05,
                                                  .rate_bytes = 200000,
                                                  .queue_bytes = 3000,
                                                  .delay_ns = 10 * UE_NS_PER_MS,
                                                  .jitter_ns = 5 * UE_NS_PER_MS,
                                                  .bloat_ns = 3 * UE_NS_PER_MS};

static void equal_seeds_give_equal_runs(void **state) {
    struct sim_link_config stages[3] = {{.loss = 0.02, .shuffle = true}, everything, {.duplicate = 0.01}};
    struct link_trace *once = run_stages(stages, 3, SEED, UE_NS_PER_MS, 100);
    struct link_trace *twice = run_stages(stages, 3, SEED, UE_NS_PER_MS, 100);
    struct link_trace *other = run_stages(stages, 3, SEED + 1, UE_NS_PER_MS, 100);
    assert_true(once->hash == twice->hash);
    assert_true(once->hash != other->hash);
    free(once);
    free(twice);
    free(other);
}

/* The rate of calls of sim_link_pop has no effect: datagrams move at their own times. */
static void the_polling_rate_has_no_effect(void **state) {
    uint64_t hashes[2] = {0};
    for (size_t pass = 0; pass < 2; pass++) {
        struct link_trace *trace = calloc(1, sizeof *trace);
        struct sim_link *link = sim_link_new(&everything, 1, SEED, 1);
        sim_link_set_tap(link, record_report, trace);
        const uint8_t *bytes;
        size_t size;
        for (uint64_t ms = 0; ms < 5000; ms++) {
            sim_link_send(link, ms * UE_NS_PER_MS, (const uint8_t *)"0123456789", 10);
            while (pass == 1 && sim_link_pop(link, ms * UE_NS_PER_MS + UE_NS_PER_MS / 2, &bytes, &size)) {
            }
        }
        while (sim_link_pop(link, 10 * UE_NS_PER_S, &bytes, &size)) {
        }
        hashes[pass] = trace->hash;
        sim_link_free(link);
        free(trace);
    }
    assert_true(hashes[0] == hashes[1]);
}

static void a_link_delivers_everything_after_impairment_stops(void **state) {
    struct sim_link_config config = everything;
    config.outages[0] = (struct sim_outage){0, 100 * UE_NS_PER_S};
    config.shuffle = true;
    config.mask = "xxxx";
    config.queue_bytes = 0;
    struct sim_link *link = sim_link_new(&config, 1, SEED, 0);
    sim_link_stop_impairment(link);
    for (uint64_t i = 0; i < 1000; i++) {
        sim_link_send(link, i * UE_NS_PER_MS, (const uint8_t *)"0123456789", 10);
    }
    const uint8_t *bytes;
    size_t size;
    uint32_t arrived = 0;
    while (sim_link_pop(link, 3 * UE_NS_PER_S, &bytes, &size)) {
        assert_memory_equal(bytes, "0123456789", 10);
        arrived++;
    }
    assert_int_equal(arrived, 1000);
    assert_int_equal(sim_link_held(link), 0);
    sim_link_free(link);
}

/* The datagrams that a link holds are bounded, and are freed with the link. */
static void held_datagrams_are_bounded(void **state) {
    struct sim_link_config config = {.duplicate = 1, .delay_ns = UINT64_C(1) << 60};
    struct sim_link *link = sim_link_new(&config, 1, SEED, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        sim_link_send(link, i, (const uint8_t *)"a", 1);
        assert_true(sim_link_held(link) <= SIM_LINK_DATAGRAMS_MAX);
    }
    assert_true(sim_link_event_counts(link)[SIM_DATAGRAM_OVERFLOWED] > 0);
    sim_link_free(link);
    assert_null(sim_link_new(&config, SIM_LINK_STAGES_MAX + 1, SEED, 0));
}

static void emulation_settings_of_the_engine_are_parsed(void **state) {
    struct sim_emulation emulation = {0};
    const char *const texts[] = {
        "PktLoss=5",         "PktLossMinSize=100",   "PktLossMaxSize=900",  "PktDup=2",        "PktOrder=1",
        "PktLag=50",         "PktLagVariance=10",    "PktJitter=5",         "PktFrameDelay=3", "PktBufferBloatInMS=40",
        "PktIncomingLoss=1", "PktIncomingLagMin=20", "PktIncomingLagMax=60"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(sim_emulation_set(&emulation, texts[i]), SIM_EMULATION_OK);
    }
    const struct sim_link_config *in_outage = &emulation.outgoing;
    assert_true(in_outage->loss == 0.05 && in_outage->duplicate == 0.02 && in_outage->shuffle);
    assert_int_equal(in_outage->loss_min_bytes, 100);
    assert_int_equal(in_outage->loss_max_bytes, 900);
    assert_int_equal(in_outage->delay_ns, 40 * UE_NS_PER_MS);
    assert_int_equal(in_outage->jitter_ns, 25 * UE_NS_PER_MS);
    assert_int_equal(in_outage->frame_delay_ticks, 3);
    assert_int_equal(in_outage->bloat_ns, 40 * UE_NS_PER_MS);
    assert_true(emulation.incoming.loss == 0.01);
    assert_int_equal(emulation.incoming.delay_ns, 20 * UE_NS_PER_MS);
    assert_int_equal(emulation.incoming.jitter_ns, 40 * UE_NS_PER_MS);
}

static void invalid_emulation_settings_are_refused(void **state) {
    struct sim_emulation emulation = {0};
    const char *const bad[] = {"PktLoss",    "PktLoss=",   "PktLoss=101", "PktLoss=-1",
                               "PktLoss=5x", "PktOrder=2", "PktLag= 5",   "PktLag=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sim_emulation_set(&emulation, bad[i]), SIM_EMULATION_BAD_VALUE);
    }
    assert_int_equal(sim_emulation_set(&emulation, "PktLos=5"), SIM_EMULATION_UNKNOWN);
    assert_int_equal(sim_emulation_set(&emulation, ""), SIM_EMULATION_UNKNOWN);
    assert_true(emulation.outgoing.loss == 0 && emulation.outgoing.delay_ns == 0);
    size_t rows = 0;
    while (sim_emulation_row_at(rows) != NULL) {
        rows++;
    }
    assert_int_equal(rows, 17);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unimpaired_link_delivers_at_once),
        cmocka_unit_test(loss_has_the_configured_share),
        cmocka_unit_test(loss_bursts_have_the_configured_mean_length),
        cmocka_unit_test(loss_depends_on_the_time_of_sending),
        cmocka_unit_test(loss_by_number_depends_on_the_datagram_number),
        cmocka_unit_test(loss_applies_to_the_configured_sizes_only),
        cmocka_unit_test(masks_and_outages_drop_their_datagrams_only),
        cmocka_unit_test(delay_and_jitter_are_uniformly_distributed),
        cmocka_unit_test(duplication_has_the_configured_share),
        cmocka_unit_test(corruption_has_the_configured_share),
        cmocka_unit_test(reordering_has_the_configured_share),
        cmocka_unit_test(a_held_datagram_without_a_successor_arrives_after_a_timeout),
        cmocka_unit_test(shuffle_delivers_half_of_the_datagrams_at_once),
        cmocka_unit_test(a_rate_limit_delays_and_a_full_queue_drops),
        cmocka_unit_test(bloat_delivers_at_intervals),
        cmocka_unit_test(frame_delay_counts_the_ticks_of_its_own_side),
        cmocka_unit_test(equal_seeds_give_equal_runs),
        cmocka_unit_test(the_polling_rate_has_no_effect),
        cmocka_unit_test(a_link_delivers_everything_after_impairment_stops),
        cmocka_unit_test(held_datagrams_are_bounded),
        cmocka_unit_test(emulation_settings_of_the_engine_are_parsed),
        cmocka_unit_test(invalid_emulation_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Links against their parameters: each node alone by its statistics, chains by what must hold, and the same twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/within.h"
#include "tools/sim/link.h"
#include "tools/sim/network_emulation.h"
#include "tools/sim/rng.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define COUNT 100000
#define SEED UINT64_C(0x11ac)

/* What a tap saw of each datagram. */
struct seen {
    uint64_t sent_ns;
    uint64_t arrived_ns; /* 0: never */
    uint32_t copies;     /* that arrived */
    uint64_t place;      /* among all arrivals */
    bool corrupted;
};

struct trace {
    struct seen seen[COUNT];
    uint64_t arrivals;
    uint64_t hash;
};

static void see(void *user, const struct sim_link_report *report) {
    struct trace *trace = user;
    struct seen *seen = &trace->seen[report->number];
    trace->hash = sim_rng_mix(trace->hash,
                              sim_rng_mix(report->now_ns, report->number * SIM_DATAGRAM_EVENT_COUNT + report->event));
    if (report->event == SIM_DATAGRAM_SENT) {
        seen->sent_ns = report->now_ns;
    } else if (report->event == SIM_DATAGRAM_ARRIVED) {
        seen->copies++;
        seen->arrived_ns = seen->arrived_ns == 0 ? report->now_ns : seen->arrived_ns;
        seen->place = trace->arrivals++;
        seen->corrupted = report->corrupted;
    }
}

/* Sends COUNT datagrams that carry their number, one each spacing_ns, and drains the link. */
static struct trace *run_stages(const struct sim_link_config *stages, size_t stage_count, uint64_t seed,
                                uint64_t spacing_ns, size_t size_bytes) {
    struct trace *trace = calloc(1, sizeof *trace);
    struct sim_link *link = sim_link_new(stages, stage_count, seed, 0);
    assert_non_null(trace);
    assert_non_null(link);
    sim_link_set_tap(link, see, trace);
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
        sim_link_pop(link, now_ns += NS_PER_MS, &bytes, &size);
    }
    sim_link_free(link);
    return trace;
}

static struct trace *run(struct sim_link_config config) {
    return run_stages(&config, 1, SEED, NS_PER_MS, 100);
}

static double share_lost(const struct trace *trace) {
    uint32_t lost = 0;
    for (size_t i = 0; i < COUNT; i++) {
        lost += trace->seen[i].copies == 0;
    }
    return (double)lost / COUNT;
}

/* A share of COUNT draws lies within five standard deviations. */
static void assert_share(double share, double expected, double variance_factor) {
    double variance = expected * (1 - expected) * variance_factor / COUNT;
    if ((share - expected) * (share - expected) > 25 * variance) {
        fail_msg("share %g, expected %g, variance %g", share, expected, variance);
    }
}

static void test_nothing(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){0});
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(trace->seen[i].arrived_ns, trace->seen[i].sent_ns);
        assert_int_equal(trace->seen[i].place, i);
    }
    free(trace);
}

static void test_loss(void **state) {
    (void)state;
    const double losses[] = {0.01, 0.05, 0.2, 0.4};
    for (size_t i = 0; i < 4; i++) {
        struct trace *trace = run((struct sim_link_config){.loss = losses[i]});
        assert_share(share_lost(trace), losses[i], 1);
        free(trace);
    }
    struct trace *all = run((struct sim_link_config){.loss = 1});
    assert_int_equal(all->arrivals, 0);
    free(all);
}

static void test_burst(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.loss = 0.05, .loss_burst = 3});
    uint32_t lost = 0;
    uint32_t runs = 0;
    for (size_t i = 0; i < COUNT; i++) {
        bool is_lost = trace->seen[i].copies == 0;
        lost += is_lost;
        runs += is_lost && (i == 0 || trace->seen[i - 1].copies != 0);
    }
    assert_share((double)lost / COUNT, 0.05, 6);
    double mean = (double)lost / runs;
    assert_true(mean > 2.75 && mean < 3.25);
    free(trace);
}

/* Two senders that send at different moments lose those datagrams that they send at the same ones. */
static void test_same_bad_moments(void **state) {
    (void)state;
    struct sim_link_config config = {.loss = 0.2};
    struct trace *each = run_stages(&config, 1, SEED, NS_PER_MS, 100);
    struct trace *third = run_stages(&config, 1, SEED, 3 * NS_PER_MS, 100);
    struct trace *other = run_stages(&config, 1, SEED + 1, NS_PER_MS, 100);
    uint32_t differences = 0;
    for (size_t i = 0; i < COUNT / 3; i++) {
        assert_int_equal(third->seen[i].copies, each->seen[3 * i].copies);
        differences += other->seen[i].copies != each->seen[i].copies;
    }
    assert_true(differences > COUNT / 20);
    free(each);
    free(third);
    free(other);
}

/* In real time no moment comes again: the same datagrams are lost whenever they are sent, copies on their own. */
static void test_loss_by_number(void **state) {
    (void)state;
    struct sim_link_config config = {.loss = 0.2, .loss_by_number = true};
    struct trace *slow = run_stages(&config, 1, SEED, 3 * NS_PER_MS, 100);
    struct trace *fast = run_stages(&config, 1, SEED, NS_PER_MS / 7, 100);
    struct trace *other = run_stages(&config, 1, SEED + 1, NS_PER_MS / 7, 100);
    uint32_t differences = 0;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(slow->seen[i].copies, fast->seen[i].copies);
        differences += fast->seen[i].copies != other->seen[i].copies;
    }
    assert_share(share_lost(fast), 0.2, 1);
    assert_share((double)differences / COUNT, 2 * 0.2 * 0.8, 1);
    free(slow);
    free(fast);
    free(other);
}

static void test_loss_sizes(void **state) {
    (void)state;
    struct sim_link_config config = {.loss = 1, .loss_min_bytes = 50, .loss_max_bytes = 200};
    const struct {
        size_t size;
        uint64_t arrivals;
    } cases[] = {{49, COUNT}, {50, 0}, {200, 0}, {201, COUNT}};
    for (size_t i = 0; i < 4; i++) {
        struct trace *trace = run_stages(&config, 1, SEED, NS_PER_MS, cases[i].size);
        assert_int_equal(trace->arrivals, cases[i].arrivals);
        free(trace);
    }
}

static void test_mask_and_outage(void **state) {
    (void)state;
    struct sim_link_config config = {.mask = "x..xx.",
                                     .outages = {{NS_PER_S, 3 * NS_PER_S}, {5 * NS_PER_S, 6 * NS_PER_S}}};
    struct trace *trace = run(config);
    for (size_t i = 0; i < COUNT; i++) {
        bool masked = i == 0 || i == 3 || i == 4;
        uint64_t sent_ns = trace->seen[i].sent_ns;
        bool out =
            (sent_ns >= NS_PER_S && sent_ns < 3 * NS_PER_S) || (sent_ns >= 5 * NS_PER_S && sent_ns < 6 * NS_PER_S);
        assert_int_equal(trace->seen[i].copies, masked || out ? 0 : 1);
    }
    free(trace);
}

static void test_delay_and_jitter(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.delay_ns = 25 * NS_PER_MS, .jitter_ns = 20 * NS_PER_MS});
    double sum_ms = 0;
    uint32_t overtaken = 0;
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t waited_ns = trace->seen[i].arrived_ns - trace->seen[i].sent_ns;
        assert_true(is_within(waited_ns, 25 * NS_PER_MS, 45 * NS_PER_MS));
        sum_ms += (double)waited_ns / (double)NS_PER_MS;
        overtaken += i > 0 && trace->seen[i].place < trace->seen[i - 1].place;
    }
    /* uniform over 20 ms: mean 35, variance 20^2 / 12; neighbours 1 ms apart swap with 19^2 / (2 * 20^2) */
    double excess_ms = sum_ms / COUNT - 35;
    assert_true(excess_ms * excess_ms < 25 * (20.0 * 20.0 / 12) / COUNT);
    assert_share((double)overtaken / COUNT, 0.45125, 2);
    free(trace);
}

static void test_duplicate(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.duplicate = 0.1});
    assert_share((double)(trace->arrivals - COUNT) / COUNT, 0.1, 1);
    assert_true(share_lost(trace) == 0);
    free(trace);
}

static void test_corrupt(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.corrupt = 0.1});
    uint32_t corrupted = 0;
    for (size_t i = 0; i < COUNT; i++) {
        corrupted += trace->seen[i].corrupted;
    }
    assert_share((double)corrupted / COUNT, 0.1, 1);
    free(trace);
}

static void test_reorder(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.reorder = 0.1});
    uint32_t overtaken = 0;
    for (size_t i = 1; i < COUNT; i++) {
        overtaken += trace->seen[i].place < trace->seen[i - 1].place;
    }
    /* of those that may be put aside; the one that lets it go may not */
    assert_share((double)overtaken / COUNT, 0.1 / 1.1, 1);
    assert_true(share_lost(trace) == 0);
    free(trace);
}

/* The last one is overtaken by nobody and still arrives. */
static void test_reorder_alone(void **state) {
    (void)state;
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

static void test_shuffle(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.shuffle = true});
    uint32_t first_try = 0;
    for (size_t i = 0; i < COUNT; i++) {
        first_try += trace->seen[i].arrived_ns == trace->seen[i].sent_ns;
    }
    assert_share((double)first_try / COUNT, 0.5, 1);
    assert_true(share_lost(trace) * COUNT < 40); /* those still aside at the end */
    free(trace);
}

/* 100-byte datagrams each millisecond are twice what the line carries. */
static void test_rate_and_queue(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.rate_bytes = 50000, .queue_bytes = 1000});
    assert_true(share_lost(trace) > 0.499 && share_lost(trace) < 0.501);
    for (size_t i = 0; i < COUNT; i++) {
        if (trace->seen[i].copies != 0) {
            /* one being served, ten waiting, and its own service of 2 ms */
            assert_true(is_within(trace->seen[i].arrived_ns - trace->seen[i].sent_ns, 2 * NS_PER_MS, 22 * NS_PER_MS));
        }
    }
    free(trace);
    struct trace *endless = run((struct sim_link_config){.rate_bytes = 200000});
    assert_int_equal(endless->arrivals, COUNT);
    assert_int_equal(endless->seen[COUNT - 1].arrived_ns - endless->seen[COUNT - 1].sent_ns, NS_PER_MS / 2);
    free(endless);
}

static void test_bloat(void **state) {
    (void)state;
    struct trace *trace = run((struct sim_link_config){.bloat_ns = 30 * NS_PER_MS});
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(trace->seen[i].arrived_ns % (30 * NS_PER_MS), 0);
        assert_int_equal(trace->seen[i].place, i);
        assert_true(trace->seen[i].arrived_ns - trace->seen[i].sent_ns < 30 * NS_PER_MS);
    }
    free(trace);
}

static void test_frame_delay(void **state) {
    (void)state;
    struct sim_link_config stages[2] = {{.frame_delay_ticks = 2}, {0}};
    struct sim_link *link = sim_link_new(stages, 2, SEED, 0);
    const uint8_t *bytes;
    size_t size;
    sim_link_send(link, 0, (const uint8_t *)"a", 1);
    sim_link_tick(link, 10, 0);
    sim_link_tick(link, 20, 1); /* of somebody else's end */
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
                                                  .delay_ns = 10 * NS_PER_MS,
                                                  .jitter_ns = 5 * NS_PER_MS,
                                                  .bloat_ns = 3 * NS_PER_MS};

static void test_deterministic(void **state) {
    (void)state;
    struct sim_link_config stages[3] = {{.loss = 0.02, .shuffle = true}, everything, {.duplicate = 0.01}};
    struct trace *once = run_stages(stages, 3, SEED, NS_PER_MS, 100);
    struct trace *twice = run_stages(stages, 3, SEED, NS_PER_MS, 100);
    struct trace *other = run_stages(stages, 3, SEED + 1, NS_PER_MS, 100);
    assert_true(once->hash == twice->hash);
    assert_true(once->hash != other->hash);
    free(once);
    free(twice);
    free(other);
}

/* How often a link is asked changes nothing: datagrams move at their own times. */
static void test_polling_changes_nothing(void **state) {
    (void)state;
    uint64_t hashes[2] = {0};
    for (size_t pass = 0; pass < 2; pass++) {
        struct trace *trace = calloc(1, sizeof *trace);
        struct sim_link *link = sim_link_new(&everything, 1, SEED, 1);
        sim_link_set_tap(link, see, trace);
        const uint8_t *bytes;
        size_t size;
        for (uint64_t ms = 0; ms < 5000; ms++) {
            sim_link_send(link, ms * NS_PER_MS, (const uint8_t *)"0123456789", 10);
            while (pass == 1 && sim_link_pop(link, ms * NS_PER_MS + NS_PER_MS / 2, &bytes, &size)) {
            }
        }
        while (sim_link_pop(link, 10 * NS_PER_S, &bytes, &size)) {
        }
        hashes[pass] = trace->hash;
        sim_link_free(link);
        free(trace);
    }
    assert_true(hashes[0] == hashes[1]);
}

static void test_heal(void **state) {
    (void)state;
    struct sim_link_config config = everything;
    config.outages[0] = (struct sim_outage){0, 100 * NS_PER_S};
    config.shuffle = true;
    config.mask = "xxxx";
    config.queue_bytes = 0;
    struct sim_link *link = sim_link_new(&config, 1, SEED, 0);
    sim_link_stop_impairment(link);
    for (uint64_t i = 0; i < 1000; i++) {
        sim_link_send(link, i * NS_PER_MS, (const uint8_t *)"0123456789", 10);
    }
    const uint8_t *bytes;
    size_t size;
    uint32_t arrived = 0;
    while (sim_link_pop(link, 3 * NS_PER_S, &bytes, &size)) {
        assert_memory_equal(bytes, "0123456789", 10);
        arrived++;
    }
    assert_int_equal(arrived, 1000);
    assert_int_equal(sim_link_held(link), 0);
    sim_link_free(link);
}

/* What never leaves is bounded, and freed with the link. */
static void test_memory_bounded(void **state) {
    (void)state;
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

static void test_emulation(void **state) {
    (void)state;
    struct sim_emulation emulation = {0};
    const char *const texts[] = {
        "PktLoss=5",         "PktLossMinSize=100",   "PktLossMaxSize=900",  "PktDup=2",        "PktOrder=1",
        "PktLag=50",         "PktLagVariance=10",    "PktJitter=5",         "PktFrameDelay=3", "PktBufferBloatInMS=40",
        "PktIncomingLoss=1", "PktIncomingLagMin=20", "PktIncomingLagMax=60"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(sim_emulation_set(&emulation, texts[i]), SIM_EMULATION_OK);
    }
    const struct sim_link_config *out = &emulation.outgoing;
    assert_true(out->loss == 0.05 && out->duplicate == 0.02 && out->shuffle);
    assert_int_equal(out->loss_min_bytes, 100);
    assert_int_equal(out->loss_max_bytes, 900);
    assert_int_equal(out->delay_ns, 40 * NS_PER_MS);
    assert_int_equal(out->jitter_ns, 25 * NS_PER_MS);
    assert_int_equal(out->frame_delay_ticks, 3);
    assert_int_equal(out->bloat_ns, 40 * NS_PER_MS);
    assert_true(emulation.incoming.loss == 0.01);
    assert_int_equal(emulation.incoming.delay_ns, 20 * NS_PER_MS);
    assert_int_equal(emulation.incoming.jitter_ns, 40 * NS_PER_MS);
}

static void test_emulation_refuses(void **state) {
    (void)state;
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
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_same_bad_moments),
        cmocka_unit_test(test_loss_by_number),
        cmocka_unit_test(test_loss_sizes),
        cmocka_unit_test(test_mask_and_outage),
        cmocka_unit_test(test_delay_and_jitter),
        cmocka_unit_test(test_duplicate),
        cmocka_unit_test(test_corrupt),
        cmocka_unit_test(test_reorder),
        cmocka_unit_test(test_reorder_alone),
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_rate_and_queue),
        cmocka_unit_test(test_bloat),
        cmocka_unit_test(test_frame_delay),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_polling_changes_nothing),
        cmocka_unit_test(test_heal),
        cmocka_unit_test(test_memory_bounded),
        cmocka_unit_test(test_emulation),
        cmocka_unit_test(test_emulation_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

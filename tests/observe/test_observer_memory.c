/* SPDX-License-Identifier: MIT */
/* Each allocation fails in turn, once, while a game with losses, retransmissions, fragments, names and cut datagrams is
   observed and accounted for: nothing crashes or leaks, and every bit of what the observer returns is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/bandwidth.h>
#include <uerudp/findings.h>
#include <uerudp/time_ns.h>
#include "tests/support/counting_allocator.h"
#include "tools/sim/sim.h"

#define DATAGRAMS_MAX 512
#define DATAGRAM_BYTES 1100
#define CUT_EACH 5
#define CUT_BYTES_MIN 40

struct game_datagram {
    enum ue_role from;
    int64_t now_ns;
    size_t size_bytes;
    uint8_t bytes[DATAGRAM_BYTES];
};

static struct game_datagram recording[DATAGRAMS_MAX];
static size_t recorded;

static struct {
    struct counting_allocator memory;
    struct ue_observer *observer;
    struct ue_bandwidth *bandwidth;
    struct ue_findings *findings;
    const struct ue_observed_datagram *datagram;
    uint64_t bits; /* of the datagrams that were returned */
} watch;

/* ---- what is observed ---- */

static void record(void *user, const struct sim_datagram *datagram) {
    const struct sim_link_report *report = datagram->report;
    if (report->event == SIM_DATAGRAM_ARRIVED && recorded < DATAGRAMS_MAX && report->size_bytes <= DATAGRAM_BYTES) {
        struct game_datagram *r = &recording[recorded++];
        *r = (struct game_datagram){
            .from = datagram->from, .now_ns = (int64_t)report->now_ns, .size_bytes = report->size_bytes};
        memcpy(r->bytes, report->bytes, report->size_bytes);
    }
}

/* A game has names and classes. Streams have many bunches in a packet. */
struct observed_case {
    const char *scenario;
    const char *release;
};

static void record_case(const struct observed_case *c) {
    struct sim_scenario scenario = *sim_scenario_find(c->scenario);
    struct sim_callbacks callbacks = {.datagram = record};
    struct sim_result result;
    scenario.duration_ns = scenario.game ? 2 * UE_NS_PER_S : UE_NS_PER_S;
    if (!scenario.game) {
        scenario.streams[SIM_SCENARIO_STREAMS_MAX - 1] = (struct sim_stream){
            .from = UE_ROLE_SERVER, .channel = 9, .every_ticks = 2, .burst = 40, .min_bits = 64, .max_bits = 64};
    }
    scenario.sides[0].release = scenario.sides[1].release = c->release;
    recorded = 0;
    sim_run(&scenario, &callbacks, &result);
    assert_true(result.ok);
    assert_true(recorded > 100);
}

/* ---- observation ---- */

static void on_finding(void *user, const struct ue_finding *finding) {}

static const struct ue_findings_callbacks on_findings = {.finding = on_finding};

static void on_event(void *user, const struct ue_observed_event *event) {
    ue_bandwidth_on_event(watch.bandwidth, watch.observer, watch.datagram, event);
    ue_findings_on_event(watch.findings, &watch.datagram->context, event, &on_findings);
}

static void read_returned(void) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .wants_messages = true};
    while ((watch.datagram = ue_observer_next(watch.observer)) != NULL) {
        watch.bits += 8 * watch.datagram->length_bytes;
        ue_observer_track(watch.observer, watch.datagram, &callbacks);
        ue_bandwidth_on_datagram(watch.bandwidth, watch.datagram);
        ue_findings_on_datagram(watch.findings, watch.datagram, &on_findings);
    }
}

static void feed(size_t index) {
    const struct game_datagram *r = &recording[index];
    size_t cut_bytes = CUT_BYTES_MIN + index;
    bool is_cut = index % CUT_EACH == 0 && cut_bytes < r->size_bytes;
    struct ue_captured_datagram captured = {.frame = index + 1,
                                            .time_ns = r->now_ns,
                                            .source = {.bytes = {10, 0, 0, 1}, .port = 50000, .size_bytes = 4},
                                            .destination = {.bytes = {10, 0, 0, 2}, .port = 7777, .size_bytes = 4},
                                            .bytes = r->bytes,
                                            .captured_bytes = is_cut ? cut_bytes : r->size_bytes,
                                            .length_bytes = r->size_bytes,
                                            .is_ours = true};
    if (r->from == UE_ROLE_SERVER) {
        struct ue_address server = captured.destination;
        captured.destination = captured.source;
        captured.source = server;
    }
    struct ue_datagram_record unused;
    ue_observer_feed(watch.observer, &captured, &unused);
    read_returned();
}

/* False: no memory. */
static bool create(size_t failing) {
    static const struct ue_settings stock;
    memset(&watch, 0, sizeof watch);
    counting_allocator_init(&watch.memory, SIZE_MAX);
    watch.memory.failing = failing;
    const struct ue_observer_options options = {
        .allocator = watch.memory.allocator, .order = UE_OBSERVER_IN_CAPTURE_ORDER, .settings = &stock};
    watch.observer = ue_observer_new(&options);
    watch.bandwidth = ue_bandwidth_new(&watch.memory.allocator, INT64_C(100000000));
    watch.findings = ue_findings_new(&watch.memory.allocator);
    return watch.observer != NULL && watch.bandwidth != NULL && watch.findings != NULL;
}

static uint64_t counted_bits(void) {
    const struct ue_bandwidth_counts *counts = &ue_bandwidth_totals(watch.bandwidth)->counts;
    return ue_bandwidth_bits(counts, 0) + ue_bandwidth_bits(counts, 1);
}

/* failing: the number of the allocation; 0: none. Returns whether it was reached. */
static bool run(size_t failing) {
    bool exists = create(failing);
    assert_true(exists || failing != 0);
    for (size_t i = 0; exists && i < recorded; i++) {
        feed(i);
    }
    if (exists) {
        ue_observer_flush(watch.observer);
        read_returned();
        ue_bandwidth_finish(watch.bandwidth);
        ue_findings_finish(watch.findings, ue_observer_end_ns(watch.observer), &on_findings);
        assert_true(counted_bits() == watch.bits);
    }
    ue_findings_free(watch.findings);
    ue_bandwidth_free(watch.bandwidth);
    if (watch.observer != NULL) {
        ue_observer_free(watch.observer);
    }
    if (watch.memory.blocks != 0) {
        fail_msg("%zu blocks leak after the failure of allocation %zu", watch.memory.blocks, failing);
    }
    return failing != 0 && watch.memory.allocations >= failing;
}

static void each_allocation_fails_in_turn(void **state) {
    record_case(*state);
    uint64_t all_bits = 0;
    size_t failing = 1;
    for (size_t i = 0; i < recorded; i++) {
        all_bits += 8 * recording[i].size_bytes;
    }
    run(0);
    assert_true(watch.bits == all_bits);
    for (; run(failing); failing++) {
    }
    assert_true(failing > 100);
}

static struct observed_case cases[] = {
    {"loss-burst", "4.18"}, {"loss-burst", "5.5"}, {"mixed", "4.18"}, {"mixed", "5.5"}};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, &cases[0]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, &cases[1]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, &cases[2]),
        cmocka_unit_test_prestate(each_allocation_fails_in_turn, &cases[3]),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

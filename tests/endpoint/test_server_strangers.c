/* SPDX-License-Identifier: MIT */
/* A server, those who left it, and strangers who mean no good (endpoint.md 16.1, 21.4, 24). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/server_stage.h"
#include "tests/support/rng.h"
#include "tests/support/within.h"

/* ---- those who left ---- */

static void stragglers_of_those_who_left_are_ignored_for_a_time(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.recent_ns = 10 * SECOND_NS;
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    struct ue_host address = stage.players[0].address;
    ue_conn_send(stage.players[0].conn, stage.now_ns, &(struct ue_outgoing){.reliable = true}, NULL);
    ue_conn_flush(stage.players[0].conn, stage.now_ns);
    struct ue_bytes bytes;
    uint8_t packet[1024];
    assert_true(ue_conn_next_datagram(stage.players[0].conn, &bytes));
    size_t packet_bytes = bytes.size_bytes;
    memcpy(packet, bytes.bytes, packet_bytes);
    receive(&address, packet, packet_bytes);
    ue_conn_close(stage.players[0].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
    run(SECOND_NS);
    drop_player(0);
    assert_int_equal(ue_server_count(stage.server), 0);

    receive(&address, packet, packet_bytes);
    take_datagrams();
    assert_int_equal(stage.restart_requests, 0);
    assert_int_equal(ue_server_counters(stage.server)->stragglers, 1);
    connect_player(0); /* whoever comes back is welcome */
    run(SECOND_NS);
    assert_true(has_joined(0));
    ue_conn_close(stage.players[0].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
    run(11 * SECOND_NS);
    drop_player(0);
    receive(&address, packet, packet_bytes);
    take_datagrams();
    assert_int_equal(stage.restart_requests, 1);
    end();
}

static void only_so_many_who_left_are_remembered(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.max_recent = 3;
    begin(&c);
    size_t empty_bytes = ue_pool_used_bytes(stage.pool);
    for (uint32_t i = 0; i < 10; i++) {
        connect_player(i);
        run(SECOND_NS / 2);
        ue_conn_close(stage.players[i].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
        run(SECOND_NS / 2);
        drop_player(i);
    }
    assert_int_equal(ue_pool_used_bytes(stage.pool), empty_bytes);
    for (uint32_t i = 0; i < 10; i++) {
        struct ue_host address = host(i);
        receive(&address, "\xff", 1);
    }
    assert_int_equal(ue_server_counters(stage.server)->stragglers, 3);
    end();
}

static void icmp_errors_end_who_has_not_joined(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.allow_unreachable = true;
    c.login.decides = true;
    begin(&c);
    connect_player(0);
    connect_player(1);
    run(SECOND_NS);
    struct ue_peer *peer = ue_server_find(stage.server, &stage.players[0].address);
    ue_login_welcome(&peer->login, stage.now_ns);
    run(SECOND_NS);
    struct ue_host nobody = host(99);
    ue_server_unreachable(stage.server, stage.now_ns, &stage.players[0].address);
    ue_server_unreachable(stage.server, stage.now_ns, &stage.players[1].address);
    ue_server_unreachable(stage.server, stage.now_ns, &nobody);
    run(SECOND_NS);
    assert_int_equal(ue_server_counters(stage.server)->unreachable, 3);
    assert_int_equal(ue_server_count(stage.server), 1);
    assert_true(has_joined(0));
    end();
}

/* ---- strangers ---- */

/* Random bytes, true Initials, ordinary packets and copies of a true Response, each from an address of its own. */
static void floods_cost_no_memory(void **state) {
    (void)state;
    static const char *const releases[] = {"4.20", "4.26", "5.4", "5.8"};
    struct rng rng = rng_seeded("server flood");
    uint64_t count = rng_rounds(20000);
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = config(releases[r]);
        c.max_replies = 3;
        begin(&c);
        connect_player(0);
        struct ue_bytes bytes;
        assert_true(ue_conn_next_datagram(stage.players[0].conn, &bytes));
        uint8_t initial[UE_HANDSHAKE_DATAGRAM_BYTES];
        size_t initial_bytes = bytes.size_bytes;
        memcpy(initial, bytes.bytes, initial_bytes);
        size_t used_bytes = ue_pool_used_bytes(stage.pool);
        size_t peak_bytes = ue_pool_peak_bytes(stage.pool);
        for (uint64_t i = 0; i < count; i++) {
            uint8_t noise[200];
            struct ue_host from = host((uint32_t)(1000 + i));
            size_t noise_bytes = rng_below(&rng, sizeof noise);
            rng_fill(&rng, noise, noise_bytes);
            if (rng_chance(&rng, 50)) {
                memcpy(noise, initial, initial_bytes);
                noise_bytes = initial_bytes;
                noise[rng_below(&rng, 4)] ^= (uint8_t)rng_below(&rng, 2); /* may be of some other kind now */
            }
            receive(&from, noise, noise_bytes);
        }
        assert_int_equal(ue_pool_used_bytes(stage.pool), used_bytes);
        assert_int_equal(ue_pool_peak_bytes(stage.pool), peak_bytes);
        assert_int_equal(ue_server_count(stage.server), 0);
        assert_true(is_within(ue_server_counters(stage.server)->replies_lost, count / 100, count));
        assert_int_equal(ue_server_counters(stage.server)->unknown + ue_server_counters(stage.server)->empty, count);
        take_datagrams();
        assert_int_equal(stage.restart_requests, 3); /* replies to strangers, all that there was room for */
        receive(&stage.players[0].address, initial, initial_bytes);
        take_datagrams();
        run(3 * SECOND_NS);
        assert_true(has_joined(0));
        end();
    }
}

/* The third unknown packet of a second reaches the quota, and then none passes; those inside notice nothing. */
static void the_flood_gate_closes_for_strangers_only(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.ddos.severity_count = 2;
    c.ddos.severities[0] = (struct ue_ddos_severity){3, -1, -1, -1, -1, -1, -1, 0};
    c.ddos.severities[1] = (struct ue_ddos_severity){-1, -1, -1, -1, 0, -1, -1, 5};
    begin(&c);
    connect_player(0);
    run(2 * SECOND_NS);
    assert_true(has_joined(0));
    for (uint32_t i = 0; i < 10; i++) {
        struct ue_host from = host(1000 + i);
        receive(&from, "\xff\xff", 2);
    }
    assert_int_equal(ue_server_ddos(stage.server)->state, 1);
    assert_int_equal(ue_server_counters(stage.server)->dropped, 8);
    connect_player(1);
    run(4 * SECOND_NS);
    assert_int_equal(ue_conn_state(stage.players[1].conn), UE_CONN_HANDSHAKE);
    assert_int_equal(ue_conn_state(stage.players[0].conn), UE_CONN_PENDING);
    uint64_t in_packets = ue_server_peer(stage.server, 0)->conn->counters.in_packets;
    run(3 * SECOND_NS);
    assert_true(ue_server_peer(stage.server, 0)->conn->counters.in_packets > in_packets);
    assert_true(has_joined(1));
    assert_int_equal(ue_server_ddos(stage.server)->state, 0);
    end();
}

/* A frame ends with ue_server_end_receive: one packet of a stranger each, and connections wait once 5 ms are over. */
static void the_gate_counts_by_the_frame(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.ddos.severity_count = 1;
    c.ddos.severities[0] = (struct ue_ddos_severity){-1, -1, -1, -1, 1, -1, 5, 0};
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    const struct ue_server_counters *counters = ue_server_counters(stage.server);
    struct ue_host stranger = host(9);
    for (uint64_t frames = 1; frames <= 3; frames++) {
        receive(&stranger, "\xff", 1);
        assert_int_equal(counters->dropped, frames - 1);
        receive(&stranger, "\xff", 1);
        assert_int_equal(counters->dropped, frames);
        ue_server_end_receive(stage.server, stage.now_ns);
    }
    receive(&stranger, "\xff", 1);
    stage.now_ns += SECOND_NS / 200;
    uint64_t handed_in = ue_server_peer(stage.server, 0)->conn->counters.in_packets;
    receive(&stage.players[0].address, "\xff\xff", 2);
    assert_int_equal(counters->dropped, 4);
    assert_int_equal(ue_server_peer(stage.server, 0)->conn->counters.in_packets, handed_in);
    end();
}

static void empty_datagrams_are_bad_packets(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.ddos.severity_count = 2;
    c.ddos.severities[0] = (struct ue_ddos_severity){-1, -1, 2, -1, -1, -1, -1, 0};
    c.ddos.severities[1] = (struct ue_ddos_severity){-1, -1, -1, -1, -1, -1, -1, 0};
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    receive(&stage.players[0].address, "", 0);
    struct ue_host nobody = host(9);
    receive(&nobody, "", 0);
    assert_int_equal(ue_server_counters(stage.server)->empty, 2);
    assert_int_equal(ue_server_ddos(stage.server)->state, 0);
    ue_server_end_receive(stage.server, stage.now_ns);
    assert_int_equal(ue_server_ddos(stage.server)->state, 1);
    assert_true(has_joined(0));
    end();
}

/* ---- restart requests ---- */

static struct ue_host port_of(uint32_t machine, uint32_t port) {
    struct ue_host address = {0};
    address.machine_bytes =
        (uint8_t)snprintf(address.text, sizeof address.text, "10.9.%u.%u", machine >> 8, machine & 255);
    address.size_bytes =
        (uint8_t)(address.machine_bytes + snprintf(address.text + address.machine_bytes,
                                                   sizeof address.text - address.machine_bytes, ":%u", port));
    return address;
}

/* One byte from each of so many machines and ports per tick; returns how many requests leave. */
static uint32_t draw_requests(uint64_t duration_ns, uint32_t machines, uint32_t packets_per_tick) {
    uint32_t before = stage.restart_requests;
    uint32_t count = 0;
    for (uint64_t until_ns = stage.now_ns + duration_ns; stage.now_ns < until_ns;) {
        for (uint32_t i = 0; i < packets_per_tick; i++, count++) {
            struct ue_host from = port_of(count % machines, 1024 + count % 60000);
            receive(&from, "\x80", 1);
        }
        run(TICK_NS);
    }
    return stage.restart_requests - before;
}

static struct ue_server_config limited(void) {
    struct ue_server_config c = config("5.5");
    c.restart_requests_per_second = 64;
    c.restart_requests_per_machine = 4;
    return c;
}

/* A second's worth at once, then the rate. */
static void restart_requests_are_limited_in_all_and_to_each_machine(void **state) {
    (void)state;
    struct ue_server_config c = limited();
    begin(&c);
    assert_true(is_within(draw_requests(10 * SECOND_NS, 1, 50), 4 * 10, 4 * 11));
    assert_true(is_within(draw_requests(10 * SECOND_NS, 5000, 100), 60 * 10, 64 * 11));
    const struct ue_listener_counters *counters = ue_server_listener_counters(stage.server);
    assert_int_equal(counters->restart_requests, stage.restart_requests);
    assert_int_equal(counters->restart_requests + counters->restart_requests_withheld,
                     ue_server_counters(stage.server)->unknown);
    end();
}

static void without_limits_each_packet_draws_a_request_as_in_the_engine(void **state) {
    (void)state;
    struct ue_server_config c = config("5.5");
    begin(&c);
    draw_requests(SECOND_NS, 1, 50);
    assert_int_equal(stage.restart_requests, ue_server_counters(stage.server)->unknown);
    end();
}

/* A client believes a restart request from 10 s after its handshake on. */
static void move_player_while(uint32_t flood_packets_per_tick) {
    struct ue_server_config c = limited();
    begin(&c);
    connect_player(0);
    run(11 * SECOND_NS);
    assert_true(has_joined(0));
    draw_requests(2 * SECOND_NS, 5000, flood_packets_per_tick);
    stage.players[0].address = host(77);
    draw_requests(4 * SECOND_NS, 5000, flood_packets_per_tick);
    assert_int_equal(ue_server_counters(stage.server)->rebound, 1);
    assert_int_equal(ue_server_count(stage.server), 1);
    assert_true(has_joined(0));
    end();
}

static void who_moved_gets_his_restart_request(void **state) {
    (void)state;
    move_player_while(0);
}

/* 600 packets a second from elsewhere, where 64 requests may leave. */
static void who_moved_gets_his_restart_request_in_a_flood(void **state) {
    (void)state;
    move_player_while(20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restart_requests_are_limited_in_all_and_to_each_machine),
        cmocka_unit_test(without_limits_each_packet_draws_a_request_as_in_the_engine),
        cmocka_unit_test(who_moved_gets_his_restart_request),
        cmocka_unit_test(who_moved_gets_his_restart_request_in_a_flood),
        cmocka_unit_test(stragglers_of_those_who_left_are_ignored_for_a_time),
        cmocka_unit_test(only_so_many_who_left_are_remembered),
        cmocka_unit_test(icmp_errors_end_who_has_not_joined),
        cmocka_unit_test(floods_cost_no_memory),
        cmocka_unit_test(the_flood_gate_closes_for_strangers_only),
        cmocka_unit_test(the_gate_counts_by_the_frame),
        cmocka_unit_test(empty_datagrams_are_bad_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

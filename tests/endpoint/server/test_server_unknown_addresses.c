/* SPDX-License-Identifier: MIT */
/* A server and datagrams from addresses without a connection: recently closed ones, floods, and restart requests
   (endpoint.md 7, 5, 32 to 35). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/server/server_fixture.h"
#include "tests/support/rng.h"
#include "tests/support/within.h"

/* ---- recently closed connections ---- */

static void packets_from_recently_closed_addresses_are_ignored(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.recent_ns = 10 * SECOND_NS;
    server_fixture_init(&c);
    player_connect(0);
    server_run(SECOND_NS);
    struct ue_host address = server_fixture.players[0].address;
    ue_conn_send(server_fixture.players[0].conn, server_fixture.now_ns, &(struct ue_outgoing){.reliable = true}, NULL);
    ue_conn_flush(server_fixture.players[0].conn, server_fixture.now_ns);
    struct ue_bytes bytes;
    uint8_t packet[1024];
    assert_true(ue_conn_next_datagram(server_fixture.players[0].conn, &bytes));
    size_t packet_bytes = bytes.size_bytes;
    memcpy(packet, bytes.bytes, packet_bytes);
    server_receive(&address, packet, packet_bytes);
    ue_conn_close(server_fixture.players[0].conn, server_fixture.now_ns, UE_CLOSE_DISCONNECT);
    server_run(SECOND_NS);
    player_free(0);
    assert_int_equal(ue_server_count(server_fixture.server), 0);

    server_receive(&address, packet, packet_bytes);
    server_deliver_datagrams();
    assert_int_equal(server_fixture.restart_requests, 0);
    assert_int_equal(ue_server_counters(server_fixture.server)->stragglers, 1);
    player_connect(0); /* the client may connect again */
    server_run(SECOND_NS);
    assert_true(player_has_joined(0));
    ue_conn_close(server_fixture.players[0].conn, server_fixture.now_ns, UE_CLOSE_DISCONNECT);
    server_run(11 * SECOND_NS);
    player_free(0);
    server_receive(&address, packet, packet_bytes);
    server_deliver_datagrams();
    assert_int_equal(server_fixture.restart_requests, 1);
    server_fixture_free();
}

static void recently_closed_addresses_are_limited_in_number(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.max_recent = 3;
    server_fixture_init(&c);
    size_t empty_bytes = server_fixture.memory.used_bytes;
    for (uint32_t i = 0; i < 10; i++) {
        player_connect(i);
        server_run(SECOND_NS / 2);
        ue_conn_close(server_fixture.players[i].conn, server_fixture.now_ns, UE_CLOSE_DISCONNECT);
        server_run(SECOND_NS / 2);
        player_free(i);
    }
    assert_int_equal(server_fixture.memory.used_bytes, empty_bytes);
    for (uint32_t i = 0; i < 10; i++) {
        struct ue_host address = server_host(i);
        server_receive(&address, "\xff", 1);
    }
    assert_int_equal(ue_server_counters(server_fixture.server)->stragglers, 3);
    server_fixture_free();
}

static void icmp_errors_close_connections_that_have_not_joined(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.allow_unreachable = true;
    c.login.decides = true;
    server_fixture_init(&c);
    player_connect(0);
    player_connect(1);
    server_run(SECOND_NS);
    struct ue_peer *peer = ue_server_find(server_fixture.server, &server_fixture.players[0].address);
    ue_login_welcome(peer->login, server_fixture.now_ns);
    server_run(SECOND_NS);
    struct ue_host unknown_address = server_host(99);
    ue_server_unreachable(server_fixture.server, server_fixture.now_ns, &server_fixture.players[0].address);
    ue_server_unreachable(server_fixture.server, server_fixture.now_ns, &server_fixture.players[1].address);
    ue_server_unreachable(server_fixture.server, server_fixture.now_ns, &unknown_address);
    server_run(SECOND_NS);
    assert_int_equal(ue_server_counters(server_fixture.server)->unreachable, 3);
    assert_int_equal(ue_server_count(server_fixture.server), 1);
    assert_true(player_has_joined(0));
    server_fixture_free();
}

/* ---- floods ---- */

/* Random bytes, valid and changed Initials, each from an address of its own. */
static void floods_from_unknown_addresses_use_no_memory(void **state) {
    static const char *const releases[] = {"4.20", "4.26", "5.4", "5.8"};
    struct rng rng = rng_seeded("server flood");
    uint64_t count = rng_rounds(20000);
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = server_config(releases[r]);
        c.max_replies = 3;
        server_fixture_init(&c);
        player_connect(0);
        struct ue_bytes bytes;
        assert_true(ue_conn_next_datagram(server_fixture.players[0].conn, &bytes));
        uint8_t initial[UE_HANDSHAKE_DATAGRAM_BYTES];
        size_t initial_bytes = bytes.size_bytes;
        memcpy(initial, bytes.bytes, initial_bytes);
        size_t used_bytes = server_fixture.memory.used_bytes;
        size_t peak_bytes = server_fixture.memory.peak_bytes;
        for (uint64_t i = 0; i < count; i++) {
            uint8_t noise[200];
            struct ue_host from = server_host((uint32_t)(1000 + i));
            size_t noise_bytes = rng_below(&rng, sizeof noise);
            rng_fill(&rng, noise, noise_bytes);
            if (rng_chance(&rng, 50)) {
                memcpy(noise, initial, initial_bytes);
                noise_bytes = initial_bytes;
                noise[rng_below(&rng, 4)] ^= (uint8_t)rng_below(&rng, 2); /* may be another message type now */
            }
            server_receive(&from, noise, noise_bytes);
        }
        assert_int_equal(server_fixture.memory.used_bytes, used_bytes);
        assert_int_equal(server_fixture.memory.peak_bytes, peak_bytes);
        assert_int_equal(ue_server_count(server_fixture.server), 0);
        assert_true(is_within(ue_server_counters(server_fixture.server)->replies_lost, count / 100, count));
        assert_int_equal(ue_server_counters(server_fixture.server)->unknown +
                             ue_server_counters(server_fixture.server)->empty,
                         count);
        server_deliver_datagrams();
        assert_int_equal(server_fixture.restart_requests, 3); /* replies to unknown addresses, up to max_replies */
        server_receive(&server_fixture.players[0].address, initial, initial_bytes);
        server_deliver_datagrams();
        server_run(3 * SECOND_NS);
        assert_true(player_has_joined(0));
        server_fixture_free();
    }
}

/* The third packet of a second from an unknown address reaches the quota, and then none is allowed; connected clients
   are not affected. */
static void ddos_limits_apply_to_unknown_addresses_only(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.ddos.severity_count = 2;
    c.ddos.severities[0] = (struct ue_ddos_severity){3, -1, -1, -1, -1, -1, -1, 0};
    c.ddos.severities[1] = (struct ue_ddos_severity){-1, -1, -1, -1, 0, -1, -1, 5};
    server_fixture_init(&c);
    player_connect(0);
    server_run(2 * SECOND_NS);
    assert_true(player_has_joined(0));
    for (uint32_t i = 0; i < 10; i++) {
        struct ue_host from = server_host(1000 + i);
        server_receive(&from, "\xff\xff", 2);
    }
    assert_int_equal(ue_server_ddos_severity(server_fixture.server), 1);
    assert_int_equal(ue_server_counters(server_fixture.server)->dropped, 8);
    player_connect(1);
    server_run(4 * SECOND_NS);
    assert_int_equal(ue_conn_state(server_fixture.players[1].conn), UE_CONN_HANDSHAKE);
    assert_int_equal(ue_conn_state(server_fixture.players[0].conn), UE_CONN_PENDING);
    uint64_t in_packets = ue_server_peer(server_fixture.server, 0)->conn->common.statistics.counters.in_packets;
    server_run(3 * SECOND_NS);
    assert_true(ue_server_peer(server_fixture.server, 0)->conn->common.statistics.counters.in_packets > in_packets);
    assert_true(player_has_joined(1));
    assert_int_equal(ue_server_ddos_severity(server_fixture.server), 0);
    server_fixture_free();
}

/* ue_server_end_receive ends a frame. Each frame allows one packet of an unknown address, and connections wait after 5
   ms. */
static void ddos_limits_count_per_frame(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.ddos.severity_count = 1;
    c.ddos.severities[0] = (struct ue_ddos_severity){-1, -1, -1, -1, 1, -1, 5, 0};
    server_fixture_init(&c);
    player_connect(0);
    server_run(SECOND_NS);
    const struct ue_server_counters *counters = ue_server_counters(server_fixture.server);
    struct ue_host unknown_address = server_host(9);
    for (uint64_t frames = 1; frames <= 3; frames++) {
        server_receive(&unknown_address, "\xff", 1);
        assert_int_equal(counters->dropped, frames - 1);
        server_receive(&unknown_address, "\xff", 1);
        assert_int_equal(counters->dropped, frames);
        ue_server_end_receive(server_fixture.server, server_fixture.now_ns);
    }
    server_receive(&unknown_address, "\xff", 1);
    server_fixture.now_ns += SECOND_NS / 200;
    uint64_t received = ue_server_peer(server_fixture.server, 0)->conn->common.statistics.counters.in_packets;
    server_receive(&server_fixture.players[0].address, "\xff\xff", 2);
    assert_int_equal(counters->dropped, 4);
    assert_int_equal(ue_server_peer(server_fixture.server, 0)->conn->common.statistics.counters.in_packets, received);
    server_fixture_free();
}

static void empty_datagrams_are_bad_packets(void **state) {
    struct ue_server_config c = server_config("5.4");
    c.ddos.severity_count = 2;
    c.ddos.severities[0] = (struct ue_ddos_severity){-1, -1, 2, -1, -1, -1, -1, 0};
    c.ddos.severities[1] = (struct ue_ddos_severity){-1, -1, -1, -1, -1, -1, -1, 0};
    server_fixture_init(&c);
    player_connect(0);
    server_run(SECOND_NS);
    server_receive(&server_fixture.players[0].address, "", 0);
    struct ue_host unknown_address = server_host(9);
    server_receive(&unknown_address, "", 0);
    assert_int_equal(ue_server_counters(server_fixture.server)->empty, 2);
    assert_int_equal(ue_server_ddos_severity(server_fixture.server), 0);
    ue_server_end_receive(server_fixture.server, server_fixture.now_ns);
    assert_int_equal(ue_server_ddos_severity(server_fixture.server), 1);
    assert_true(player_has_joined(0));
    server_fixture_free();
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

/* Sends one byte from each of these machines in turn; returns the number of restart requests. */
static uint32_t flood_and_count_requests(uint64_t duration_ns, uint32_t machines, uint32_t packets_per_tick) {
    uint32_t before = server_fixture.restart_requests;
    uint32_t count = 0;
    for (uint64_t until_ns = server_fixture.now_ns + duration_ns; server_fixture.now_ns < until_ns;) {
        for (uint32_t i = 0; i < packets_per_tick; i++, count++) {
            struct ue_host from = port_of(count % machines, 1024 + count % 60000);
            server_receive(&from, "\x80", 1);
        }
        server_run(TICK_NS);
    }
    return server_fixture.restart_requests - before;
}

static struct ue_server_config limited_config(void) {
    struct ue_server_config c = server_config("5.5");
    c.restart_requests_per_second = 64;
    c.restart_requests_per_machine = 4;
    return c;
}

/* The requests of one second may be sent at once, then the rate applies. */
static void restart_requests_are_limited_in_total_and_per_machine(void **state) {
    struct ue_server_config c = limited_config();
    server_fixture_init(&c);
    assert_true(is_within(flood_and_count_requests(10 * SECOND_NS, 1, 50), 4 * 10, 4 * 11));
    assert_true(is_within(flood_and_count_requests(10 * SECOND_NS, 5000, 100), 60 * 10, 64 * 11));
    const struct ue_listener_counters *counters = ue_server_listener_counters(server_fixture.server);
    assert_int_equal(counters->restart_requests, server_fixture.restart_requests);
    assert_int_equal(counters->restart_requests + counters->restart_requests_withheld,
                     ue_server_counters(server_fixture.server)->unknown);
    server_fixture_free();
}

static void without_limits_each_packet_gets_a_restart_request(void **state) {
    struct ue_server_config c = server_config("5.5");
    server_fixture_init(&c);
    flood_and_count_requests(SECOND_NS, 1, 50);
    assert_int_equal(server_fixture.restart_requests, ue_server_counters(server_fixture.server)->unknown);
    server_fixture_free();
}

/* Clients accept restart requests from 10 s after their handshake on. */
static void move_player_during_a_flood(uint32_t flood_packets_per_tick) {
    struct ue_server_config c = limited_config();
    server_fixture_init(&c);
    player_connect(0);
    server_run(11 * SECOND_NS);
    assert_true(player_has_joined(0));
    flood_and_count_requests(2 * SECOND_NS, 5000, flood_packets_per_tick);
    server_fixture.players[0].address = server_host(77);
    flood_and_count_requests(4 * SECOND_NS, 5000, flood_packets_per_tick);
    assert_int_equal(ue_server_counters(server_fixture.server)->rebound, 1);
    assert_int_equal(ue_server_count(server_fixture.server), 1);
    assert_true(player_has_joined(0));
    server_fixture_free();
}

static void a_moved_client_gets_a_restart_request(void **state) {
    move_player_during_a_flood(0);
}

/* 600 packets per second from other addresses, with a limit of 64 requests per second. */
static void a_moved_client_gets_a_restart_request_during_a_flood(void **state) {
    move_player_during_a_flood(20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restart_requests_are_limited_in_total_and_per_machine),
        cmocka_unit_test(without_limits_each_packet_gets_a_restart_request),
        cmocka_unit_test(a_moved_client_gets_a_restart_request),
        cmocka_unit_test(a_moved_client_gets_a_restart_request_during_a_flood),
        cmocka_unit_test(packets_from_recently_closed_addresses_are_ignored),
        cmocka_unit_test(recently_closed_addresses_are_limited_in_number),
        cmocka_unit_test(icmp_errors_close_connections_that_have_not_joined),
        cmocka_unit_test(floods_from_unknown_addresses_use_no_memory),
        cmocka_unit_test(ddos_limits_apply_to_unknown_addresses_only),
        cmocka_unit_test(ddos_limits_count_per_frame),
        cmocka_unit_test(empty_datagrams_are_bad_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

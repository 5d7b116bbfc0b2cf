/* SPDX-License-Identifier: MIT */
/* A server and its clients, and strangers who mean no good (spec 6.4.1, 6.13, 6.14, T46). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/rng.h"
#include "tools/endpoint/connection.h"
#include "tools/endpoint/server.h"

#define TICK_NS UINT64_C(33333333)
#define SECOND_NS UINT64_C(1000000000)
#define POOL_BYTES ((size_t)64 << 20)
#define PLAYERS_MAX 128

struct player {
    struct ue_conn *conn; /* NULL: none */
    struct ue_login login;
    struct ue_host address;
};

static struct stage {
    uint8_t *region;
    struct ue_pool *pool;
    struct ue_server *server;
    struct ue_server_config config;
    struct player players[PLAYERS_MAX];
    uint64_t now_ns;
    uint32_t restart_requests; /* datagrams for addresses where nobody is */
    uint32_t joined;           /* events */
    uint32_t ended;
} stage;

static struct ue_host host(uint32_t number) {
    struct ue_host address = {0};
    address.size_bytes = (uint8_t)snprintf(address.text, sizeof address.text, "10.%u.%u.%u:7777", number >> 16,
                                           number >> 8 & 255, number & 255);
    return address;
}

static struct ue_server_config config(const char *release) {
    static const uint8_t seed[UE_SEED_BYTES] = {7};
    return (struct ue_server_config){
        .conn = {.profile = ue_profile_find(release), .seed = seed, .network_version = 42},
        .login = {.map = "/Game/Arena"},
    };
}

static void begin(const struct ue_server_config *configured) {
    memset(&stage, 0, sizeof stage);
    stage.now_ns = 100 * SECOND_NS;
    stage.region = malloc(POOL_BYTES);
    stage.pool = ue_pool_init(stage.region, POOL_BYTES);
    stage.config = *configured;
    stage.server = ue_server_new(stage.pool, configured, stage.now_ns);
    assert_non_null(stage.server);
}

static void end(void) {
    for (size_t i = 0; i < PLAYERS_MAX; i++) {
        ue_conn_free(stage.players[i].conn);
    }
    ue_server_free(stage.server);
    assert_int_equal(ue_pool_used_bytes(stage.pool), 0);
    free(stage.region);
}

static void connect_player(uint32_t number) {
    static const struct ue_login_config login = {.player = "p"};
    uint8_t seed[UE_SEED_BYTES] = {0};
    memcpy(seed, &number, sizeof number);
    struct player *p = &stage.players[number];
    struct ue_conn_config client = stage.config.conn;
    client.role = UE_ROLE_CLIENT;
    client.seed = seed;
    p->conn = ue_conn_new(stage.pool, &client);
    assert_non_null(p->conn);
    assert_int_equal(ue_login_init(&p->login, p->conn, &login), UE_OK);
    p->address = host(number);
    ue_conn_connect(p->conn, stage.now_ns);
}

static void drop_player(uint32_t number) {
    ue_conn_free(stage.players[number].conn);
    stage.players[number].conn = NULL;
}

static struct player *player_at(const struct ue_host *address) {
    for (size_t i = 0; i < PLAYERS_MAX; i++) {
        struct player *p = &stage.players[i];
        if (p->conn != NULL && p->address.size_bytes == address->size_bytes &&
            memcmp(p->address.text, address->text, address->size_bytes) == 0) {
            return p;
        }
    }
    return NULL;
}

static void take_datagrams(void) {
    struct ue_host to;
    struct ue_bytes bytes;
    while (ue_server_next_datagram(stage.server, &to, &bytes)) {
        struct player *p = player_at(&to);
        if (p != NULL) {
            ue_conn_receive(p->conn, stage.now_ns, bytes.bytes, bytes.size_bytes);
        } else {
            stage.restart_requests++;
        }
    }
}

static void take_events(void) {
    struct ue_peer *peer;
    struct ue_event event;
    while (ue_server_next_event(stage.server, &peer, &event)) {
        if (event.type == UE_EVENT_STATE) {
            stage.joined += event.state == UE_CONN_OPEN;
            stage.ended += event.state == UE_CONN_CLOSED;
            assert_ptr_equal(ue_server_peer(stage.server, peer->index), peer);
        }
    }
}

static void tick_player(struct player *p) {
    struct ue_bytes bytes;
    struct ue_event event;
    ue_conn_end_receive(p->conn, stage.now_ns);
    ue_login_tick(&p->login, stage.now_ns);
    ue_conn_tick(p->conn, stage.now_ns);
    while (ue_conn_next_datagram(p->conn, &bytes)) {
        ue_server_receive(stage.server, stage.now_ns, &p->address, bytes.bytes, bytes.size_bytes);
    }
    while (ue_conn_next_event(p->conn, &event)) {
    }
}

static void run(uint64_t duration_ns) {
    for (uint64_t until_ns = stage.now_ns + duration_ns; stage.now_ns < until_ns; stage.now_ns += TICK_NS) {
        for (size_t i = 0; i < PLAYERS_MAX; i++) {
            if (stage.players[i].conn != NULL) {
                tick_player(&stage.players[i]);
            }
        }
        ue_server_end_receive(stage.server, stage.now_ns);
        ue_server_tick(stage.server, stage.now_ns);
        take_events();
        take_datagrams();
    }
}

static void receive(const struct ue_host *from, const void *bytes, size_t size_bytes) {
    ue_server_receive(stage.server, stage.now_ns, from, bytes, size_bytes);
}

static bool has_joined(uint32_t number) {
    const struct ue_peer *peer = ue_server_find(stage.server, &stage.players[number].address);
    return peer != NULL && peer->login.state == UE_LOGIN_DONE;
}

/* ---- clients ---- */

static void many_clients_join_and_leave(void **state) {
    (void)state;
    static const char *const releases[] = {"4.22", "4.26", "5.1", "5.4", "5.8"};
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = config(releases[r]);
        begin(&c);
        for (uint32_t i = 0; i < 100; i++) {
            connect_player(i);
        }
        run(SECOND_NS);
        assert_int_equal(ue_server_count(stage.server), 100);
        assert_int_equal(stage.joined, 100);
        for (uint32_t i = 0; i < 100; i++) {
            assert_true(has_joined(i));
        }
        for (uint32_t i = 0; i < 100; i += 2) {
            ue_conn_close(stage.players[i].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
        }
        run(SECOND_NS);
        assert_int_equal(ue_server_count(stage.server), 50);
        assert_int_equal(stage.ended, 50);
        assert_int_equal(ue_server_counters(stage.server)->buried, 50);
        assert_true(ue_server_counters(stage.server)->ended.in_packets >= 50 * 5);
        for (uint32_t i = 0; i < 100; i++) {
            assert_int_equal(has_joined(i), i % 2);
        }
        end();
    }
}

static void connections_never_share_random_numbers(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    connect_player(1);
    run(SECOND_NS / 10);
    const struct ue_random *a = &ue_server_peer(stage.server, 0)->conn->random;
    const struct ue_random *b = &ue_server_peer(stage.server, 1)->conn->random;
    assert_memory_not_equal(a->seed, b->seed, UE_SEED_BYTES);
    assert_memory_not_equal(a->seed, c.conn.seed, UE_SEED_BYTES);
    assert_memory_not_equal(b->seed, c.conn.seed, UE_SEED_BYTES);
    end();
}

static void a_full_server_says_nothing_until_somebody_leaves(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    c.max_connections = 2;
    begin(&c);
    connect_player(0);
    connect_player(1);
    run(SECOND_NS);
    connect_player(2);
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 2);
    assert_true(ue_server_counters(stage.server)->refused_full >= 2); /* once a second */
    assert_int_equal(ue_conn_state(stage.players[2].conn), UE_CONN_SHAKING);
    ue_conn_close(stage.players[0].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
    run(3 * SECOND_NS);
    assert_true(has_joined(2));
    assert_false(has_joined(0));
    end();
}

static void a_peer_lives_until_its_last_event_was_taken(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    struct ue_peer *peer = ue_server_peer(stage.server, 0);
    peer->user = &c;
    ue_conn_close(peer->conn, stage.now_ns, UE_CLOSE_HOST_CLOSED);
    for (int i = 0; i < 5; i++) {
        ue_server_tick(stage.server, stage.now_ns += TICK_NS);
        take_datagrams();
    }
    struct ue_peer *of_event = NULL;
    struct ue_event event = {0};
    assert_int_equal(ue_server_count(stage.server), 1);
    while (ue_server_next_event(stage.server, &of_event, &event)) {
    }
    assert_int_equal(event.state, UE_CONN_CLOSED);
    assert_ptr_equal(of_event->user, &c);
    ue_server_tick(stage.server, stage.now_ns);
    assert_int_equal(ue_server_count(stage.server), 0);
    end();
}

/* ---- clients that move ---- */

static uint32_t send_reliable(struct ue_conn *conn, const char *text) {
    uint32_t channel = 1;
    if (ue_conn_channel(conn, channel) == NULL) {
        assert_int_equal(ue_conn_open(conn, UE_KIND_VOICE, channel, &channel), UE_OK);
    }
    struct ue_outgoing bunch = {.channel = channel, .reliable = true, .data = {(const uint8_t *)text, 0, 8}};
    assert_int_equal(ue_conn_send(conn, stage.now_ns, &bunch, NULL), UE_OK);
    return channel;
}

/* T46: the same connection goes on, with the reliable bunch that was sent on the way. */
static void a_moved_client_is_found_by_its_cookie(void **state) {
    (void)state;
    static const char *const releases[] = {"4.22", "4.26", "5.1", "5.4", "5.8"};
    for (size_t r = 0; r < sizeof releases / sizeof *releases; r++) {
        struct ue_server_config c = config(releases[r]);
        begin(&c);
        connect_player(0);
        run(11 * SECOND_NS); /* sooner than 10 s after a handshake, clients refuse to restart */
        struct ue_peer *peer = ue_server_peer(stage.server, 0);
        int64_t id = peer->conn->in_packet_id;
        stage.players[0].address = host(500);
        send_reliable(stage.players[0].conn, "R");
        run(3 * SECOND_NS);
        assert_int_equal(ue_server_counters(stage.server)->rebound, 1);
        assert_int_equal(ue_server_counters(stage.server)->accepted, 1);
        assert_ptr_equal(ue_server_peer(stage.server, 0), peer);
        assert_int_equal(ue_server_count(stage.server), 1);
        assert_ptr_equal(ue_server_find(stage.server, &stage.players[0].address), peer);
        struct ue_host old = host(0);
        assert_null(ue_server_find(stage.server, &old));
        assert_true(peer->conn->in_packet_id > id);
        assert_int_equal(ue_conn_unacked(stage.players[0].conn, 1), 0);
        assert_true(peer->conn->counters.in_packets_lost > 0);
        end();
    }
}

static void who_moves_again_and_again_stays_one_connection(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    for (uint32_t move = 1; move <= 5; move++) {
        run(12 * SECOND_NS);
        stage.players[0].address = host(1000 + move % 2);
    }
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_counters(stage.server)->rebound, 5);
    assert_int_equal(ue_server_count(stage.server), 1);
    assert_true(has_joined(0));
    end();
}

static void a_restart_of_an_ended_connection_is_refused(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    run(11 * SECOND_NS);
    ue_conn_close(ue_server_peer(stage.server, 0)->conn, stage.now_ns, UE_CLOSE_HOST_CLOSED);
    struct ue_host to;
    struct ue_bytes bytes;
    while (ue_server_next_datagram(stage.server, &to, &bytes)) { /* lost on the way */
    }
    stage.players[0].address = host(500);
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 0);
    assert_true(ue_server_counters(stage.server)->refused_restart >= 1);
    end();
}

/* The network holds a copy of the Response back until its sender has moved. */
static void a_late_response_makes_no_second_connection(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    uint8_t copy[UE_SHAKE_BYTES];
    size_t copy_bytes = 0;
    struct ue_bytes bytes;
    for (int i = 0; i < 2; i++) { /* Initial, then Response */
        assert_true(ue_conn_next_datagram(stage.players[0].conn, &bytes));
        copy_bytes = bytes.size_bytes;
        memcpy(copy, bytes.bytes, copy_bytes);
        receive(&stage.players[0].address, copy, copy_bytes);
        take_datagrams();
    }
    assert_int_equal(ue_server_count(stage.server), 1);
    struct ue_host old = stage.players[0].address;
    run(11 * SECOND_NS);
    stage.players[0].address = host(500);
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_counters(stage.server)->rebound, 1);
    receive(&old, copy, copy_bytes);
    assert_int_equal(ue_server_count(stage.server), 1);
    assert_int_equal(ue_server_listener_counters(stage.server)->accepted, 3); /* valid it was */
    end();
}

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
        begin(&c);
        connect_player(0);
        struct ue_bytes bytes;
        assert_true(ue_conn_next_datagram(stage.players[0].conn, &bytes));
        uint8_t initial[UE_SHAKE_BYTES];
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
        assert_true(ue_server_counters(stage.server)->replies_lost > count / 100);
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
    assert_int_equal(ue_conn_state(stage.players[1].conn), UE_CONN_SHAKING);
    assert_int_equal(ue_conn_state(stage.players[0].conn), UE_CONN_PENDING);
    uint64_t in_packets = ue_server_peer(stage.server, 0)->conn->counters.in_packets;
    run(3 * SECOND_NS);
    assert_true(ue_server_peer(stage.server, 0)->conn->counters.in_packets > in_packets);
    assert_true(has_joined(1));
    assert_int_equal(ue_server_ddos(stage.server)->state, 0);
    end();
}

static void empty_datagrams_are_bad_packets(void **state) {
    (void)state;
    struct ue_server_config c = config("5.4");
    begin(&c);
    connect_player(0);
    run(SECOND_NS);
    receive(&stage.players[0].address, "", 0);
    struct ue_host nobody = host(9);
    receive(&nobody, "", 0);
    assert_int_equal(ue_server_counters(stage.server)->empty, 2);
    assert_int_equal(ue_server_ddos(stage.server)->second.bad, 2);
    assert_true(has_joined(0));
    end();
}

static void what_cannot_work_is_no_server(void **state) {
    (void)state;
    static uint8_t small[UE_POOL_BYTES_MIN + 4096], large[4 << 20];
    static char text[UE_LOGIN_TEXT_BYTES + 1];
    memset(text, 'x', UE_LOGIN_TEXT_BYTES);
    for (int i = 0; i < 5; i++) {
        struct ue_server_config c = config("5.4");
        struct ue_pool *pool = i == 0 ? ue_pool_init(small, sizeof small) : ue_pool_init(large, sizeof large);
        c.conn.profile = i == 1 ? NULL : c.conn.profile;
        c.login.map = i == 2 ? text : NULL;
        c.ddos.severity_count = i == 3 ? UE_DDOS_STATES_MAX + 1 : 0;
        struct ue_server *server = ue_server_new(pool, &c, 0);
        assert_int_equal(server != NULL, i == 4);
        if (server != NULL) {
            ue_server_free(server);
        }
        assert_int_equal(ue_pool_used_bytes(pool), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_clients_join_and_leave),
        cmocka_unit_test(connections_never_share_random_numbers),
        cmocka_unit_test(a_full_server_says_nothing_until_somebody_leaves),
        cmocka_unit_test(a_peer_lives_until_its_last_event_was_taken),
        cmocka_unit_test(a_moved_client_is_found_by_its_cookie),
        cmocka_unit_test(who_moves_again_and_again_stays_one_connection),
        cmocka_unit_test(a_restart_of_an_ended_connection_is_refused),
        cmocka_unit_test(a_late_response_makes_no_second_connection),
        cmocka_unit_test(stragglers_of_those_who_left_are_ignored_for_a_time),
        cmocka_unit_test(only_so_many_who_left_are_remembered),
        cmocka_unit_test(icmp_errors_end_who_has_not_joined),
        cmocka_unit_test(floods_cost_no_memory),
        cmocka_unit_test(the_flood_gate_closes_for_strangers_only),
        cmocka_unit_test(empty_datagrams_are_bad_packets),
        cmocka_unit_test(what_cannot_work_is_no_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

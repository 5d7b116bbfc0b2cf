/* SPDX-License-Identifier: MIT */
/* Clients that make a server keep as much as it will, beside clients that only want to be served (endpoint.md, Fair
   shares). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/server_stage.h"
#include "tests/support/hostile.h"
#include "tests/support/within.h"

#define HONEST 20
#define HOSTILE 36
#define HOSTILE_FIRST 64 /* player number */
#define PACKETS_PER_TICK 60
#define CHANNELS_PER_TICK 200
#define SMALL_BYTES 600
#define LARGE_BYTES 60000 /* in some 65 parts */
#define STALL_NS (120 * SECOND_NS)

/* ---- clients that are served ---- */

static struct {
    uint32_t channel; /* 0: none yet */
    uint64_t sent, delivered, delivered_bytes, sent_bytes;
} honest[HONEST];
static uint8_t data[LARGE_BYTES];

static void on_event(struct ue_peer *peer, const struct ue_event *event) {
    uint32_t number = 0;
    while (number < HONEST && ue_server_find(stage.server, &stage.players[number].address) != peer) {
        number++;
    }
    if (number < HONEST && event->type == UE_EVENT_BUNCH && event->channel == honest[number].channel) {
        honest[number].delivered++;
        honest[number].delivered_bytes += event->data.bits / 8;
    }
}

/* A channel of the server, whose first bunch opens it at the player. */
static void open_channel(uint32_t number) {
    struct ue_peer *peer = ue_server_find(stage.server, &stage.players[number].address);
    assert_non_null(peer);
    assert_int_equal(ue_conn_open(peer->conn, UE_KIND_ACTOR, -1, &honest[number].channel), UE_OK);
    const struct ue_outgoing greeting = {.channel = honest[number].channel, .reliable = true, .data = {data, 0, 80}};
    assert_int_equal(ue_conn_send(peer->conn, stage.now_ns, &greeting, NULL), UE_OK);
}

static void say(uint32_t number, size_t size_bytes) {
    struct ue_conn *c = stage.players[number].conn;
    if (ue_conn_room_bits(c, honest[number].channel) < 8 * size_bytes) {
        return; /* not yet */
    }
    const struct ue_outgoing bunch = {
        .channel = honest[number].channel, .reliable = true, .data = {data, 0, 8 * size_bytes}};
    assert_int_equal(ue_conn_send(c, stage.now_ns, &bunch, NULL), UE_OK);
    honest[number].sent++;
    honest[number].sent_bytes += size_bytes;
}

static void join_honest(uint32_t count) {
    memset(honest, 0, sizeof honest);
    stage.on_event = on_event;
    for (uint32_t i = 0; i < count; i++) {
        connect_player(i);
    }
    run(2 * SECOND_NS);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(has_joined(i));
        open_channel(i);
    }
    run(SECOND_NS);
}

static void talk(uint32_t count, uint64_t tick) {
    for (uint32_t i = 0; i < count; i++) {
        if ((tick + i) % 90 == 0) {
            say(i, LARGE_BYTES);
        } else if ((tick + i) % 3 == 0) {
            say(i, SMALL_BYTES);
        }
    }
}

static void assert_served(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_true(has_joined(i));
        assert_int_not_equal(honest[i].sent, 0);
        assert_int_equal(honest[i].delivered, honest[i].sent);
        assert_int_equal(honest[i].delivered_bytes, honest[i].sent_bytes);
    }
}

/* ---- clients that fill memory ---- */

static void attack(uint32_t player, enum hostility how, uint32_t tick) {
    struct ue_conn *c = stage.players[player].conn;
    uint32_t per_tick = how == HOSTILE_CHANNELS ? CHANNELS_PER_TICK : PACKETS_PER_TICK;
    for (uint32_t i = 0; i < per_tick && ue_conn_state(c) == UE_CONN_PENDING; i++) {
        hostile_put(c, stage.now_ns, how, tick * per_tick + i, true);
    }
    ue_conn_flush(c, stage.now_ns);
}

static void connect_hostile(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        connect_player(HOSTILE_FIRST + i);
    }
    run(2 * SECOND_NS);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(has_joined(HOSTILE_FIRST + i));
    }
}

static size_t memory_of(uint32_t player) {
    size_t peak_bytes;
    struct ue_peer *peer = ue_server_find(stage.server, &stage.players[player].address);
    return peer != NULL ? ue_conn_memory_bytes(peer->conn, &peak_bytes) : 0;
}

static size_t memory_of_hostile(void) {
    size_t sum_bytes = 0;
    for (uint32_t i = 0; i < HOSTILE; i++) {
        sum_bytes += memory_of(HOSTILE_FIRST + i);
    }
    return sum_bytes;
}

static void serve_beside(enum hostility how, uint32_t loss_percent) {
    struct ue_server_config c = config("5.1");
    c.max_connections = 64;
    begin(&c);
    join_honest(HONEST);
    connect_hostile(HOSTILE);
    stage.loss_percent = loss_percent;
    for (uint32_t tick = 0; tick < 120; tick++) {
        talk(HONEST, tick);
        for (uint32_t i = 0; i < HOSTILE; i++) {
            attack(HOSTILE_FIRST + i, how, tick);
        }
        run(TICK_NS);
    }
    assert_true(is_within(memory_of_hostile(), 4u << 20, 64u << 20)); /* it is an attack */
    run(10 * SECOND_NS);
    assert_served(HONEST);
    connect_player(HONEST); /* and newcomers come in */
    run(10 * SECOND_NS);
    assert_true(has_joined(HONEST));
    end();
}

static void parts_that_never_end(void **state) {
    (void)state;
    serve_beside(HOSTILE_PARTS, 0);
}

static void parts_that_never_end_and_loss(void **state) {
    (void)state;
    serve_beside(HOSTILE_PARTS, 20);
}

static void bunches_that_wait_for_one_that_never_comes(void **state) {
    (void)state;
    serve_beside(HOSTILE_EARLY, 0);
}

static void bunches_that_wait_for_one_that_never_comes_and_loss(void **state) {
    (void)state;
    serve_beside(HOSTILE_EARLY, 20);
}

static void channels_without_end(void **state) {
    (void)state;
    serve_beside(HOSTILE_CHANNELS, 20);
}

/* ---- one machine, and what is left for others ---- */

static struct ue_host from_one_machine(uint32_t port) {
    struct ue_host address = {.machine_bytes = 8};
    address.size_bytes = (uint8_t)snprintf(address.text, sizeof address.text, "10.9.8.7:%u", port);
    return address;
}

/* Clients of one machine use a quarter of what is nobody's reserve; another machine's client has more than its own. */
static void one_machine_leaves_something_to_others(void **state) {
    (void)state;
    struct ue_server_config c = config("5.1");
    c.max_connections = 64;
    begin(&c);
    for (uint32_t i = 0; i < HOSTILE; i++) {
        connect_player(HOSTILE_FIRST + i);
        stage.players[HOSTILE_FIRST + i].address = from_one_machine(1000 + i);
    }
    run(2 * SECOND_NS);
    for (uint32_t tick = 0; tick < 120; tick++) {
        for (uint32_t i = 0; i < HOSTILE; i++) {
            attack(HOSTILE_FIRST + i, HOSTILE_EARLY, tick);
        }
        run(TICK_NS);
    }
    size_t reserve_bytes = memory_of_hostile() / HOSTILE;
    connect_player(0);
    run(2 * SECOND_NS);
    for (uint32_t tick = 0; tick < 120; tick++) {
        attack(0, HOSTILE_EARLY, tick);
        run(TICK_NS);
    }
    assert_true(memory_of(0) > 2 * reserve_bytes);
    end();
}

static void a_machine_has_so_many_connections(void **state) {
    (void)state;
    struct ue_server_config c = config("5.5");
    c.max_per_machine = 3;
    begin(&c);
    for (uint32_t i = 0; i < 5; i++) {
        connect_player(i);
        stage.players[i].address = from_one_machine(1000 + i);
    }
    connect_player(5);
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 4);
    assert_true(has_joined(5));
    assert_true(ue_server_counters(stage.server)->refused_machine >= 2);
    assert_int_equal(ue_server_counters(stage.server)->refused_full, 0);
    for (uint32_t i = 0; i < 5; i++) {
        if (has_joined(i)) { /* a place becomes free */
            ue_conn_close(stage.players[i].conn, stage.now_ns, UE_CLOSE_DISCONNECT);
            break;
        }
    }
    run(3 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 4);
    end();
}

/* ---- what waits too long ---- */

/* Who never finishes is closed after two minutes; who only talks is not. */
static void what_makes_no_progress_ends(void **state) {
    (void)state;
    struct ue_server_config c = config("5.5");
    c.conn.stall_timeout_ns = STALL_NS;
    begin(&c);
    join_honest(2);
    connect_hostile(2);
    for (uint32_t tick = 0; tick < 4; tick++) {
        attack(HOSTILE_FIRST, HOSTILE_PARTS, tick);
        attack(HOSTILE_FIRST + 1, HOSTILE_EARLY, tick);
        run(TICK_NS);
    }
    for (uint32_t tick = 0; tick < 115 * 30; tick++) {
        talk(2, tick);
        run(TICK_NS);
    }
    assert_int_equal(ue_server_count(stage.server), 4);
    run(10 * SECOND_NS);
    assert_int_equal(ue_server_count(stage.server), 2);
    assert_served(2);
    end();
}

static void unreliable_parts_without_progress_are_dropped(void **state) {
    (void)state;
    struct ue_server_config c = config("5.5");
    c.conn.stall_timeout_ns = STALL_NS;
    begin(&c);
    connect_hostile(1);
    struct ue_conn *client = stage.players[HOSTILE_FIRST].conn;
    for (uint32_t channel = 0; channel < 20; channel++) {
        hostile_put(client, stage.now_ns, HOSTILE_PARTS, channel * hostile_per_channel(HOSTILE_PARTS), false);
    }
    run(SECOND_NS);
    size_t used_bytes = memory_of(HOSTILE_FIRST);
    run(125 * SECOND_NS);
    assert_true(has_joined(HOSTILE_FIRST));
    assert_true(memory_of(HOSTILE_FIRST) + 20 * 2048 <= used_bytes);
    end();
}

/* Large bunches at 20 % loss, with 50 s in which nothing arrives in the middle of one. */
static void a_slow_client_is_not_cut_off(void **state) {
    (void)state;
    struct ue_server_config c = config("5.5");
    c.conn.stall_timeout_ns = STALL_NS;
    c.conn.options.burst_limit = 1;
    begin(&c);
    join_honest(1);
    stage.loss_percent = 20;
    for (uint32_t tick = 0; tick < 60 * 30; tick++) {
        if (tick == 601) {
            stage.loss_percent = 100;
            run(50 * SECOND_NS);
            stage.loss_percent = 20;
        }
        if (tick % 300 == 0) {
            say(0, LARGE_BYTES);
        }
        run(TICK_NS);
    }
    run(30 * SECOND_NS);
    assert_served(1);
    assert_true(honest[0].sent >= 5);
    end();
}

static void nobody_hostile(void **state) {
    (void)state;
    struct ue_server_config c = config("5.1");
    begin(&c);
    join_honest(HONEST);
    stage.loss_percent = 20;
    for (uint32_t tick = 0; tick < 120; tick++) {
        talk(HONEST, tick);
        run(TICK_NS);
    }
    run(10 * SECOND_NS);
    assert_served(HONEST);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_never_end),
        cmocka_unit_test(parts_that_never_end_and_loss),
        cmocka_unit_test(bunches_that_wait_for_one_that_never_comes),
        cmocka_unit_test(bunches_that_wait_for_one_that_never_comes_and_loss),
        cmocka_unit_test(channels_without_end),
        cmocka_unit_test(nobody_hostile),
        cmocka_unit_test(one_machine_leaves_something_to_others),
        cmocka_unit_test(a_machine_has_so_many_connections),
        cmocka_unit_test(what_makes_no_progress_ends),
        cmocka_unit_test(unreliable_parts_without_progress_are_dropped),
        cmocka_unit_test(a_slow_client_is_not_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

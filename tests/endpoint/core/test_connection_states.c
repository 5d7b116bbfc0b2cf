/* SPDX-License-Identifier: MIT */
/* Every call is legal in every state: a connection in random order of calls and of foreign datagrams takes only the
   transitions of endpoint.md 1, and an assertion in the endpoint fails the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/conn_pair.h"
#include "tests/support/rng.h"

#define CALLS 24

static const bool legal[UE_CONN_CLOSED + 1][UE_CONN_CLOSED + 1] = {
    [UE_CONN_INVALID] =
        {[UE_CONN_HANDSHAKE] = true, [UE_CONN_PENDING] = true, [UE_CONN_OPEN] = true, [UE_CONN_CLOSED] = true},
    [UE_CONN_HANDSHAKE] = {[UE_CONN_PENDING] = true, [UE_CONN_CLOSED] = true},
    [UE_CONN_PENDING] = {[UE_CONN_OPEN] = true, [UE_CONN_CLOSED] = true},
    [UE_CONN_OPEN] = {[UE_CONN_CLOSED] = true},
};
static bool was_taken[UE_CONN_CLOSED + 1][UE_CONN_CLOSED + 1];

static void send_some(struct ue_conn *c, uint64_t now_ns, struct rng *rng) {
    static const uint8_t bytes[600];
    const struct ue_outgoing bunch = {.channel = (uint32_t)rng_below(rng, 3),
                                      .reliable = rng_chance(rng, 50),
                                      .close = rng_chance(rng, 10),
                                      .data = {bytes, 0, rng_below(rng, sizeof bytes * 8)}};
    for (uint64_t count = rng_below(rng, 40); count > 0; count--) {
        ue_conn_send(c, now_ns, &bunch, NULL);
    }
}

static void call(struct ue_conn *c, struct ue_conn *other, uint64_t now_ns, struct rng *rng) {
    struct ue_bytes datagram;
    uint32_t opened;
    const struct ue_accepted accepted = {.version = 3};
    switch (rng_below(rng, 10)) {
    case 0: ue_conn_connect(c, now_ns); break;
    case 1: ue_conn_adopt(c, now_ns, 100, 200); break;
    case 2: ue_conn_accept(c, now_ns, &accepted); break;
    case 3: ue_conn_admit(c); break;
    case 4: ue_conn_open(c, UE_KIND_ACTOR, (int64_t)rng_below(rng, 4) - 1, &opened); break;
    case 5: send_some(c, now_ns, rng); break;
    case 6: ue_conn_flush(c, now_ns); break;
    case 7: ue_conn_tick(c, now_ns); break;
    case 8:
        if (rng_chance(rng, 30)) {
            ue_conn_close(c, now_ns, UE_CLOSE_DISCONNECT);
        }
        break;
    default:
        while (ue_conn_next_datagram(other, &datagram)) {
            ue_conn_receive(c, now_ns, datagram.bytes, datagram.size_bytes);
        }
        ue_conn_end_receive(c, now_ns);
    }
}

/* Nothing that leads from one state to another is left out by the events. */
static void follow(struct ue_conn *c, enum ue_conn_state *state) {
    struct ue_event event;
    while (ue_conn_next_event(c, &event)) {
        if (event.type == UE_EVENT_STATE) {
            assert_true(legal[*state][event.state]);
            was_taken[*state][event.state] = true;
            *state = event.state;
        }
    }
    assert_int_equal(ue_conn_state(c), *state);
}

static void run(const char *release, struct rng *rng) {
    struct ue_conn *conns[2];
    enum ue_conn_state states[2] = {UE_CONN_INVALID, UE_CONN_INVALID};
    uint64_t now_ns = UINT64_C(1000000000);
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_conn_config config = {.profile = ue_profile_find(release),
                                              .role = side == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER,
                                              .no_login = rng_chance(rng, 20)};
        conns[side] = ue_conn_new(NULL, &config);
        assert_non_null(conns[side]);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned side = (unsigned)rng_below(rng, 2);
        now_ns += rng_chance(rng, 5) ? UINT64_C(70000000000) : UINT64_C(16000000);
        call(conns[side], conns[!side], now_ns, rng);
        follow(conns[side], &states[side]);
    }
    ue_conn_free(conns[0]);
    ue_conn_free(conns[1]);
}

static void every_call_is_legal_in_every_state(void **state) {
    static const char releases[][8] = {"4.13", "4.26", "5.8"};
    struct rng rng = rng_seeded("every_call_is_legal_in_every_state");
    for (uint64_t round = rng_rounds(3000); round > 0; round--) {
        run(releases[round % 3], &rng);
    }
    for (size_t from = 0; from <= UE_CONN_CLOSED; from++) {
        for (size_t to = 0; to <= UE_CONN_CLOSED; to++) {
            bool needs_handshake = from == UE_CONN_HANDSHAKE && to == UE_CONN_PENDING;
            assert_true(was_taken[from][to] == legal[from][to] || needs_handshake);
        }
    }
}

/* A program that admits too early has not admitted. */
static void a_connection_is_admitted_only_while_it_is_up(void **state) {
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_conn_config config = {.profile = ue_profile_find("5.5"),
                                              .role = side == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER};
        struct ue_conn *c = ue_conn_new(NULL, &config);
        assert_non_null(c);
        ue_conn_admit(c);
        assert_false(c->common.life.is_admitted);
        ue_conn_adopt(c, 0, 100, 200);
        assert_int_equal(ue_conn_state(c), side == 0 ? UE_CONN_PENDING : UE_CONN_OPEN);
        assert_false(c->common.life.is_admitted);
        ue_conn_admit(c);
        assert_true(c->common.life.is_admitted);
        assert_int_equal(ue_conn_state(c), UE_CONN_OPEN);
        ue_conn_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_is_legal_in_every_state),
                                       cmocka_unit_test(a_connection_is_admitted_only_while_it_is_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

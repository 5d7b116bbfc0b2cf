/* SPDX-License-Identifier: MIT */
/* Hooks that act during the delivery of a bunch: they send, flush, open and close channels and close the connection.
   The bunch stays valid until they return, and what they send arrives once and in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/conn_pair.h"
#include "tests/support/rng.h"

#define ROUNDS 400
#define TICKS 30
#define DRAIN_TICKS 300
#define NUMBER_BYTES 4

static struct {
    struct conn_pair pair;
    struct rng rng;
    uint32_t sent[2]; /* messages on channel 0, by sender; numbered from 0 */
    uint32_t received[2];
    bool may_close;
} session;

static unsigned side_of(const struct ue_conn *c) {
    return c == session.pair.conns[PAIR_SERVER] ? PAIR_SERVER : PAIR_CLIENT;
}

/* Sends a message that consists of its number, repeated; sometimes it is long enough for several fragments. */
static void send_numbers(struct ue_conn *c, uint64_t now_ns) {
    uint8_t bytes[3000];
    uint32_t *number = &session.sent[side_of(c)];
    size_t size_bytes = rng_chance(&session.rng, 15) ? sizeof bytes : NUMBER_BYTES * (1 + rng_below(&session.rng, 8));
    if (ue_conn_unacked(c, 0) > 100) {
        return;
    }
    for (size_t i = 0; i < size_bytes; i++) {
        bytes[i] = (uint8_t)(*number >> 8 * (i % NUMBER_BYTES));
    }
    const struct ue_outgoing bunch = {.reliable = true, .data = {bytes, 0, size_bytes * 8}};
    *number += ue_conn_send(c, now_ns, &bunch, NULL) == UE_OK;
}

static void open_and_send(struct ue_conn *c, uint64_t now_ns) {
    uint32_t opened;
    uint32_t channel = 2 + (uint32_t)rng_below(&session.rng, 4);
    const struct ue_outgoing bunch = {.channel = channel,
                                      .reliable = rng_chance(&session.rng, 70),
                                      .merge = true,
                                      .close = rng_chance(&session.rng, 30),
                                      .data = {(const uint8_t *)"something", 0, 70}};
    ue_conn_open(c, UE_KIND_ACTOR, channel, &opened);
    ue_conn_send(c, now_ns, &bunch, NULL);
}

static void random_call(struct ue_conn *c, uint64_t now_ns) {
    switch (rng_below(&session.rng, 8)) {
    case 0:
    case 1: send_numbers(c, now_ns); break;
    case 2: ue_conn_flush(c, now_ns); break;
    case 3:
    case 4: open_and_send(c, now_ns); break;
    case 5:
        if (session.may_close && rng_chance(&session.rng, 10)) {
            ue_conn_close(c, now_ns, UE_CLOSE_DISCONNECT);
        }
        break;
    default: break;
    }
}

static bool on_bunch(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch) {
    bool is_message = bunch->reliable && bunch->data.bits != 0;
    for (unsigned i = 0; i < 3; i++) {
        random_call(c, now_ns);
    }
    uint32_t *expected = &session.received[!side_of(c)];
    for (size_t bit = 0; is_message && !session.may_close && bit < bunch->data.bits; bit += 8 * NUMBER_BYTES) {
        uint64_t number = ue_bits_load(bunch->data.base, ue_bits_bytes(bunch->data.bit + bunch->data.bits),
                                       bunch->data.bit + bit, 8 * NUMBER_BYTES);
        assert_int_equal(number, *expected);
    }
    *expected += is_message;
    return rng_chance(&session.rng, 50);
}

static void deliver(unsigned from, unsigned lost_percent) {
    struct ue_bytes datagram;
    struct ue_event event;
    struct conn_pair *pair = &session.pair;
    while (ue_conn_next_datagram(pair->conns[from], &datagram)) {
        if (!rng_chance(&session.rng, lost_percent)) {
            ue_conn_receive(pair->conns[!from], pair->now_ns, datagram.bytes, datagram.size_bytes);
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        while (ue_conn_next_event(pair->conns[side], &event)) {
        }
    }
}

static void tick(unsigned lost_percent, bool sends) {
    struct conn_pair *pair = &session.pair;
    pair->now_ns += PAIR_TICK_NS;
    for (unsigned side = 0; side < 2; side++) {
        struct ue_conn *c = pair->conns[side];
        ue_conn_end_receive(c, pair->now_ns);
        if (sends) {
            send_numbers(c, pair->now_ns);
        }
        ue_conn_tick(c, pair->now_ns);
        deliver(side, lost_percent);
    }
}

static void run_session(const char *release, bool may_close) {
    static const struct ue_conn_config configs[] = {
        {0}, {.options = {.repeat_reliable = true, .burst_limit = 1, .tail_probe_data = true, .resend_close = true}}};
    pair_init(&session.pair, release, &configs[rng_below(&session.rng, 2)]);
    memset(session.sent, 0, sizeof session.sent);
    memset(session.received, 0, sizeof session.received);
    session.may_close = may_close;
    for (unsigned side = 0; side < 2; side++) {
        session.pair.conns[side]->receiver.hook.call = on_bunch;
    }
    for (unsigned i = 0; i < TICKS; i++) {
        tick(30, true);
    }
    for (unsigned side = 0; side < 2; side++) {
        if (!may_close) {
            assert_int_equal(ue_conn_state(session.pair.conns[side]), UE_CONN_OPEN);
        }
    }
    for (unsigned i = 0; i < DRAIN_TICKS && !may_close; i++) {
        tick(0, false);
    }
    for (unsigned side = 0; side < 2 && !may_close; side++) {
        assert_true(session.received[side] >= TICKS &&
                    session.received[side] + 4 > session.sent[side]); /* the hooks send until the end */
    }
    pair_free(&session.pair);
}

static void handlers_may_send_open_and_close(void **state) {
    session.rng = rng_seeded("hooks that act");
    for (uint64_t round = 0; round < rng_rounds(ROUNDS); round++) {
        run_session(ue_profile_at(rng_below(&session.rng, UE_PROFILE_COUNT))->name, round % 2 == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_may_send_open_and_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

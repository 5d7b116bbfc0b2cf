/* SPDX-License-Identifier: MIT */
/* Handlers that act while a bunch is handed to them: they send, flush, open and close channels, close the connection.
   What they are given is still there when they return, and what they sent arrives once and in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/conn_pair.h"
#include "tests/support/rng.h"

#define ROUNDS 400
#define TICKS 30
#define SETTLE_TICKS 300
#define NUMBER_BYTES 4

static struct {
    struct conn_pair pair;
    struct rng rng;
    uint32_t said[2]; /* messages on channel 0 by sender, numbered from 0 */
    uint32_t heard[2];
    bool may_close;
} talk;

static unsigned side_of(const struct ue_conn *c) {
    return c == talk.pair.conns[PAIR_SERVER] ? PAIR_SERVER : PAIR_CLIENT;
}

/* A message that says its number again and again; sometimes of several parts. */
static void say(struct ue_conn *c, uint64_t now_ns) {
    uint8_t bytes[3000];
    uint32_t *number = &talk.said[side_of(c)];
    size_t size_bytes = rng_chance(&talk.rng, 15) ? sizeof bytes : NUMBER_BYTES * (1 + rng_below(&talk.rng, 8));
    if (ue_conn_unacked(c, 0) > 100) {
        return;
    }
    for (size_t i = 0; i < size_bytes; i++) {
        bytes[i] = (uint8_t)(*number >> 8 * (i % NUMBER_BYTES));
    }
    const struct ue_outgoing bunch = {.reliable = true, .data = {bytes, 0, size_bytes * 8}};
    *number += ue_conn_send(c, now_ns, &bunch, NULL) == UE_OK;
}

static void act_on_channels(struct ue_conn *c, uint64_t now_ns) {
    uint32_t opened;
    uint32_t channel = 2 + (uint32_t)rng_below(&talk.rng, 4);
    const struct ue_outgoing bunch = {.channel = channel,
                                      .reliable = rng_chance(&talk.rng, 70),
                                      .merge = true,
                                      .close = rng_chance(&talk.rng, 30),
                                      .data = {(const uint8_t *)"something", 0, 70}};
    ue_conn_open(c, UE_KIND_ACTOR, channel, &opened);
    ue_conn_send(c, now_ns, &bunch, NULL);
}

static void act(struct ue_conn *c, uint64_t now_ns) {
    switch (rng_below(&talk.rng, 8)) {
    case 0:
    case 1: say(c, now_ns); break;
    case 2: ue_conn_flush(c, now_ns); break;
    case 3:
    case 4: act_on_channels(c, now_ns); break;
    case 5:
        if (talk.may_close && rng_chance(&talk.rng, 10)) {
            ue_conn_close(c, now_ns, UE_CLOSE_DISCONNECT);
        }
        break;
    default: break;
    }
}

static bool hear(void *user, struct ue_conn *c, uint64_t now_ns, const struct ue_event *bunch) {
    (void)user;
    bool is_message = bunch->reliable && bunch->data.bits != 0;
    for (unsigned i = 0; i < 3; i++) {
        act(c, now_ns);
    }
    uint32_t *expected = &talk.heard[!side_of(c)];
    for (size_t bit = 0; is_message && !talk.may_close && bit < bunch->data.bits; bit += 8 * NUMBER_BYTES) {
        uint64_t number = ue_bits_load(bunch->data.base, ue_bits_bytes(bunch->data.bit + bunch->data.bits),
                                       bunch->data.bit + bit, 8 * NUMBER_BYTES);
        assert_int_equal(number, *expected);
    }
    *expected += is_message;
    return rng_chance(&talk.rng, 50);
}

static void carry(unsigned from, unsigned lost_percent) {
    struct ue_bytes datagram;
    struct ue_event event;
    struct conn_pair *pair = &talk.pair;
    while (ue_conn_next_datagram(pair->conns[from], &datagram)) {
        if (!rng_chance(&talk.rng, lost_percent)) {
            ue_conn_receive(pair->conns[!from], pair->now_ns, datagram.bytes, datagram.size_bytes);
        }
    }
    for (unsigned side = 0; side < 2; side++) {
        while (ue_conn_next_event(pair->conns[side], &event)) {
        }
    }
}

static void tick(unsigned lost_percent, bool talks) {
    struct conn_pair *pair = &talk.pair;
    pair->now_ns += PAIR_TICK_NS;
    for (unsigned side = 0; side < 2; side++) {
        struct ue_conn *c = pair->conns[side];
        ue_conn_end_receive(c, pair->now_ns);
        if (talks) {
            say(c, pair->now_ns);
        }
        ue_conn_tick(c, pair->now_ns);
        carry(side, lost_percent);
    }
}

static void hold_talk(const char *release, bool may_close) {
    static const struct ue_conn_config configs[] = {
        {0}, {.options = {.repeat_reliable = true, .burst_limit = 1, .tail_probe_data = true, .resend_close = true}}};
    pair_begin(&talk.pair, release, &configs[rng_below(&talk.rng, 2)]);
    memset(talk.said, 0, sizeof talk.said);
    memset(talk.heard, 0, sizeof talk.heard);
    talk.may_close = may_close;
    for (unsigned side = 0; side < 2; side++) {
        talk.pair.conns[side]->hook = hear;
    }
    for (unsigned i = 0; i < TICKS; i++) {
        tick(30, true);
    }
    for (unsigned side = 0; side < 2; side++) {
        if (!may_close) {
            assert_int_equal(ue_conn_state(talk.pair.conns[side]), UE_CONN_OPEN);
        }
    }
    for (unsigned i = 0; i < SETTLE_TICKS && !may_close; i++) {
        tick(0, false);
    }
    for (unsigned side = 0; side < 2 && !may_close; side++) {
        assert_true(talk.heard[side] >= TICKS && talk.heard[side] + 4 > talk.said[side]); /* they never stop talking */
    }
    pair_end(&talk.pair);
}

static void handlers_may_act(void **state) {
    (void)state;
    talk.rng = rng_seeded("handlers that act");
    for (uint64_t round = 0; round < rng_rounds(ROUNDS); round++) {
        hold_talk(ue_profile_at(rng_below(&talk.rng, UE_PROFILE_COUNT))->name, round % 2 == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_may_act),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

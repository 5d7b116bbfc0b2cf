/* SPDX-License-Identifier: MIT */
/* Changed and random datagrams for a listener and for a client in the handshake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/codec.h>
#include "tests/endpoint/handshake/listener_fixture.h"
#include "tests/support/guarded.h"
#include "tests/support/rng.h"

static void mutate(struct rng *rng, struct handshake_datagram *d) {
    for (uint64_t n = rng_below(rng, 5); n > 0 && d->size != 0; n--) {
        d->bytes[rng_below(rng, d->size)] ^= (uint8_t)(1u << rng_below(rng, 8));
    }
    if (rng_chance(rng, 10)) {
        d->size = rng_below(rng, d->size + 1);
    }
    if (rng_chance(rng, 10)) {
        size_t more = rng_below(rng, sizeof d->bytes - d->size + 1);
        rng_fill(rng, d->bytes + d->size, more);
        d->size += more;
    }
}

static void make_noise(struct rng *rng, struct handshake_datagram *d) {
    d->size = rng_below(rng, sizeof d->bytes + 1);
    rng_fill(rng, d->bytes, d->size);
}

/* A million datagrams from addresses that never proved themselves: cookies of other addresses, changed or unchanged,
   and random bytes. */
static void hostile_datagrams_are_never_accepted(void **state) {
    static const uint8_t original[UE_COOKIE_BYTES] = {1};
    struct rng rng = rng_seeded("hostile_datagrams_are_never_accepted");
    struct guarded guarded = guarded_new(UE_HANDSHAKE_DATAGRAM_BYTES);
    uint64_t rounds = rng_rounds(1000000) / UE_PROFILE_COUNT + 1;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, ue_profile_at(row)->name,
                              (struct ue_listener_config){.min_version = row % 2 ? 1 : 0});
        bool restarts = fixture.context.profile.handshake >= UE_HANDSHAKE_B;
        struct handshake_datagram templates[3] = {listener_encode_initial(&fixture),
                                                  listener_encode_response(&fixture, NULL),
                                                  listener_encode_response(&fixture, restarts ? original : NULL)};
        const size_t used = fixture.memory.used_bytes;
        for (uint64_t i = 0; i < rounds; i++) {
            char text[] = "203.0.113.1:000000";
            struct ue_host unknown_address = host_from_text(text);
            struct handshake_datagram d = templates[i % 3];
            memcpy(unknown_address.text + 12, &(uint32_t){(uint32_t)i}, sizeof(uint32_t));
            fixture.now_ns += rng_below(&rng, SECOND / 10000);
            if (i % 4 == 3) {
                make_noise(&rng, &d);
            }
            mutate(&rng, &d);
            enum ue_listener_result result = ue_listener_receive(
                fixture.listener, fixture.now_ns, &unknown_address, true, guarded_put(&guarded, d.bytes, d.size),
                d.size, fixture.reply, &fixture.reply_bytes, &fixture.accepted);
            assert_int_not_equal(result, UE_LISTENER_ACCEPT);
            assert_true((result == UE_LISTENER_REPLY) == (fixture.reply_bytes != 0));
            assert_int_equal(fixture.memory.used_bytes, used);
        }
        assert_true(listener_counters(&fixture)->bad_cookies > rounds / 100 &&
                    listener_counters(&fixture)->malformed > rounds / 100);
        assert_int_equal(listener_receive(&fixture, &templates[0]), UE_LISTENER_REPLY); /* the listener still works */
        listener_fixture_free(&fixture);
    }
    guarded_free(&guarded);
}

/* Random datagrams for a client that waits for the Ack: whatever it sends is a handshake message. */
static void random_datagrams_do_not_break_the_client_handshake(void **state) {
    struct rng rng = rng_seeded("random_datagrams_do_not_break_the_client_handshake");
    struct guarded guarded = guarded_new(UE_HANDSHAKE_DATAGRAM_BYTES);
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct ue_client_handshake initial;
        ue_client_handshake_init(&initial, &fixture.context, &(struct ue_conn_config){.client_id = CLIENT_ID},
                                 &fixture.random);
        ue_client_handshake_start(&initial, fixture.now_ns);
        struct handshake_datagram templates[2];
        templates[1] = listener_encode_response(&fixture, NULL);
        memcpy(templates[0].bytes, fixture.reply, templates[0].size = fixture.reply_bytes);
        fixture.now_ns += TICK;
        listener_receive(&fixture, &templates[1]);
        memcpy(templates[1].bytes, fixture.reply, templates[1].size = fixture.reply_bytes);
        struct ue_client_handshake client = initial;
        unsigned connected = 0;
        for (uint64_t i = 0; i < rng_rounds(20000); i++) {
            struct handshake_datagram d = templates[i % 2];
            if (i % 4 == 3) {
                make_noise(&rng, &d);
            }
            mutate(&rng, &d);
            connected += ue_client_handshake_receive(&client, fixture.now_ns, guarded_put(&guarded, d.bytes, d.size),
                                                     d.size, fixture.now_ns) == UE_CLIENT_HANDSHAKE_CONNECTED;
            struct handshake_datagram sent;
            struct ue_decode_result result;
            sent.size = ue_client_handshake_pop(&client, sent.bytes);
            if (sent.size != 0) {
                assert_int_equal(ue_datagram_decode(&client.context, sent.bytes, sent.size, NULL, NULL, &result),
                                 UE_OK);
                assert_true(result.is_handshake);
            }
            client = i % 8 == 7 ? initial : client;
        }
        assert_true(connected > 100); /* some were unchanged */
        listener_fixture_free(&fixture);
    }
    guarded_free(&guarded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_datagrams_are_never_accepted),
        cmocka_unit_test(random_datagrams_do_not_break_the_client_handshake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

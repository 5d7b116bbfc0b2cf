/* SPDX-License-Identifier: MIT */
/* Connections without handshake on an unknown port: the right ones are found, the others are left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "libcodec/observe/mid_session_recognition.h"
#include "tests/observe/observer_fixture.h"

#define PACKETS 60

/* Enough packets of each side: a first one, steps that agree, packets that match. */
#define ENOUGH 16

static void begin(struct observer_fixture *f, struct traffic *t, const char *release, uint64_t seed) {
    observer_fixture_begin(f, UE_OBSERVER_BY_CONNECTION);
    traffic_init(t, release, STOCK, seed);
    f->is_ours = false;
}

/* Feeds packets of both sides in turn. Returns how many it took until one was accepted; 0: none was. */
static unsigned feed_both(struct observer_fixture *f, struct traffic *t, unsigned packets) {
    for (unsigned n = 1; n <= packets; n++) {
        if (observer_fixture_packet(f, t, n % 2 != 0 ? SERVER : CLIENT, 1)) {
            return n;
        }
    }
    return 0;
}

static void each_generation_is_recognised(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        const char *release = ue_profile_at(row)->name;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct observer_fixture f;
            struct traffic t;
            begin(&f, &t, release, seed);
            unsigned packets = feed_both(&f, &t, PACKETS);
            if (packets == 0 || packets > ENOUGH) {
                fail_msg("%s, seed %u: recognised after %u packets", release, (unsigned)seed, packets);
            }
            assert_true(f.record.connection->is_proven);
            observer_fixture_end(&f);
        }
    }
}

static void one_side_is_no_proof(void **state) {
    struct observer_fixture f;
    struct traffic t;
    begin(&f, &t, "5.4", 1);
    for (unsigned n = 0; n < PACKETS; n++) {
        assert_false(observer_fixture_packet(&f, &t, SERVER, 1));
    }
    observer_fixture_end(&f);
}

static bool feed_header(struct observer_fixture *f, struct traffic *t, unsigned side, const uint8_t *body,
                        size_t body_bytes) {
    struct ue_datagram d = {.item_count = 0};
    struct ue_fault fault;
    size_t size;
    traffic_header(t, side, &d.packet);
    assert_int_equal(ue_datagram_encode(&t->sides[side].x, &d, f->bytes, PACKET_BYTES, &size, &fault), UE_OK);
    if (body_bytes != 0) {
        memcpy(f->bytes + size - 1, body, body_bytes);
        size += body_bytes - 1;
    }
    return observer_fixture_feed(f, side == CLIENT ? 1 : 0, side == CLIENT ? 0 : 1, f->bytes, size);
}

/* A header is little: other protocols number packets, too. */
static void headers_alone_are_no_proof(void **state) {
    struct observer_fixture f;
    struct traffic t;
    begin(&f, &t, "5.4", 1);
    for (unsigned n = 0; n < PACKETS; n++) {
        assert_false(feed_header(&f, &t, n % 2, NULL, 0));
    }
    observer_fixture_end(&f);
}

/* Bodies of another protocol with our header. */
static void headers_with_other_bodies_are_no_proof(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct observer_fixture f;
            struct traffic t;
            begin(&f, &t, ue_profile_at(row)->name, seed);
            for (unsigned n = 0; n < 500; n++) {
                uint8_t body[64];
                rng_fill(&t.rng, body, sizeof body);
                assert_false(feed_header(&f, &t, n % 2, body, 4 + rng_below(&t.rng, 60)));
            }
            observer_fixture_end(&f);
        }
    }
}

/* Packets before and after one that cannot be of the connection are not counted together. */
static void a_contradiction_begins_anew(void **state) {
    struct observer_fixture f;
    struct traffic t;
    begin(&f, &t, "5.4", 1);
    unsigned needed = feed_both(&f, &t, PACKETS);
    observer_fixture_end(&f);
    begin(&f, &t, "5.4", 1);
    for (unsigned round = 0; round < 10; round++) {
        assert_int_equal(feed_both(&f, &t, needed - 1), 0);
        t.sides[SERVER].seq = (uint16_t)((t.sides[SERVER].seq + 5000) & 16383);
        t.sides[CLIENT].seq = (uint16_t)((t.sides[CLIENT].seq + 3000) & 16383);
    }
    observer_fixture_end(&f);
}

static void frames_between_windows_are_not_compared(void **state) {
    struct observer_fixture f;
    struct traffic t;
    begin(&f, &t, "4.25", 1);
    f.frame = UE_RECOGNITION_WINDOW;
    assert_int_equal(feed_both(&f, &t, 1000), 0);
    f.frame = UE_RECOGNITION_STEP;
    assert_int_not_equal(feed_both(&f, &t, 1000), 0);
    observer_fixture_end(&f);
}

/* A few packets in a window are enough to be compared after it. */
static void progress_makes_a_window_longer(void **state) {
    struct observer_fixture f;
    struct traffic t;
    begin(&f, &t, "4.25", 1);
    f.frame = UE_RECOGNITION_WINDOW - 9;
    assert_int_equal(feed_both(&f, &t, 8), 0);
    assert_true(ue_observer_is_expecting(f.observer, UE_RECOGNITION_WINDOW + 1));
    assert_int_not_equal(feed_both(&f, &t, PACKETS), 0);
    observer_fixture_end(&f);
}

/* Datagrams of very many addresses do not take a connection's place. */
static void a_flood_does_not_hide_a_connection(void **state) {
    struct observer_fixture f;
    struct traffic t;
    bool is_recognised = false;
    begin(&f, &t, "5.1", 1);
    for (unsigned n = 0; n < 450 && !is_recognised; n++) {
        uint8_t noise[40];
        rng_fill(&t.rng, noise, sizeof noise);
        is_recognised = n % 10 == 0 && observer_fixture_packet(&f, &t, n / 10 % 2, 1);
        observer_fixture_feed(&f, 2 + (unsigned)rng_below(&t.rng, 60000), 0, noise, sizeof noise);
    }
    assert_true(is_recognised);
    observer_fixture_end(&f);
}

/* Without memory nothing is recognised, and nothing breaks. */
static void memory_may_be_short(void **state) {
    struct observer_fixture f;
    struct traffic t;
    observer_fixture_begin_limited(&f, UE_OBSERVER_BY_CONNECTION, 8192);
    traffic_init(&t, "5.1", STOCK, 1);
    f.is_ours = false;
    assert_non_null(f.observer);
    assert_int_equal(feed_both(&f, &t, PACKETS), 0);
    observer_fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_generation_is_recognised),
        cmocka_unit_test(one_side_is_no_proof),
        cmocka_unit_test(headers_alone_are_no_proof),
        cmocka_unit_test(headers_with_other_bodies_are_no_proof),
        cmocka_unit_test(a_contradiction_begins_anew),
        cmocka_unit_test(frames_between_windows_are_not_compared),
        cmocka_unit_test(progress_makes_a_window_longer),
        cmocka_unit_test(a_flood_does_not_hide_a_connection),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests_name("mid_session_recognition", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Cookies and secrets of a listener (endpoint.md 4). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/endpoint/handshake/handshake_datagram.h"
#include "tests/support/guarded.h"
#include "tests/support/within.h"
#include "tools/endpoint/handshake/cookie.h"

#define START (UINT64_C(1000) * SECOND)

struct cookie_server {
    struct ue_context context;
    struct ue_random random;
    struct ue_cookies cookies;
};

static void init_server(struct cookie_server *b, const char *release, uint8_t first_seed_byte) {
    uint8_t seed[UE_SEED_BYTES];
    for (size_t i = 0; i < sizeof seed; i++) {
        seed[i] = (uint8_t)(first_seed_byte + i);
    }
    ue_context_init(&b->context, ue_profile_find(release), NULL);
    ue_random_init(&b->random, seed);
    assert_true(ue_cookies_init(&b->cookies, &b->context, &b->random, START));
}

static struct ue_handshake create_cookie(struct cookie_server *b, uint64_t at_ns) {
    struct ue_host address = host_from_text("127.0.0.1:7777");
    struct ue_handshake challenge = {0};
    ue_cookies_create(&b->cookies, START + at_ns, &address, &challenge);
    return challenge;
}

static enum ue_cookie_result check_cookie(struct cookie_server *b, uint64_t at_ns,
                                          const struct ue_handshake *response) {
    struct ue_host address = host_from_text("127.0.0.1:7777");
    return ue_cookies_check(&b->cookies, START + at_ns, &address, response);
}

static double seconds_of(const struct cookie_server *b, const struct ue_handshake *h) {
    return ue_handshake_timestamp(&b->context, h);
}

/* Computed with Python's hashlib and hmac from the seed 00 01 02 ... 3f: each secret byte is the next four bytes of the
   stream modulo 255, the rotation takes four bytes between; the message is timestamp, length 15, "127.0.0.1:7777\0". */
static void cookies_are_an_hmac_of_time_and_address(void **state) {
    struct cookie_server b;
    init_server(&b, "4.25", 0);
    struct ue_handshake h = create_cookie(&b, 5 * SECOND / 2);
    assert_int_equal(h.secret_id, 0);
    assert_true(seconds_of(&b, &h) == 3.5);
    assert_hex(h.cookie, sizeof h.cookie, "8e614e13639eb39ddb1d7cf03429be8d8977b27b");
    struct ue_host six = host_from_text("[2001:db8::1]:65535");
    ue_cookies_create(&b.cookies, START + 5 * SECOND / 2, &six, &h);
    assert_hex(h.cookie, sizeof h.cookie, "058fc9251b49e0842cd75a6d2366a348693e9be7");
    h = create_cookie(&b, 39 * SECOND / 2);
    assert_int_equal(h.secret_id, 1);
    assert_hex(h.cookie, sizeof h.cookie, "135f8bcdce67ed7737560f889dc0b4469ea2a560");
    ue_cookies_free(&b.cookies);

    init_server(&b, "4.22", 0);
    h = create_cookie(&b, 5 * SECOND / 2);
    assert_true(h.timestamp == 0x40600000);
    assert_hex(h.cookie, sizeof h.cookie, "4bbf1ef76260b72bfa2d084c257eb9ca8166342b");
    ue_cookies_free(&b.cookies);
}

static void a_cookie_is_valid_for_forty_seconds(void **state) {
    static const char *const releases[] = {"4.18", "4.22", "4.25", "5.5"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        for (uint64_t created_at = 0; created_at < 40 * SECOND; created_at += 1000 * TICK) {
            struct cookie_server b;
            init_server(&b, releases[i], (uint8_t)i);
            struct ue_handshake h = create_cookie(&b, created_at);
            assert_int_equal(check_cookie(&b, created_at + TICK, &h), UE_COOKIE_VALID);
            assert_int_equal(check_cookie(&b, created_at + 40 * SECOND - TICK, &h), UE_COOKIE_VALID);
            assert_int_equal(check_cookie(&b, created_at + 40 * SECOND, &h), UE_COOKIE_OLD);
            ue_cookies_free(&b.cookies);
        }
    }
}

static void a_cookie_of_the_same_moment_is_valid_from_4_20_on(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct cookie_server b;
        init_server(&b, ue_profile_at(row)->name, 1);
        bool is_strict = strcmp(ue_profile_at(row)->name, "4.20") < 0; /* names compare as releases do */
        struct ue_handshake h = create_cookie(&b, SECOND);
        assert_int_equal(check_cookie(&b, SECOND, &h), is_strict ? UE_COOKIE_OLD : UE_COOKIE_VALID);
        assert_int_equal(check_cookie(&b, SECOND + TICK, &h), UE_COOKIE_VALID);
        assert_int_equal(check_cookie(&b, SECOND - TICK, &h), UE_COOKIE_OLD); /* a timestamp in the future */
        ue_cookies_free(&b.cookies);
    }
}

static void timestamps_that_are_no_time_are_refused(void **state) {
    static const double times[] = {NAN, INFINITY, -INFINITY, -1.0, 0.0, 1e300};
    struct cookie_server b;
    init_server(&b, "5.1", 1);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct ue_handshake h = create_cookie(&b, 50 * SECOND);
        h.timestamp = ue_handshake_timestamp_bits(&b.context, times[i]);
        assert_int_equal(check_cookie(&b, 50 * SECOND, &h), UE_COOKIE_OLD);
    }
    ue_cookies_free(&b.cookies);
}

static void secrets_rotate_every_fifteen_to_twenty_seconds(void **state) {
    uint64_t earliest = UINT64_MAX;
    uint64_t latest = 0;
    for (unsigned seed = 0; seed < 200; seed++) {
        struct cookie_server b;
        init_server(&b, "5.1", (uint8_t)seed);
        uint64_t low = 15 * SECOND; /* the first secret is used until low, the second from high on */
        uint64_t high = 20 * SECOND;
        assert_int_equal(create_cookie(&b, low - 1).secret_id, 0);
        uint64_t due = b.cookies.rotate_ns - START;
        assert_true(is_within(due, low, high - 1));
        earliest = due < earliest ? due : earliest;
        latest = due > latest ? due : latest;
        assert_int_equal(create_cookie(&b, due - 1).secret_id, 0);
        assert_int_equal(create_cookie(&b, due).secret_id, 1);
        assert_int_equal(create_cookie(&b, due + 15 * SECOND - 1).secret_id, 1);
        assert_int_equal(create_cookie(&b, due + 20 * SECOND).secret_id, 0);
        ue_cookies_free(&b.cookies);
    }
    assert_true(earliest < 15 * SECOND + SECOND / 4 && latest > 20 * SECOND - SECOND / 4);
}

static void a_secret_is_valid_for_its_own_period_only(void **state) {
    struct cookie_server b;
    init_server(&b, "4.25", 7);
    struct ue_handshake early = create_cookie(&b, 2 * SECOND);
    uint64_t rotation = b.cookies.rotate_ns - START;
    struct ue_handshake before = create_cookie(&b, rotation - TICK);
    create_cookie(&b, rotation);
    struct ue_handshake after = create_cookie(&b, rotation + TICK);
    assert_true(early.secret_id == 0 && before.secret_id == 0 && after.secret_id == 1);
    assert_int_equal(check_cookie(&b, rotation + TICK, &before), UE_COOKIE_VALID);
    assert_int_equal(check_cookie(&b, rotation + TICK, &after), UE_COOKIE_VALID);
    struct ue_handshake forged = before;
    forged.secret_id = 1;
    assert_int_equal(check_cookie(&b, rotation + TICK, &forged), UE_COOKIE_OLD);
    forged = after;
    forged.secret_id = 0;
    assert_int_equal(check_cookie(&b, rotation + 2 * TICK, &forged), UE_COOKIE_OLD);

    struct ue_handshake late = create_cookie(&b, 41 * SECOND); /* the first secret was replaced */
    assert_int_equal(late.secret_id, 0);
    assert_int_equal(check_cookie(&b, 41 * SECOND, &early), UE_COOKIE_OLD);
    assert_int_equal(check_cookie(&b, 41 * SECOND, &after), UE_COOKIE_VALID);
    ue_cookies_free(&b.cookies);
}

static void a_rotation_generates_a_new_secret(void **state) {
    struct cookie_server b;
    init_server(&b, "4.25", 7);
    struct ue_handshake first = create_cookie(&b, 19 * SECOND);
    uint64_t timestamp = first.timestamp;
    b.cookies.rotate_ns = 0;
    create_cookie(&b, 19 * SECOND);
    b.cookies.rotate_ns = 0;
    struct ue_handshake again = create_cookie(&b, 19 * SECOND);
    assert_true(again.secret_id == first.secret_id && again.timestamp == timestamp);
    assert_memory_not_equal(first.cookie, again.cookie, sizeof first.cookie);
    ue_cookies_free(&b.cookies);
}

static void a_cookie_with_a_changed_bit_is_refused(void **state) {
    struct cookie_server b;
    init_server(&b, "4.25", 3);
    const struct ue_handshake created = create_cookie(&b, 5 * SECOND);
    for (size_t bit = 0; bit < UE_COOKIE_BYTES * 8; bit++) {
        struct ue_handshake h = created;
        h.cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(check_cookie(&b, 6 * SECOND, &h), UE_COOKIE_BAD);
    }
    for (size_t bit = 0; bit < 64; bit++) {
        struct ue_handshake h = created;
        h.timestamp ^= UINT64_C(1) << bit;
        assert_int_not_equal(check_cookie(&b, 6 * SECOND, &h), UE_COOKIE_VALID);
    }
    struct ue_handshake h = created;
    h.secret_id = 2;
    assert_int_not_equal(check_cookie(&b, 6 * SECOND, &h), UE_COOKIE_VALID);
    ue_cookies_free(&b.cookies);
}

static void a_cookie_is_valid_for_one_address_only(void **state) {
    static const char *const others[] = {"127.0.0.1:7778", "127.0.0.1:777", "127.0.0.1:77777", "", "[::1]:7777"};
    struct cookie_server b;
    init_server(&b, "5.4", 3);
    struct ue_handshake h = create_cookie(&b, 5 * SECOND);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct ue_host other = host_from_text(others[i]);
        assert_int_equal(ue_cookies_check(&b.cookies, START + 6 * SECOND, &other, &h), UE_COOKIE_BAD);
    }
    assert_int_equal(check_cookie(&b, 6 * SECOND, &h), UE_COOKIE_VALID);
    ue_cookies_free(&b.cookies);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cookies_are_an_hmac_of_time_and_address),
        cmocka_unit_test(a_cookie_is_valid_for_forty_seconds),
        cmocka_unit_test(a_cookie_of_the_same_moment_is_valid_from_4_20_on),
        cmocka_unit_test(timestamps_that_are_no_time_are_refused),
        cmocka_unit_test(secrets_rotate_every_fifteen_to_twenty_seconds),
        cmocka_unit_test(a_secret_is_valid_for_its_own_period_only),
        cmocka_unit_test(a_rotation_generates_a_new_secret),
        cmocka_unit_test(a_cookie_with_a_changed_bit_is_refused),
        cmocka_unit_test(a_cookie_is_valid_for_one_address_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

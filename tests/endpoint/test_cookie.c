/* SPDX-License-Identifier: MIT */
/* Cookies and secrets of a listener (endpoint.md 21.3). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/cookie.h>
#include "tests/support/guarded.h"
#include "tests/support/within.h"

#define SECOND UINT64_C(1000000000)
#define TICK (SECOND / 256) /* sums of it are exact as seconds, too */
#define START (UINT64_C(1000) * SECOND)

struct bakery {
    struct ue_context context;
    struct ue_random random;
    struct ue_cookies cookies;
};

static struct ue_host address_of(const char *text) {
    struct ue_host address = {.size_bytes = (uint8_t)strlen(text)};
    memcpy(address.text, text, address.size_bytes);
    return address;
}

static void open_bakery(struct bakery *b, const char *release, uint8_t first_seed_byte) {
    uint8_t seed[UE_SEED_BYTES];
    for (size_t i = 0; i < sizeof seed; i++) {
        seed[i] = (uint8_t)(first_seed_byte + i);
    }
    ue_context_init(&b->context, ue_profile_find(release), NULL);
    ue_random_init(&b->random, seed);
    assert_true(ue_cookies_init(&b->cookies, &b->context, &b->random, START));
}

static struct ue_handshake bake(struct bakery *b, uint64_t at_ns) {
    struct ue_host home = address_of("127.0.0.1:7777");
    struct ue_handshake challenge = {0};
    ue_cookies_create(&b->cookies, START + at_ns, &home, &challenge);
    return challenge;
}

static enum ue_cookie_result check(struct bakery *b, uint64_t at_ns, const struct ue_handshake *response) {
    struct ue_host home = address_of("127.0.0.1:7777");
    return ue_cookies_check(&b->cookies, START + at_ns, &home, response);
}

static double seconds_of(const struct bakery *b, const struct ue_handshake *h) {
    return ue_handshake_timestamp(&b->context, h);
}

/* Computed with Python's hashlib and hmac from the seed 00 01 02 ... 3f: each secret byte is the next four bytes of the
   stream modulo 255, the rotation takes four bytes between; the message is timestamp, length 15, "127.0.0.1:7777\0". */
static void cookies_are_hmac_of_time_and_address(void **state) {
    (void)state;
    struct bakery b;
    open_bakery(&b, "4.25", 0);
    struct ue_handshake h = bake(&b, 5 * SECOND / 2);
    assert_int_equal(h.secret_id, 0);
    assert_true(seconds_of(&b, &h) == 3.5);
    assert_hex(h.cookie, sizeof h.cookie, "8e614e13639eb39ddb1d7cf03429be8d8977b27b");
    struct ue_host six = address_of("[2001:db8::1]:65535");
    ue_cookies_create(&b.cookies, START + 5 * SECOND / 2, &six, &h);
    assert_hex(h.cookie, sizeof h.cookie, "058fc9251b49e0842cd75a6d2366a348693e9be7");
    h = bake(&b, 39 * SECOND / 2);
    assert_int_equal(h.secret_id, 1);
    assert_hex(h.cookie, sizeof h.cookie, "135f8bcdce67ed7737560f889dc0b4469ea2a560");
    ue_cookies_free(&b.cookies);

    open_bakery(&b, "4.22", 0);
    h = bake(&b, 5 * SECOND / 2);
    assert_true(h.timestamp == 0x40600000);
    assert_hex(h.cookie, sizeof h.cookie, "4bbf1ef76260b72bfa2d084c257eb9ca8166342b");
    ue_cookies_free(&b.cookies);
}

static void a_cookie_lives_for_forty_seconds(void **state) {
    (void)state;
    static const char *const releases[] = {"4.18", "4.22", "4.25", "5.5"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        for (uint64_t made = 0; made < 40 * SECOND; made += 1000 * TICK) {
            struct bakery b;
            open_bakery(&b, releases[i], (uint8_t)i);
            struct ue_handshake h = bake(&b, made);
            assert_int_equal(check(&b, made + TICK, &h), UE_COOKIE_VALID);
            assert_int_equal(check(&b, made + 40 * SECOND - TICK, &h), UE_COOKIE_VALID);
            assert_int_equal(check(&b, made + 40 * SECOND, &h), UE_COOKIE_OLD);
            ue_cookies_free(&b.cookies);
        }
    }
}

static void only_since_4_20_may_it_come_back_at_once(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct bakery b;
        open_bakery(&b, ue_profile_at(row)->name, 1);
        bool strict = strcmp(ue_profile_at(row)->name, "4.20") < 0; /* names compare as releases do */
        struct ue_handshake h = bake(&b, SECOND);
        assert_int_equal(check(&b, SECOND, &h), strict ? UE_COOKIE_OLD : UE_COOKIE_VALID);
        assert_int_equal(check(&b, SECOND + TICK, &h), UE_COOKIE_VALID);
        assert_int_equal(check(&b, SECOND - TICK, &h), UE_COOKIE_OLD); /* from the future */
        ue_cookies_free(&b.cookies);
    }
}

static void no_number_is_no_time(void **state) {
    (void)state;
    static const double times[] = {NAN, INFINITY, -INFINITY, -1.0, 0.0, 1e300};
    struct bakery b;
    open_bakery(&b, "5.1", 1);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct ue_handshake h = bake(&b, 50 * SECOND);
        h.timestamp = ue_handshake_timestamp_bits(&b.context, times[i]);
        assert_int_equal(check(&b, 50 * SECOND, &h), UE_COOKIE_OLD);
    }
    ue_cookies_free(&b.cookies);
}

static void secrets_take_turns_every_fifteen_to_twenty_seconds(void **state) {
    (void)state;
    uint64_t earliest = UINT64_MAX;
    uint64_t latest = 0;
    for (unsigned seed = 0; seed < 200; seed++) {
        struct bakery b;
        open_bakery(&b, "5.1", (uint8_t)seed);
        uint64_t low = 15 * SECOND; /* the first secret until here, the second from high on */
        uint64_t high = 20 * SECOND;
        assert_int_equal(bake(&b, low - 1).secret_id, 0);
        uint64_t due = b.cookies.rotate_ns - START;
        assert_true(is_within(due, low, high - 1));
        earliest = due < earliest ? due : earliest;
        latest = due > latest ? due : latest;
        assert_int_equal(bake(&b, due - 1).secret_id, 0);
        assert_int_equal(bake(&b, due).secret_id, 1);
        assert_int_equal(bake(&b, due + 15 * SECOND - 1).secret_id, 1);
        assert_int_equal(bake(&b, due + 20 * SECOND).secret_id, 0);
        ue_cookies_free(&b.cookies);
    }
    assert_true(earliest < 15 * SECOND + SECOND / 4 && latest > 20 * SECOND - SECOND / 4);
}

static void a_secret_counts_only_for_its_time(void **state) {
    (void)state;
    struct bakery b;
    open_bakery(&b, "4.25", 7);
    struct ue_handshake early = bake(&b, 2 * SECOND);
    uint64_t rotation = b.cookies.rotate_ns - START;
    struct ue_handshake before = bake(&b, rotation - TICK);
    bake(&b, rotation);
    struct ue_handshake after = bake(&b, rotation + TICK);
    assert_true(early.secret_id == 0 && before.secret_id == 0 && after.secret_id == 1);
    assert_int_equal(check(&b, rotation + TICK, &before), UE_COOKIE_VALID);
    assert_int_equal(check(&b, rotation + TICK, &after), UE_COOKIE_VALID);
    struct ue_handshake forged = before;
    forged.secret_id = 1;
    assert_int_equal(check(&b, rotation + TICK, &forged), UE_COOKIE_OLD);
    forged = after;
    forged.secret_id = 0;
    assert_int_equal(check(&b, rotation + 2 * TICK, &forged), UE_COOKIE_OLD);

    struct ue_handshake late = bake(&b, 41 * SECOND); /* the first secret is replaced */
    assert_int_equal(late.secret_id, 0);
    assert_int_equal(check(&b, 41 * SECOND, &early), UE_COOKIE_OLD);
    assert_int_equal(check(&b, 41 * SECOND, &after), UE_COOKIE_VALID);
    ue_cookies_free(&b.cookies);
}

static void replaced_secrets_are_new(void **state) {
    (void)state;
    struct bakery b;
    open_bakery(&b, "4.25", 7);
    struct ue_handshake first = bake(&b, 19 * SECOND);
    uint64_t timestamp = first.timestamp;
    b.cookies.rotate_ns = 0;
    bake(&b, 19 * SECOND);
    b.cookies.rotate_ns = 0;
    struct ue_handshake again = bake(&b, 19 * SECOND);
    assert_true(again.secret_id == first.secret_id && again.timestamp == timestamp);
    assert_memory_not_equal(first.cookie, again.cookie, sizeof first.cookie);
    ue_cookies_free(&b.cookies);
}

static void any_changed_bit_spoils_it(void **state) {
    (void)state;
    struct bakery b;
    open_bakery(&b, "4.25", 3);
    const struct ue_handshake baked = bake(&b, 5 * SECOND);
    for (size_t bit = 0; bit < UE_COOKIE_BYTES * 8; bit++) {
        struct ue_handshake h = baked;
        h.cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(check(&b, 6 * SECOND, &h), UE_COOKIE_BAD);
    }
    for (size_t bit = 0; bit < 64; bit++) {
        struct ue_handshake h = baked;
        h.timestamp ^= UINT64_C(1) << bit;
        assert_int_not_equal(check(&b, 6 * SECOND, &h), UE_COOKIE_VALID);
    }
    struct ue_handshake h = baked;
    h.secret_id = 2;
    assert_int_not_equal(check(&b, 6 * SECOND, &h), UE_COOKIE_VALID);
    ue_cookies_free(&b.cookies);
}

static void it_counts_for_one_address(void **state) {
    (void)state;
    static const char *const others[] = {"127.0.0.1:7778", "127.0.0.1:777", "127.0.0.1:77777", "", "[::1]:7777"};
    struct bakery b;
    open_bakery(&b, "5.4", 3);
    struct ue_handshake h = bake(&b, 5 * SECOND);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct ue_host other = address_of(others[i]);
        assert_int_equal(ue_cookies_check(&b.cookies, START + 6 * SECOND, &other, &h), UE_COOKIE_BAD);
    }
    assert_int_equal(check(&b, 6 * SECOND, &h), UE_COOKIE_VALID);
    ue_cookies_free(&b.cookies);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cookies_are_hmac_of_time_and_address),
        cmocka_unit_test(a_cookie_lives_for_forty_seconds),
        cmocka_unit_test(only_since_4_20_may_it_come_back_at_once),
        cmocka_unit_test(no_number_is_no_time),
        cmocka_unit_test(secrets_take_turns_every_fifteen_to_twenty_seconds),
        cmocka_unit_test(a_secret_counts_only_for_its_time),
        cmocka_unit_test(replaced_secrets_are_new),
        cmocka_unit_test(any_changed_bit_spoils_it),
        cmocka_unit_test(it_counts_for_one_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/guarded.h"
#include "tests/support/roundtrip.h"

static const struct ue_handshake *decode(const char *release, enum ue_direction direction, const char *digits) {
    uint8_t bytes[256];
    struct ue_context x;
    size_t size = hex_read(digits, bytes, sizeof bytes);
    ue_context_init(&x, ue_profile_find(release), NULL);
    x.direction = direction;
    assert_null(roundtrip_problem(shared_roundtrip, &x, bytes, size));
    assert_int_equal(shared_roundtrip->result.fault.status, UE_OK);
    assert_true(shared_roundtrip->result.is_handshake);
    return &shared_roundtrip->decoded.handshake;
}

#define COOKIE "1edc7ab1db705de53a61f21c8248127c33441aa6"

/* Messages of other implementations (protocol.md 19.8). */
static void layout_c_challenge(void **state) {
    const struct ue_handshake *h =
        decode("5.0", UE_SERVER_TO_CLIENT, "0500000000006000f2e0d68bdd86eb2ad70993e7104492e09b21d2300d");
    assert_int_equal(h->type, UE_HANDSHAKE_CHALLENGE);
    assert_true(!h->restart && h->has_body && h->secret_id == 1);
    assert_true(h->timestamp == UINT64_C(0x400c000000000000)); /* 3.5 */
    assert_hex(h->cookie, sizeof h->cookie, COOKIE);
}

static void version_3_challenge(void **state) {
    const struct ue_handshake *h = decode("5.1", UE_SERVER_TO_CLIENT,
                                          "a6808100000558abee0000000000000c401edc7ab1db705de53a61f21c8248127c33441aa6"
                                          "0000000000000000000001");
    assert_int_equal(shared_roundtrip->decoded.prefix.session_id, 2);
    assert_int_equal(shared_roundtrip->decoded.prefix.client_id, 1);
    assert_true(h->min_version == 1 && h->version == 3 && h->type == UE_HANDSHAKE_CHALLENGE && h->sent_count == 0);
    assert_int_equal(h->network_version, 0xdd56b00a);
    assert_int_equal(h->random.bits, 80);
    assert_hex(h->cookie, sizeof h->cookie, COOKIE);
}

static void layout_a_initial(void **state) {
    const struct ue_handshake *h =
        decode("4.18", UE_CLIENT_TO_SERVER, "01000000000000000000000000000000000000000000000004");
    assert_int_equal(h->type, UE_HANDSHAKE_INITIAL);
    assert_true(h->has_body && h->timestamp == 0);
}

static void a_restart_request_is_two_bits(void **state) {
    const struct ue_handshake *h = decode("4.25", UE_SERVER_TO_CLIENT, "07");
    assert_int_equal(h->type, UE_HANDSHAKE_RESTART_REQUEST);
    assert_true(h->restart && !h->has_body);
}

/* Sizes of protocol.md 5.2 to 5.4, in bits before the terminator, without the random tail. */
static void every_type_has_its_documented_size(void **state) {
    static const struct {
        const char *release;
        enum ue_handshake_type type;
        uint8_t version;
        size_t bits;
    } rows[] = {
        {"4.18", UE_HANDSHAKE_CHALLENGE, 0, 194},           {"4.22", UE_HANDSHAKE_CHALLENGE, 0, 195},
        {"4.22", UE_HANDSHAKE_RESTART_REQUEST, 0, 2},       {"4.22", UE_HANDSHAKE_RESTART_RESPONSE, 0, 355},
        {"4.25", UE_HANDSHAKE_CHALLENGE, 0, 227},           {"4.25", UE_HANDSHAKE_RESTART_RESPONSE, 0, 387},
        {"5.1", UE_HANDSHAKE_CHALLENGE, 3, 5 + 291},        {"5.1", UE_HANDSHAKE_RESTART_REQUEST, 3, 5 + 66},
        {"5.1", UE_HANDSHAKE_RESTART_RESPONSE, 3, 5 + 451}, {"5.4", UE_HANDSHAKE_CHALLENGE, 4, 5 + 307},
        {"5.4", UE_HANDSHAKE_RESTART_REQUEST, 4, 5 + 82},   {"5.4", UE_HANDSHAKE_RESTART_RESPONSE, 4, 5 + 467},
        {"5.4", UE_HANDSHAKE_VERSION_UPGRADE, 4, 5 + 82},   {"5.4", UE_HANDSHAKE_CHALLENGE, 1, 5 + 259},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_context x;
        struct ue_fault fault;
        uint8_t bytes[128];
        size_t size;
        struct ue_datagram d = {.prefix.is_handshake = true,
                                .handshake = {.type = rows[i].type, .version = rows[i].version}};
        struct ue_handshake *h = &d.handshake;
        ue_context_init(&x, ue_profile_find(rows[i].release), NULL);
        x.direction = rows[i].type == UE_HANDSHAKE_RESTART_RESPONSE ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
        h->restart = rows[i].type == UE_HANDSHAKE_RESTART_REQUEST || rows[i].type == UE_HANDSHAKE_RESTART_RESPONSE;
        h->has_body = rows[i].type == UE_HANDSHAKE_CHALLENGE || rows[i].type == UE_HANDSHAKE_RESTART_RESPONSE;
        h->has_orig_cookie = rows[i].type == UE_HANDSHAKE_RESTART_RESPONSE;
        h->timestamp = h->has_body ? ue_handshake_timestamp_bits(&x, 1.0) : 0;
        assert_int_equal(ue_datagram_encode(&x, &d, bytes, sizeof bytes, &size, &fault), UE_OK);
        size_t last;
        assert_true(ue_bits_last_set(bytes, 0, size * 8, &last));
        assert_int_equal(last, rows[i].bits);
    }
}

static void contents_without_a_type_are_refused(void **state) {
    static const struct {
        enum ue_direction direction;
        double seconds;
    } rows[] = {{UE_SERVER_TO_CLIENT, 0}, {UE_CLIENT_TO_SERVER, -1.0}};
    for (size_t i = 0; i < 2; i++) {
        struct ue_context x;
        struct ue_fault fault;
        uint8_t bytes[128];
        size_t size;
        struct ue_datagram d = {.prefix.is_handshake = true, .handshake = {.has_body = true}};
        ue_context_init(&x, ue_profile_find("4.25"), NULL);
        d.handshake.timestamp = ue_handshake_timestamp_bits(&x, rows[i].seconds);
        d.handshake.type = rows[i].seconds == 0 ? UE_HANDSHAKE_INITIAL : UE_HANDSHAKE_ACK;
        assert_int_equal(ue_datagram_encode(&x, &d, bytes, sizeof bytes, &size, &fault), UE_OK);
        x.direction = rows[i].direction;
        struct ue_decode_result result;
        assert_int_equal(ue_datagram_decode(&x, bytes, size, NULL, NULL, &result), UE_E_TYPE);
        assert_int_equal(result.fault.field, UE_F_HANDSHAKE_TYPE);
        assert_int_equal(ue_datagram_encode(&x, &d, bytes, sizeof bytes, &size, &fault), UE_E_TYPE);
    }
}

/* protocol.md 5.7. */
static void cookies_give_the_first_sequences(void **state) {
    uint8_t cookie[UE_COOKIE_BYTES];
    hex_read(COOKIE, cookie, sizeof cookie);
    struct ue_sequences first = ue_cookie_sequences(cookie);
    assert_true(first.server == 7198 && first.client == 12666);
    hex_read("05a303127dc5508cae6626dcbc7365c188c332d5", cookie, sizeof cookie);
    first = ue_cookie_sequences(cookie);
    assert_true(first.server == 8965 && first.client == 4611);
}

static void sequences_are_shown_where_they_begin_a_connection(void **state) {
    decode("5.0", UE_SERVER_TO_CLIENT, "0500000000006000f2e0d68bdd86eb2ad70993e7104492e09b21d2300d");
    bool seen = false;
    for (size_t i = 0; i < shared_roundtrip->recorder.count; i++) {
        const struct ue_record *record = &shared_roundtrip->recorder.records[i].record;
        if (record->field == UE_F_HANDSHAKE_CLIENT_SEQ) {
            seen = true;
            assert_true(record->generated && record->number == 12666);
            assert_true(record->bit == 67 + 16 && record->bits == 16);
        }
    }
    assert_true(seen);
    decode("4.18", UE_CLIENT_TO_SERVER, "01000000000000000000000000000000000000000000000004");
    assert_null(recorder_find(&shared_roundtrip->recorder, 1, UE_F_HANDSHAKE_CLIENT_SEQ, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_c_challenge),
        cmocka_unit_test(version_3_challenge),
        cmocka_unit_test(layout_a_initial),
        cmocka_unit_test(a_restart_request_is_two_bits),
        cmocka_unit_test(every_type_has_its_documented_size),
        cmocka_unit_test(contents_without_a_type_are_refused),
        cmocka_unit_test(cookies_give_the_first_sequences),
        cmocka_unit_test(sequences_are_shown_where_they_begin_a_connection),
    };
    return cmocka_run_group_tests(tests, roundtrip_set_up, roundtrip_tear_down);
}

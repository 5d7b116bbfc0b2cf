/* SPDX-License-Identifier: MIT */
/* The client's handshake with a listener, in every layout and version (protocol.md 5; endpoint.md 2 to 5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/endpoint/handshake/handshake_fixture.h"

#define RESEND (SECOND + 1) /* the first moment after a second */

static void a_client_connects_in_every_generation(void **state) {
    static const struct ue_settings settings[] = {
        {0}, {.magic_bits = 32, .magic = 0x500c7696}, {.skip_bytes = 8, .magic_bits = 3, .magic = 255}};
    for (size_t i = 0; i < UE_PROFILE_COUNT * 3; i++) {
        const struct ue_profile *profile = ue_profile_at(i / 3);
        struct handshake_fixture s;
        handshake_fixture_init(&s, &(struct handshake_setup){.release = profile->name, .settings = settings[i % 3]});
        handshake_connect(&s);
        handshake_assert_agreement(&s);
        assert_int_equal(s.client.version, handshake_is_versioned(&s) ? 3 + profile->features : 0);
        const struct ue_listener_counters *counted = ue_listener_counters(s.listener);
        assert_true(counted->initials == 1 && counted->responses == 1 && counted->accepted == 1);
        handshake_fixture_free(&s);
    }
}

/* The four messages, step by step (protocol.md 5.1). */
static void each_handshake_message_has_the_expected_fields(void **state) {
    struct handshake_fixture s;
    handshake_fixture_init(&s, &(struct handshake_setup){.release = "5.4"});
    ue_client_handshake_start(&s.client, s.now_ns);
    struct handshake_datagram sent = handshake_client_send(&s);
    struct handshake_datagram challenge = handshake_server_receive(&s, &sent);
    struct ue_handshake h = *handshake_read(&s, UE_SERVER_TO_CLIENT, &challenge);
    assert_true(h.type == UE_HANDSHAKE_CHALLENGE && h.sent_count == 0 && h.min_version == 3 && h.version == 4);
    assert_true(ue_handshake_timestamp(&s.client.context, &h) == 1 + 1.0 / 256);
    struct ue_handshake expected = h;
    assert_int_equal(handshake_client_receive(&s, &challenge), UE_CLIENT_HANDSHAKE_NOTHING);
    sent = handshake_client_send(&s);
    h = *handshake_read(&s, UE_CLIENT_TO_SERVER, &sent);
    assert_true(h.type == UE_HANDSHAKE_RESPONSE && h.secret_id == expected.secret_id &&
                h.timestamp == expected.timestamp);
    assert_memory_equal(h.cookie, expected.cookie, sizeof h.cookie);
    struct handshake_datagram ack = handshake_server_receive(&s, &sent);
    h = *handshake_read(&s, UE_SERVER_TO_CLIENT, &ack);
    assert_true(h.type == UE_HANDSHAKE_ACK && h.sent_count == 1 && h.secret_id == 1);
    assert_true(ue_handshake_timestamp(&s.client.context, &h) == -1.0);
    assert_memory_equal(h.cookie, expected.cookie, sizeof h.cookie);
    assert_int_equal(handshake_client_receive(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
    const struct ue_client_handshake connected = s.client;
    s.now_ns += 20 * SECOND;
    assert_int_equal(handshake_client_receive(&s, &challenge),
                     UE_CLIENT_HANDSHAKE_NOTHING); /* a late message changes nothing */
    assert_int_equal(handshake_client_receive(&s, &ack), UE_CLIENT_HANDSHAKE_NOTHING);
    assert_memory_equal(&connected, &s.client, sizeof connected);
    assert_int_equal(s.client.sent_count, 0);
    handshake_fixture_free(&s);
}

static enum ue_client_handshake_result receive_with_changed_bit(struct handshake_fixture *s,
                                                                struct handshake_datagram d, size_t bit) {
    d.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    return handshake_client_receive(s, &d);
}

/* Changes bits of ids, restart bit, version, type and sign of the timestamp (protocol.md 5.4). */
static void replies_with_a_changed_field_are_ignored(void **state) {
    static const size_t bits[] = {0, 1, 2, 3, 4, 6, 15, 16, 24, 151};
    struct handshake_fixture s;
    handshake_fixture_init(&s, &(struct handshake_setup){.release = "5.5"});
    ue_client_handshake_start(&s.client, s.now_ns);
    struct handshake_datagram sent = handshake_client_send(&s);
    struct handshake_datagram answer = handshake_server_receive(&s, &sent);
    for (size_t i = 2; i < 10; i++) { /* the client takes the session id from the Challenge */
        receive_with_changed_bit(&s, answer, bits[i]);
        assert_int_equal(s.client.state, UE_CLIENT_HANDSHAKE_UNINITIALIZED);
    }
    handshake_client_receive(&s, &answer);
    sent = handshake_client_send(&s);
    answer = handshake_server_receive(&s, &sent);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(receive_with_changed_bit(&s, answer, bits[i]), UE_CLIENT_HANDSHAKE_NOTHING);
    }
    struct handshake_datagram upgrade = handshake_datagram_parse("b581010303a2199188008050ff5cee250fdfaa72dc7c5bc0f7");
    assert_int_equal(handshake_client_receive(&s, &upgrade),
                     UE_CLIENT_HANDSHAKE_NOTHING); /* version 3 has no such message */
    upgrade = handshake_datagram_parse("b501020303a2199188008050ff5cee250fdfaa72dc7c5bc0f7");
    assert_int_equal(handshake_client_receive(&s, &upgrade), UE_CLIENT_HANDSHAKE_OUTDATED);
    assert_int_equal(handshake_client_receive(&s, &answer), UE_CLIENT_HANDSHAKE_CONNECTED);
    handshake_fixture_free(&s);
}

static void the_highest_common_version_is_used_or_the_client_is_refused(void **state) {
    static const struct {
        struct ue_handshake_versions client;
        struct ue_handshake_versions server;
        uint8_t version;  /* 0: no agreement */
        bool is_outdated; /* the server sends VersionUpgrade */
    } rows[] = {
        {{3, 4}, {3, 4}, 4, false}, {{3, 4}, {3, 3}, 3, false}, {{3, 3}, {3, 4}, 3, false}, {{3, 3}, {3, 3}, 3, false},
        {{1, 2}, {1, 2}, 2, false}, {{1, 1}, {1, 2}, 1, false}, {{1, 2}, {1, 1}, 1, false}, {{1, 1}, {1, 1}, 1, false},
        {{2, 2}, {2, 2}, 2, false}, {{1, 2}, {1, 4}, 2, false}, {{1, 1}, {1, 3}, 1, false}, {{3, 4}, {1, 4}, 4, false},
        {{4, 4}, {3, 3}, 0, false}, {{3, 3}, {4, 4}, 0, false}, {{3, 4}, {4, 4}, 0, true},
    };
    static const char *const releases[] = {"5.1", "5.4", "5.8"};
    for (size_t i = 0; i < 3 * (sizeof rows / sizeof *rows); i++) {
        struct handshake_fixture s;
        handshake_fixture_init(&s, &(struct handshake_setup){.release = releases[i % 3],
                                                             .client = rows[i / 3].client,
                                                             .server = rows[i / 3].server});
        ue_client_handshake_start(&s.client, s.now_ns);
        enum ue_client_handshake_result result = handshake_connect_with_loss(&s, HANDSHAKE_NONE_LOST);
        if (rows[i / 3].version != 0) {
            assert_int_equal(result, UE_CLIENT_HANDSHAKE_CONNECTED);
            assert_int_equal(s.client.version, rows[i / 3].version);
            handshake_assert_agreement(&s);
        } else {
            assert_int_equal(result,
                             rows[i / 3].is_outdated ? UE_CLIENT_HANDSHAKE_OUTDATED : UE_CLIENT_HANDSHAKE_NOTHING);
            assert_int_equal(ue_listener_counters(s.listener)->accepted, 0);
            assert_int_equal(ue_listener_counters(s.listener)->upgrades, rows[i / 3].is_outdated);
        }
        handshake_fixture_free(&s);
    }
}

/* The features field was added without a new version number: each side uses the form of the other. */
static void the_features_field_follows_the_peer(void **state) {
    static const char *const releases[][2] = {{"5.1", "5.4"}, {"5.4", "5.1"}};
    for (size_t i = 0; i < 2; i++) {
        struct handshake_fixture s;
        handshake_fixture_init(&s,
                               &(struct handshake_setup){.release = releases[i][0], .server_release = releases[i][1]});
        handshake_connect(&s);
        assert_int_equal(s.client.version, 3);
        assert_true(s.client.context.features == (i == 1) && s.accepted.features == (i == 1));
        handshake_fixture_free(&s);
    }
}

static void assert_begins_with(const struct handshake_datagram *d, const char *hex, size_t bits) {
    struct handshake_datagram expected = handshake_datagram_parse(hex);
    assert_true(ue_view_equal((struct ue_view){d->bytes, 0, bits}, (struct ue_view){expected.bytes, 0, bits}));
}

/* Recorded handshakes of the engine, and what dpull/utcp sends (vectors/handshake.json). The client sends the same bits
   up to the random tail; the last row is a server without NetworkFeatures for a client that has it. */
static void recorded_handshakes_connect_with_the_same_messages(void **state) {
    static const struct {
        const char *release;
        size_t same_bits;
        struct ue_sequences first;
    } rows[] = {{"4.18", 200, {7198, 12666}},
                {"4.26", 232, {16233, 3053}},
                {"5.7", 312, {8965, 4611}},
                {"5.4", 0, {7198, 12666}}};
    static const char *const texts[][4] = {
        {"01000000000000000000000000000000000000000000000004", "030080017970ebc56ec37595eb84c973082249f0cd10699806",
         "030080017970ebc56ec37595eb84c973082249f0cd10699806", "030000fe7a70ebc56ec37595eb84c973082249f0cd10699806"},
        {"1700000000000000000000000000000000000000000000000000000080",
         "17c0d7f127af586aa0b49ff6e52d1e765d8b51983a5dc25f8d041051e6",
         "17c0d7f127af586aa0b49ff6e52d1e765d8b51983a5dc25f8d041051e6",
         "57000000000000f8dfb49ff6e52d1e765d8b51983a5dc25f8d041051e6"},
        {"a00102000098e40f32000000000000000000000000000000000000000000000000000000000000",
         "a00182000098e40f3200000058bc2b7f35c64005a303127dc5508cae6626dcbc7365c188c332d50b155e91b1aae4772cec01",
         "a00102810098e40f3200000058bc2b7f35c64005a303127dc5508cae6626dcbc7365c188c332d5",
         "a00182810098e40f320080000000000000f0bf05a303127dc5508cae6626dcbc7365c188c332d58a014ccd0c92740aed7e5e01"},
        {"", "a6808100000558abee0000000000000c401edc7ab1db705de53a61f21c8248127c33441aa60000000000000000000001", "",
         "a6808181000558abee000000000000f0bf1edc7ab1db705de53a61f21c8248127c33441aa60000000000000000000000000001"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct handshake_fixture s;
        uint8_t magic_bits = i == 1 ? 4 : 0;
        handshake_fixture_init(&s, &(struct handshake_setup){.release = rows[i].release,
                                                             .settings = {.magic_bits = magic_bits, .magic = 7}});
        s.client.client_id = i == 3;
        s.client.network_features = 0;
        ue_client_handshake_start(&s.client, s.now_ns);
        struct handshake_datagram sent = handshake_client_send(&s);
        assert_begins_with(&sent, texts[i][0], rows[i].same_bits);
        struct handshake_datagram challenge = handshake_datagram_parse(texts[i][1]);
        assert_int_equal(handshake_client_receive(&s, &challenge), UE_CLIENT_HANDSHAKE_NOTHING);
        sent = handshake_client_send(&s);
        assert_begins_with(&sent, texts[i][2], rows[i].same_bits);
        struct handshake_datagram ack = handshake_datagram_parse(texts[i][3]);
        assert_int_equal(handshake_client_receive(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
        assert_int_equal(s.client.sequences.server, rows[i].first.server);
        assert_int_equal(s.client.sequences.client, rows[i].first.client);
        handshake_fixture_free(&s);
    }
}

static void a_handshake_survives_the_loss_of_any_one_datagram(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        bool has_ack = ue_profile_at(row)->handshake != UE_HANDSHAKE_A0;
        for (unsigned lost = 0; lost < (has_ack ? 4 : 2); lost++) {
            struct handshake_fixture s;
            handshake_fixture_init(&s, &(struct handshake_setup){.release = ue_profile_at(row)->name});
            ue_client_handshake_start(&s.client, s.now_ns);
            assert_int_equal(handshake_connect_with_loss(&s, lost), UE_CLIENT_HANDSHAKE_CONNECTED);
            assert_int_equal(s.now_ns, START + RESEND + (has_ack ? 4 : 2) * TICK);
            assert_int_equal(s.is_accepted, has_ack);
            handshake_fixture_free(&s);
        }
    }
}

/* After fourteen resends, in fifteen seconds, the cookie may be too old. */
static void the_client_sends_a_new_initial_after_fifteen_seconds(void **state) {
    static const char *const releases[] = {"4.18", "4.22", "4.25", "5.1", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        struct handshake_fixture s;
        handshake_stop_after_challenge(&s, releases[i]);
        uint64_t challenged_ns = s.now_ns;
        struct handshake_datagram sent = handshake_client_send(&s);
        for (unsigned n = 1; n <= 15; n++) {
            assert_int_equal(handshake_read(&s, UE_CLIENT_TO_SERVER, &sent)->type, UE_HANDSHAKE_RESPONSE);
            s.now_ns = ue_client_handshake_deadline(&s.client);
            assert_int_equal(s.now_ns, challenged_ns + n * RESEND);
            ue_client_handshake_tick(&s.client, s.now_ns);
            sent = handshake_client_send(&s);
        }
        const struct ue_handshake *h = handshake_read(&s, UE_CLIENT_TO_SERVER, &sent);
        assert_true(h->type == UE_HANDSHAKE_INITIAL && !h->restart &&
                    s.client.state == UE_CLIENT_HANDSHAKE_UNINITIALIZED);
        assert_int_equal(h->sent_count, handshake_is_versioned(&s) ? 16 : 0);
        assert_int_equal(handshake_connect_with_loss(&s, HANDSHAKE_NONE_LOST), UE_CLIENT_HANDSHAKE_CONNECTED);
        handshake_fixture_free(&s);
    }
}

static void a_second_challenge_gets_a_new_response(void **state) {
    struct handshake_fixture s;
    handshake_stop_after_challenge(&s, "4.25");
    struct handshake_datagram first = handshake_client_send(&s);
    struct handshake_datagram initial =
        handshake_datagram_parse("0100000000000000000000000000000000000000000000000000000008");
    struct handshake_datagram challenge = handshake_server_receive(&s, &initial);
    handshake_client_receive(&s, &challenge);
    struct handshake_datagram second = handshake_client_send(&s);
    assert_memory_equal(second.bytes, challenge.bytes,
                        challenge.size); /* in this layout a Response equals its Challenge */
    assert_memory_not_equal(second.bytes, first.bytes, first.size);
    struct handshake_datagram ack =
        handshake_server_receive(&s, &first); /* the server received the first response and keeps its cookie */
    assert_int_equal(handshake_client_receive(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
    handshake_assert_agreement(&s);
    handshake_fixture_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_connects_in_every_generation),
        cmocka_unit_test(each_handshake_message_has_the_expected_fields),
        cmocka_unit_test(replies_with_a_changed_field_are_ignored),
        cmocka_unit_test(the_highest_common_version_is_used_or_the_client_is_refused),
        cmocka_unit_test(the_features_field_follows_the_peer),
        cmocka_unit_test(recorded_handshakes_connect_with_the_same_messages),
        cmocka_unit_test(a_handshake_survives_the_loss_of_any_one_datagram),
        cmocka_unit_test(the_client_sends_a_new_initial_after_fifteen_seconds),
        cmocka_unit_test(a_second_challenge_gets_a_new_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

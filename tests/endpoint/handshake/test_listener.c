/* SPDX-License-Identifier: MIT */
/* The listener, the stateless side of the handshake: what it answers, what it refuses, and that its memory use never
   grows (endpoint.md 2). Clients are hand-made datagrams here; test_handshake_client.c has complete ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/codec.h>
#include "tests/endpoint/handshake/listener_fixture.h"
#include "tests/support/guarded.h"
#include "tests/support/within.h"

/* The random tail has 8 to 16 bytes of 0 to 254, each length equally likely; without ids the message never has the 387
   bits of an older layout. */
static void random_tails_are_never_mistaken_for_older_layouts(void **state) {
    static const struct {
        const char *release;
        uint8_t version;
        size_t bits; /* of an Initial without the tail, ids included (protocol.md 5.4) */
    } rows[] = {{"5.1", 1, 259}, {"5.1", 2, 291}, {"5.4", 1, 259}, {"5.4", 2, 307}, {"5.1", 3, 296}, {"5.4", 4, 312}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct listener_fixture fixture;
        unsigned lengths[17] = {0};
        bool values[256] = {false};
        listener_fixture_init(&fixture, rows[i].release, (struct ue_listener_config){0});
        fixture.context.ids = rows[i].version >= 3;
        for (unsigned n = 0; n < 9000; n++) {
            size_t end = 0;
            struct handshake_datagram d = listener_encode_message(
                &fixture,
                (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL, .has_body = true, .version = rows[i].version});
            assert_true(ue_bits_last_set(d.bytes, 0, d.size * 8, &end));
            assert_true(end != 387 && (end - rows[i].bits) % 8 == 0);
            assert_true(is_within((end - rows[i].bits) / 8, 7, 16));
            lengths[(end - rows[i].bits) / 8]++;
            for (size_t at = rows[i].bits; at < end; at += 8) {
                values[ue_bits_load(d.bytes, d.size, at, 8)] = true;
            }
        }
        for (size_t bytes = 8; bytes <= 16; bytes++) {
            bool is_avoided = rows[i].version < 3 && rows[i].bits + bytes * 8 == 387;
            bool is_replacement = rows[i].version < 3 && rows[i].bits + (bytes + 1) * 8 == 387;
            assert_true(is_within(lengths[bytes],
                                  is_avoided       ? 0
                                  : is_replacement ? 1800
                                                   : 850,
                                  is_avoided       ? 0
                                  : is_replacement ? 2200
                                                   : 1150));
        }
        assert_true(values[0] && values[254] && !values[255]);
        listener_fixture_free(&fixture);
    }
}

static void versions_are_negotiated(void **state) {
    static const struct {
        struct ue_handshake_versions own;
        struct ue_handshake_versions client;
        uint8_t reply;
        enum ue_handshake_type type; /* of the reply: Challenge, VersionUpgrade, or unknown for none */
    } rows[] = {
        {{3, 4}, {3, 4}, 4, UE_HANDSHAKE_CHALLENGE},       {{3, 4}, {3, 3}, 3, UE_HANDSHAKE_CHALLENGE},
        {{3, 4}, {4, 4}, 4, UE_HANDSHAKE_CHALLENGE},       {{3, 4}, {3, 9}, 4, UE_HANDSHAKE_CHALLENGE},
        {{3, 4}, {4, 255}, 4, UE_HANDSHAKE_CHALLENGE},     {{3, 4}, {5, 5}, 4, UE_HANDSHAKE_VERSION_UPGRADE},
        {{3, 4}, {2, 4}, 4, UE_HANDSHAKE_VERSION_UPGRADE}, {{3, 4}, {0, 4}, 4, UE_HANDSHAKE_VERSION_UPGRADE},
        {{3, 4}, {5, 4}, 4, UE_HANDSHAKE_VERSION_UPGRADE}, {{3, 4}, {1, 3}, 0, UE_HANDSHAKE_TYPE_UNKNOWN},
        {{3, 4}, {4, 3}, 0, UE_HANDSHAKE_TYPE_UNKNOWN},    {{4, 4}, {3, 3}, 0, UE_HANDSHAKE_TYPE_UNKNOWN},
        {{4, 4}, {3, 4}, 4, UE_HANDSHAKE_VERSION_UPGRADE}, {{3, 3}, {3, 4}, 3, UE_HANDSHAKE_CHALLENGE},
        {{3, 3}, {4, 4}, 0, UE_HANDSHAKE_TYPE_UNKNOWN},    {{1, 2}, {1, 2}, 2, UE_HANDSHAKE_CHALLENGE},
        {{1, 2}, {1, 1}, 1, UE_HANDSHAKE_CHALLENGE},       {{1, 1}, {1, 2}, 1, UE_HANDSHAKE_CHALLENGE},
        {{2, 2}, {1, 2}, 0, UE_HANDSHAKE_TYPE_UNKNOWN},    {{1, 4}, {1, 2}, 2, UE_HANDSHAKE_CHALLENGE},
        {{1, 4}, {1, 1}, 1, UE_HANDSHAKE_CHALLENGE},       {{1, 4}, {3, 3}, 3, UE_HANDSHAKE_CHALLENGE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct listener_fixture fixture;
        listener_fixture_init(
            &fixture, "5.4",
            (struct ue_listener_config){.min_version = rows[i].own.min, .max_version = rows[i].own.max});
        fixture.context.ids = rows[i].client.max >= 3;
        struct handshake_datagram initial =
            listener_encode_message(&fixture, (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL,
                                                                    .has_body = true,
                                                                    .min_version = rows[i].client.min,
                                                                    .version = rows[i].client.max,
                                                                    .sent_count = 77});
        bool is_answered = rows[i].type != UE_HANDSHAKE_TYPE_UNKNOWN;
        assert_int_equal(listener_receive(&fixture, &initial), is_answered ? UE_LISTENER_REPLY : UE_LISTENER_NOTHING);
        assert_int_equal(listener_counters(&fixture)->bad_versions, rows[i].type != UE_HANDSHAKE_CHALLENGE);
        if (is_answered) {
            struct ue_datagram reply = listener_read_reply(&fixture);
            assert_int_equal(reply.handshake.type, rows[i].type);
            assert_int_equal(reply.handshake.version, rows[i].reply);
            assert_int_equal(reply.handshake.min_version, rows[i].own.min);
            assert_int_equal(reply.handshake.sent_count, rows[i].type == UE_HANDSHAKE_CHALLENGE ? 77 : 0);
            assert_int_equal(reply.prefix.session_id, fixture.context.ids ? SESSION_ID : 0);
            assert_int_equal(reply.prefix.client_id, fixture.context.ids ? CLIENT_ID : 0);
        }
        listener_fixture_free(&fixture);
    }
}

static void an_enforced_network_version_refuses_others(void **state) {
    for (unsigned enforced = 0; enforced < 2; enforced++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, "5.4", (struct ue_listener_config){.enforce_network_version = enforced != 0});
        for (unsigned other = 0; other < 2; other++) {
            struct handshake_datagram initial =
                listener_encode_message(&fixture, (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL,
                                                                        .has_body = true,
                                                                        .min_version = 3,
                                                                        .version = 4,
                                                                        .network_version = NETWORK_VERSION + other});
            assert_int_equal(listener_receive(&fixture, &initial), UE_LISTENER_REPLY);
            assert_int_equal(listener_read_reply(&fixture).handshake.type,
                             enforced && other ? UE_HANDSHAKE_VERSION_UPGRADE : UE_HANDSHAKE_CHALLENGE);
        }
        listener_fixture_free(&fixture);
    }
}

static void version_upgrades_are_limited(void **state) {
    struct listener_fixture fixture;
    listener_fixture_init(&fixture, "5.8", (struct ue_listener_config){0});
    struct handshake_datagram initial = listener_encode_message(
        &fixture,
        (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL, .has_body = true, .min_version = 5, .version = 5});
    for (unsigned span = 0; span < 3; span++) {
        for (unsigned i = 0; i < 512; i++) {
            assert_int_equal(listener_receive(&fixture, &initial), UE_LISTENER_REPLY);
            assert_int_equal(listener_read_reply(&fixture).handshake.sent_count, (span * 512 + i) % 256);
        }
        assert_int_equal(listener_receive(&fixture, &initial), UE_LISTENER_NOTHING);
        fixture.now_ns += 300 * SECOND - 1;
        assert_int_equal(listener_receive(&fixture, &initial), UE_LISTENER_NOTHING);
        fixture.now_ns++;
    }
    assert_int_equal(listener_counters(&fixture)->upgrades, 3 * 512);
    assert_int_equal(listener_counters(&fixture)->bad_versions, 3 * 514);
    listener_fixture_free(&fixture);
}

static void a_response_is_accepted_for_forty_seconds(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct handshake_datagram response = listener_encode_response(&fixture, NULL);
        fixture.now_ns += 40 * SECOND - TICK;
        assert_int_equal(listener_receive(&fixture, &response), UE_LISTENER_ACCEPT);
        fixture.now_ns += TICK;
        assert_int_equal(listener_receive(&fixture, &response), UE_LISTENER_NOTHING);
        assert_int_equal(listener_counters(&fixture)->old_cookies, 1);
        listener_fixture_free(&fixture);
    }
}

static void a_response_is_accepted_from_its_address_only(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct ue_host other_address = host_from_text("198.51.100.7:7778");
        struct handshake_datagram response = listener_encode_response(&fixture, NULL);
        fixture.now_ns += TICK;
        assert_int_equal(listener_receive_from(&fixture, &other_address, &response), UE_LISTENER_NOTHING);
        assert_int_equal(fixture.reply_bytes, 0);
        assert_int_equal(listener_counters(&fixture)->bad_cookies, 1);
        assert_int_equal(listener_receive(&fixture, &response), UE_LISTENER_ACCEPT);
        listener_fixture_free(&fixture);
    }
}

static void the_ack_can_be_encoded_again(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct listener_fixture fixture;
        uint8_t again[UE_LISTENER_REPLY_BYTES];
        listener_fixture_init(&fixture, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct handshake_datagram response = listener_encode_response(&fixture, NULL);
        fixture.now_ns += TICK;
        assert_int_equal(listener_receive(&fixture, &response), UE_LISTENER_ACCEPT);
        struct ue_context other = fixture.context; /* the result of the accept says how the client reads */
        other.ids = !other.ids;
        other.features = !other.features;
        size_t size = ue_listener_ack(&other, &fixture.accepted, again);
        if (fixture.context.profile.handshake == UE_HANDSHAKE_A0) {
            assert_true(size == 0 && fixture.reply_bytes == 0);
        } else {
            struct ue_datagram first = listener_read_reply(&fixture);
            memcpy(fixture.reply, again, fixture.reply_bytes = size);
            struct ue_datagram second = listener_read_reply(&fixture);
            assert_true(first.handshake.type == UE_HANDSHAKE_ACK && second.handshake.type == UE_HANDSHAKE_ACK);
            first.handshake.random = second.handshake.random = (struct ue_view){0};
            assert_memory_equal(&first.handshake, &second.handshake, sizeof first.handshake);
            assert_int_equal(first.prefix.client_id, second.prefix.client_id);
        }
        listener_fixture_free(&fixture);
    }
}

static void a_restart_is_accepted_with_the_original_cookie(void **state) {
    static const uint8_t original[UE_COOKIE_BYTES] = {0x11, 0x22, 0x33};
    static const char *const releases[] = {"4.22", "4.25", "5.1", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, releases[i], (struct ue_listener_config){0});
        struct handshake_datagram response = listener_encode_response(&fixture, original);
        assert_int_equal(listener_receive(&fixture, &response), UE_LISTENER_ACCEPT);
        assert_true(fixture.accepted.restarted);
        assert_memory_equal(fixture.accepted.cookie, original, sizeof original);
        assert_true(fixture.accepted.sequences.server == 0 && fixture.accepted.sequences.client == 0);
        assert_int_equal(listener_counters(&fixture)->restarts, 1);
        listener_fixture_free(&fixture);
    }
}

static void packets_from_unknown_addresses_get_a_restart_request(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, ue_profile_at(row)->name, (struct ue_listener_config){.min_version = row % 2});
        enum ue_handshake_layout layout = fixture.context.profile.handshake;
        bool ids = layout == UE_HANDSHAKE_V;
        struct handshake_datagram packet = {{ids ? SESSION_ID | CLIENT_ID << 2 : 0, 0xaa, 0x55}, 3};
        bool is_answered = layout >= UE_HANDSHAKE_B;
        assert_int_equal(listener_receive(&fixture, &packet), is_answered ? UE_LISTENER_REPLY : UE_LISTENER_NOTHING);
        assert_int_equal(listener_counters(&fixture)->restart_requests, is_answered);
        if (ids) {
            struct ue_datagram reply = listener_read_reply(&fixture);
            assert_int_equal(reply.handshake.type, UE_HANDSHAKE_RESTART_REQUEST);
            assert_int_equal(reply.handshake.version, 3); /* the lowest accepted version with ids */
            assert_int_equal(reply.prefix.client_id, CLIENT_ID);
            size_t least = fixture.context.features ? 20 : 18;
            assert_true(is_within(fixture.reply_bytes, least, least + 8));
            packet.bytes[0] ^= 2;
            assert_int_equal(listener_receive(&fixture, &packet), UE_LISTENER_NOTHING);
            assert_int_equal(listener_counters(&fixture)->wrong_session, 1);
            packet.bytes[0] ^= 2;
        } else if (is_answered) {
            assert_hex(fixture.reply, fixture.reply_bytes, "07");
        }
        assert_int_equal(ue_listener_receive(fixture.listener, fixture.now_ns, &fixture.client_address, false,
                                             packet.bytes, packet.size, fixture.reply, &fixture.reply_bytes,
                                             &fixture.accepted),
                         UE_LISTENER_NOTHING); /* a recently closed connection */
        listener_fixture_free(&fixture);
    }
}

static void a_response_with_another_session_id_is_refused(void **state) {
    static const uint8_t original[UE_COOKIE_BYTES] = {0x11};
    for (unsigned restarts = 0; restarts < 2; restarts++) {
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, "5.1", (struct ue_listener_config){0});
        struct handshake_datagram response = listener_encode_response(&fixture, restarts ? original : NULL);
        response.bytes[0] ^= 3;
        assert_int_equal(listener_receive(&fixture, &response), UE_LISTENER_NOTHING);
        assert_int_equal(fixture.reply_bytes, 0);
        assert_int_equal(listener_counters(&fixture)->wrong_session, 1);
        response.bytes[0] ^= 3;
        assert_int_equal(listener_receive(&fixture, &response), UE_LISTENER_ACCEPT);
        assert_int_equal(listener_read_reply(&fixture).handshake.type, UE_HANDSHAKE_ACK);
        listener_fixture_free(&fixture);
    }
}

static void messages_that_no_client_sends_are_dropped(void **state) {
    static const struct {
        const char *release;
        const char *text;
    } rows[] = {
        {"4.25", ""},
        {"4.25", "00"},
        {"4.25", "0000000000"},
        {"5.1", "01"},
        {"5.1", "20"},
        {"4.25", "07"},
        {"4.18", "030000fe7a70ebc56ec37595eb84c973082249f0cd10699806"}, /* a restart request, then an Ack */
        {"4.25", "05000000000080fff5e0d68bdd86eb2ad70993e7104492e09b21d2300d"},
        {"5.1",
         "a6808181000558abee000000000000f0bf1edc7ab1db705de53a61f21c8248127c33441aa60000000000000000000000000001"},
        {"5.4", "b501020303a2199188008050ff5cee250fdfaa72dc7c5bc0f7"}, /* VersionUpgrade */
        {"5.4", "f501020202a21991880000f8f0b0d71b7cb6dc83439c61b8"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct listener_fixture fixture;
        struct handshake_datagram d;
        listener_fixture_init(&fixture, rows[i].release, (struct ue_listener_config){0});
        d.size = hex_read(rows[i].text, d.bytes, sizeof d.bytes);
        assert_int_equal(listener_receive(&fixture, &d), UE_LISTENER_NOTHING);
        assert_int_equal(listener_counters(&fixture)->malformed, 1);
        listener_fixture_free(&fixture);
    }
}

/* Versioned messages have separate fields for type, restart bit and timestamp, which may contradict each other. */
static void contradictory_messages_are_dropped(void **state) {
    const uint64_t one = UINT64_C(0x3ff0000000000000), minus_one = UINT64_C(0xbff0000000000000);
    const struct ue_handshake rows[] = {
        {.type = UE_HANDSHAKE_INITIAL, .timestamp = one},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = 0},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = minus_one},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = one, .restart = true},
        {.type = UE_HANDSHAKE_RESTART_RESPONSE, .timestamp = one, .has_orig_cookie = true},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = one, .min_version = 5, .version = 5}}; /* no VersionUpgrade */
    struct listener_fixture fixture;
    listener_fixture_init(&fixture, "5.4", (struct ue_listener_config){0});
    for (size_t i = 0; i < 6; i++) {
        struct ue_handshake h = rows[i];
        h.has_body = true;
        struct handshake_datagram d = listener_encode_message(&fixture, h);
        assert_int_equal(listener_receive(&fixture, &d), UE_LISTENER_NOTHING);
        assert_int_equal(listener_counters(&fixture)->malformed + listener_counters(&fixture)->bad_versions, i + 1);
    }
    assert_int_equal(listener_counters(&fixture)->bad_versions, 1);
    listener_fixture_free(&fixture);
}

static void a_verified_magic_header_must_match(void **state) {
    for (unsigned verify = 0; verify < 2; verify++) {
        struct ue_settings settings = {.magic_bits = 4, .magic = 0xf7};
        struct listener_fixture fixture;
        listener_fixture_init(&fixture, "4.26",
                              (struct ue_listener_config){.settings = settings, .verify_magic = verify != 0});
        struct handshake_datagram initial = listener_encode_initial(&fixture);
        assert_int_equal(listener_receive(&fixture, &initial), UE_LISTENER_REPLY);
        initial.bytes[0] ^= 8;
        assert_int_equal(listener_receive(&fixture, &initial), verify ? UE_LISTENER_NOTHING : UE_LISTENER_REPLY);
        assert_int_equal(listener_counters(&fixture)->malformed, verify);
        listener_fixture_free(&fixture);
    }
}

static void wrappers_longer_than_the_reply_buffer_get_no_reply(void **state) {
    struct listener_fixture fixture;
    uint8_t bytes[200 + 29] = {0};
    bytes[200] = 1;
    bytes[228] = 8;
    listener_fixture_init(&fixture, "4.25", (struct ue_listener_config){.settings = {.skip_bytes = 200}});
    assert_int_equal(ue_listener_receive(fixture.listener, fixture.now_ns, &fixture.client_address, true, bytes,
                                         sizeof bytes, fixture.reply, &fixture.reply_bytes, &fixture.accepted),
                     UE_LISTENER_NOTHING);
    assert_true(listener_counters(&fixture)->initials == 1 && fixture.reply_bytes == 0);
    listener_fixture_free(&fixture);
}

static void a_listener_needs_a_profile_and_memory(void **state) {
    struct counting_allocator memory;
    counting_allocator_init(&memory, SIZE_MAX);
    assert_null(ue_listener_new(&memory.allocator, &(struct ue_listener_config){0}, 0));
    memory.limit_bytes = 64;
    assert_null(ue_listener_new(&memory.allocator, &(struct ue_listener_config){.profile = ue_profile_at(0)}, 0));
    assert_int_equal(memory.used_bytes, 0);
    ue_listener_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tails_are_never_mistaken_for_older_layouts),
        cmocka_unit_test(versions_are_negotiated),
        cmocka_unit_test(an_enforced_network_version_refuses_others),
        cmocka_unit_test(version_upgrades_are_limited),
        cmocka_unit_test(a_response_is_accepted_for_forty_seconds),
        cmocka_unit_test(a_response_is_accepted_from_its_address_only),
        cmocka_unit_test(the_ack_can_be_encoded_again),
        cmocka_unit_test(a_restart_is_accepted_with_the_original_cookie),
        cmocka_unit_test(packets_from_unknown_addresses_get_a_restart_request),
        cmocka_unit_test(a_response_with_another_session_id_is_refused),
        cmocka_unit_test(messages_that_no_client_sends_are_dropped),
        cmocka_unit_test(contradictory_messages_are_dropped),
        cmocka_unit_test(a_verified_magic_header_must_match),
        cmocka_unit_test(wrappers_longer_than_the_reply_buffer_get_no_reply),
        cmocka_unit_test(a_listener_needs_a_profile_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

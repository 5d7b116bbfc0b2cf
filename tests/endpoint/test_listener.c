/* SPDX-License-Identifier: MIT */
/* The stateless side of the handshake: what it answers, what it refuses, and that nothing makes it grow
   (endpoint.md 21.1). Clients here are only datagrams; test_shake.c has whole ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/codec.h>
#include <uerudp/listener.h>
#include "tests/support/guarded.h"
#include "tests/support/rng.h"
#include "tests/support/within.h"

#define SECOND UINT64_C(1000000000)
#define TICK (SECOND / 256) /* sums of it are exact as seconds, too */
#define START (UINT64_C(300) * SECOND)
#define NETWORK_VERSION 0xdd56b00a
#define SESSION_ID 1
#define CLIENT_ID 6

struct hall {
    _Alignas(8) uint8_t region[65536];
    struct ue_pool *pool;
    struct ue_listener *listener;
    struct ue_context context; /* as a client speaks */
    struct ue_random random;
    struct ue_host home;
    uint64_t now_ns;
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    size_t reply_bytes;
    struct ue_accepted accepted;
};

struct datagram {
    uint8_t bytes[UE_HANDSHAKE_DATAGRAM_BYTES];
    size_t size;
};

static struct ue_host host_of(const char *text) {
    struct ue_host host = {.size_bytes = (uint8_t)strlen(text)};
    memcpy(host.text, text, host.size_bytes);
    return host;
}

/* Members that are zero in the configuration are the test's usual ones. */
static void open_hall(struct hall *hall, const char *release, struct ue_listener_config config) {
    config.profile = ue_profile_find(release);
    config.network_version = NETWORK_VERSION;
    config.network_features = 1;
    config.session_id = SESSION_ID;
    memset(hall, 0, sizeof *hall);
    hall->now_ns = START;
    hall->home = host_of("198.51.100.7:7777");
    hall->pool = ue_pool_init(hall->region, sizeof hall->region);
    hall->listener = ue_listener_new(hall->pool, &config, START - TICK);
    assert_non_null(hall->listener);
    ue_context_init(&hall->context, config.profile, &config.settings);
    hall->context.direction = UE_CLIENT_TO_SERVER;
    ue_random_init(&hall->random, NULL);
}

static void close_hall(struct hall *hall) {
    ue_listener_free(hall->listener);
    assert_int_equal(ue_pool_used_bytes(hall->pool), 0);
}

static const struct ue_listener_counters *counters(const struct hall *hall) {
    return ue_listener_counters(hall->listener);
}

/* A message with members as given and the usual rest. */
static struct datagram say(struct hall *hall, struct ue_handshake h) {
    struct ue_datagram message = {.prefix = {.session_id = SESSION_ID, .client_id = CLIENT_ID}, .handshake = h};
    struct datagram d;
    if (h.version == 0) {
        message.handshake.version = hall->context.features ? 4 : 3;
        message.handshake.min_version = 3;
        message.handshake.network_version = NETWORK_VERSION;
    }
    d.size = ue_handshake_datagram_write(&hall->context, &message, &hall->random, d.bytes, sizeof d.bytes);
    assert_int_not_equal(d.size, 0);
    return d;
}

static struct datagram say_initial(struct hall *hall) {
    return say(hall, (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL, .has_body = true});
}

static enum ue_listener_result hear_from(struct hall *hall, const struct ue_host *from, const struct datagram *d) {
    return ue_listener_receive(hall->listener, hall->now_ns, from, true, d->bytes, d->size, hall->reply,
                               &hall->reply_bytes, &hall->accepted);
}

static enum ue_listener_result hear(struct hall *hall, const struct datagram *d) {
    return hear_from(hall, &hall->home, d);
}

static struct ue_datagram read_reply(const struct hall *hall) {
    struct ue_datagram message;
    struct ue_context x = hall->context;
    x.direction = UE_SERVER_TO_CLIENT;
    assert_true(ue_handshake_datagram_read(&x, hall->reply, hall->reply_bytes, &message));
    return message;
}

/* The Response to a Challenge that is asked for now; with an original cookie, a RestartResponse. */
static struct datagram say_response(struct hall *hall, const uint8_t *orig_cookie) {
    struct datagram initial = say_initial(hall);
    assert_int_equal(hear(hall, &initial), UE_LISTENER_REPLY);
    struct ue_handshake challenge = read_reply(hall).handshake;
    struct ue_handshake h = {.type = UE_HANDSHAKE_RESPONSE, .has_body = true};
    assert_int_equal(challenge.type, UE_HANDSHAKE_CHALLENGE);
    h.secret_id = challenge.secret_id;
    h.timestamp = challenge.timestamp;
    memcpy(h.cookie, challenge.cookie, sizeof h.cookie);
    if (orig_cookie != NULL) {
        h.type = UE_HANDSHAKE_RESTART_RESPONSE;
        h.restart = true;
        h.has_orig_cookie = true;
        memcpy(h.orig_cookie, orig_cookie, sizeof h.orig_cookie);
    }
    return say(hall, h);
}

/* 8 to 16 bytes of 0 to 254, each length as likely; without ids never the 387 bits of an older layout's message. */
static void tails_are_random_but_not_mistakable(void **state) {
    (void)state;
    static const struct {
        const char *release;
        uint8_t version;
        size_t bits; /* of an Initial before its tail, ids included (protocol.md 5.4) */
    } rows[] = {{"5.1", 1, 259}, {"5.1", 2, 291}, {"5.4", 1, 259}, {"5.4", 2, 307}, {"5.1", 3, 296}, {"5.4", 4, 312}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hall hall;
        unsigned lengths[17] = {0};
        bool values[256] = {false};
        open_hall(&hall, rows[i].release, (struct ue_listener_config){0});
        hall.context.ids = rows[i].version >= 3;
        for (unsigned n = 0; n < 9000; n++) {
            size_t end = 0;
            struct datagram d =
                say(&hall,
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
            bool is_stand_in = rows[i].version < 3 && rows[i].bits + (bytes + 1) * 8 == 387;
            assert_true(is_within(lengths[bytes],
                                  is_avoided    ? 0
                                  : is_stand_in ? 1800
                                                : 850,
                                  is_avoided    ? 0
                                  : is_stand_in ? 2200
                                                : 1150));
        }
        assert_true(values[0] && values[254] && !values[255]);
        close_hall(&hall);
    }
}

static void versions_are_negotiated(void **state) {
    (void)state;
    static const struct {
        struct ue_handshake_versions own;
        struct ue_handshake_versions client;
        uint8_t reply;
        enum ue_handshake_type type; /* of the reply: Challenge, VersionUpgrade, or unknown: none */
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
        struct hall hall;
        open_hall(&hall, "5.4",
                  (struct ue_listener_config){.min_version = rows[i].own.min, .max_version = rows[i].own.max});
        hall.context.ids = rows[i].client.max >= 3;
        struct datagram initial = say(&hall, (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL,
                                                                   .has_body = true,
                                                                   .min_version = rows[i].client.min,
                                                                   .version = rows[i].client.max,
                                                                   .sent_count = 77});
        bool is_answered = rows[i].type != UE_HANDSHAKE_TYPE_UNKNOWN;
        assert_int_equal(hear(&hall, &initial), is_answered ? UE_LISTENER_REPLY : UE_LISTENER_NOTHING);
        assert_int_equal(counters(&hall)->bad_versions, rows[i].type != UE_HANDSHAKE_CHALLENGE);
        if (is_answered) {
            struct ue_datagram reply = read_reply(&hall);
            assert_int_equal(reply.handshake.type, rows[i].type);
            assert_int_equal(reply.handshake.version, rows[i].reply);
            assert_int_equal(reply.handshake.min_version, rows[i].own.min);
            assert_int_equal(reply.handshake.sent_count, rows[i].type == UE_HANDSHAKE_CHALLENGE ? 77 : 0);
            assert_int_equal(reply.prefix.session_id, hall.context.ids ? SESSION_ID : 0);
            assert_int_equal(reply.prefix.client_id, hall.context.ids ? CLIENT_ID : 0);
        }
        close_hall(&hall);
    }
}

static void a_network_version_may_be_enforced(void **state) {
    (void)state;
    for (unsigned enforced = 0; enforced < 2; enforced++) {
        struct hall hall;
        open_hall(&hall, "5.4", (struct ue_listener_config){.enforce_network_version = enforced != 0});
        for (unsigned other = 0; other < 2; other++) {
            struct datagram initial = say(&hall, (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL,
                                                                       .has_body = true,
                                                                       .min_version = 3,
                                                                       .version = 4,
                                                                       .network_version = NETWORK_VERSION + other});
            assert_int_equal(hear(&hall, &initial), UE_LISTENER_REPLY);
            assert_int_equal(read_reply(&hall).handshake.type,
                             enforced && other ? UE_HANDSHAKE_VERSION_UPGRADE : UE_HANDSHAKE_CHALLENGE);
        }
        close_hall(&hall);
    }
}

static void upgrades_are_rationed(void **state) {
    (void)state;
    struct hall hall;
    open_hall(&hall, "5.8", (struct ue_listener_config){0});
    struct datagram initial = say(
        &hall, (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL, .has_body = true, .min_version = 5, .version = 5});
    for (unsigned span = 0; span < 3; span++) {
        for (unsigned i = 0; i < 512; i++) {
            assert_int_equal(hear(&hall, &initial), UE_LISTENER_REPLY);
            assert_int_equal(read_reply(&hall).handshake.sent_count, (span * 512 + i) % 256);
        }
        assert_int_equal(hear(&hall, &initial), UE_LISTENER_NOTHING);
        hall.now_ns += 300 * SECOND - 1;
        assert_int_equal(hear(&hall, &initial), UE_LISTENER_NOTHING);
        hall.now_ns++;
    }
    assert_int_equal(counters(&hall)->upgrades, 3 * 512);
    assert_int_equal(counters(&hall)->bad_versions, 3 * 514);
    close_hall(&hall);
}

static void a_cookie_is_taken_for_forty_seconds(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct hall hall;
        open_hall(&hall, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct datagram response = say_response(&hall, NULL);
        hall.now_ns += 40 * SECOND - TICK;
        assert_int_equal(hear(&hall, &response), UE_LISTENER_ACCEPT);
        hall.now_ns += TICK;
        assert_int_equal(hear(&hall, &response), UE_LISTENER_NOTHING);
        assert_int_equal(counters(&hall)->old_cookies, 1);
        close_hall(&hall);
    }
}

static void a_cookie_is_taken_from_its_address_only(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct hall hall;
        open_hall(&hall, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct ue_host thief = host_of("198.51.100.7:7778");
        struct datagram response = say_response(&hall, NULL);
        hall.now_ns += TICK;
        assert_int_equal(hear_from(&hall, &thief, &response), UE_LISTENER_NOTHING);
        assert_int_equal(hall.reply_bytes, 0);
        assert_int_equal(counters(&hall)->bad_cookies, 1);
        assert_int_equal(hear(&hall, &response), UE_LISTENER_ACCEPT);
        close_hall(&hall);
    }
}

static void an_ack_can_be_had_again(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct hall hall;
        uint8_t again[UE_LISTENER_REPLY_BYTES];
        open_hall(&hall, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct datagram response = say_response(&hall, NULL);
        hall.now_ns += TICK;
        assert_int_equal(hear(&hall, &response), UE_LISTENER_ACCEPT);
        struct ue_context other = hall.context; /* what was accepted says how the client reads */
        other.ids = !other.ids;
        other.features = !other.features;
        size_t size = ue_listener_ack(&other, &hall.accepted, again);
        if (hall.context.profile.handshake == UE_HANDSHAKE_A0) {
            assert_true(size == 0 && hall.reply_bytes == 0);
        } else {
            struct ue_datagram first = read_reply(&hall);
            memcpy(hall.reply, again, hall.reply_bytes = size);
            struct ue_datagram second = read_reply(&hall);
            assert_true(first.handshake.type == UE_HANDSHAKE_ACK && second.handshake.type == UE_HANDSHAKE_ACK);
            first.handshake.random = second.handshake.random = (struct ue_view){0};
            assert_memory_equal(&first.handshake, &second.handshake, sizeof first.handshake);
            assert_int_equal(first.prefix.client_id, second.prefix.client_id);
        }
        close_hall(&hall);
    }
}

static void a_restart_counts_for_the_original_cookie(void **state) {
    (void)state;
    static const uint8_t original[UE_COOKIE_BYTES] = {0x11, 0x22, 0x33};
    static const char *const releases[] = {"4.22", "4.25", "5.1", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        struct hall hall;
        open_hall(&hall, releases[i], (struct ue_listener_config){0});
        struct datagram response = say_response(&hall, original);
        assert_int_equal(hear(&hall, &response), UE_LISTENER_ACCEPT);
        assert_true(hall.accepted.restarted);
        assert_memory_equal(hall.accepted.cookie, original, sizeof original);
        assert_true(hall.accepted.sequences.server == 0 && hall.accepted.sequences.client == 0);
        assert_int_equal(counters(&hall)->restarts, 1);
        close_hall(&hall);
    }
}

static void ordinary_packets_ask_for_a_restart(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct hall hall;
        open_hall(&hall, ue_profile_at(row)->name, (struct ue_listener_config){.min_version = row % 2});
        enum ue_handshake_layout layout = hall.context.profile.handshake;
        bool ids = layout == UE_HANDSHAKE_V;
        struct datagram packet = {{ids ? SESSION_ID | CLIENT_ID << 2 : 0, 0xaa, 0x55}, 3};
        bool is_answered = layout >= UE_HANDSHAKE_B;
        assert_int_equal(hear(&hall, &packet), is_answered ? UE_LISTENER_REPLY : UE_LISTENER_NOTHING);
        assert_int_equal(counters(&hall)->restart_requests, is_answered);
        if (ids) {
            struct ue_datagram reply = read_reply(&hall);
            assert_int_equal(reply.handshake.type, UE_HANDSHAKE_RESTART_REQUEST);
            assert_int_equal(reply.handshake.version, 3); /* the lowest with ids that it accepts */
            assert_int_equal(reply.prefix.client_id, CLIENT_ID);
            size_t least = hall.context.features ? 20 : 18;
            assert_true(is_within(hall.reply_bytes, least, least + 8));
            packet.bytes[0] ^= 2;
            assert_int_equal(hear(&hall, &packet), UE_LISTENER_NOTHING);
            assert_int_equal(counters(&hall)->wrong_session, 1);
            packet.bytes[0] ^= 2;
        } else if (is_answered) {
            assert_hex(hall.reply, hall.reply_bytes, "07");
        }
        assert_int_equal(ue_listener_receive(hall.listener, hall.now_ns, &hall.home, false, packet.bytes, packet.size,
                                             hall.reply, &hall.reply_bytes, &hall.accepted),
                         UE_LISTENER_NOTHING); /* a client that left just now */
        close_hall(&hall);
    }
}

static void a_response_must_name_the_session(void **state) {
    (void)state;
    struct hall hall;
    open_hall(&hall, "5.1", (struct ue_listener_config){0});
    struct datagram response = say_response(&hall, NULL);
    response.bytes[0] ^= 3;
    assert_int_equal(hear(&hall, &response), UE_LISTENER_NOTHING);
    assert_int_equal(counters(&hall)->wrong_session, 1);
    response.bytes[0] ^= 3;
    assert_int_equal(hear(&hall, &response), UE_LISTENER_ACCEPT);
    close_hall(&hall);
}

static void what_clients_do_not_say_is_dropped(void **state) {
    (void)state;
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
        {"4.18", "030000fe7a70ebc56ec37595eb84c973082249f0cd10699806"}, /* restart request, Ack */
        {"4.25", "05000000000080fff5e0d68bdd86eb2ad70993e7104492e09b21d2300d"},
        {"5.1",
         "a6808181000558abee000000000000f0bf1edc7ab1db705de53a61f21c8248127c33441aa60000000000000000000000000001"},
        {"5.4", "b501020303a2199188008050ff5cee250fdfaa72dc7c5bc0f7"}, /* VersionUpgrade */
        {"5.4", "f501020202a21991880000f8f0b0d71b7cb6dc83439c61b8"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hall hall;
        struct datagram d;
        open_hall(&hall, rows[i].release, (struct ue_listener_config){0});
        d.size = hex_read(rows[i].text, d.bytes, sizeof d.bytes);
        assert_int_equal(hear(&hall, &d), UE_LISTENER_NOTHING);
        assert_int_equal(counters(&hall)->malformed, 1);
        close_hall(&hall);
    }
}

/* Type, restart bit and timestamp are apart in versioned messages. */
static void contradictions_are_dropped(void **state) {
    (void)state;
    const uint64_t one = UINT64_C(0x3ff0000000000000), minus_one = UINT64_C(0xbff0000000000000);
    const struct ue_handshake rows[] = {
        {.type = UE_HANDSHAKE_INITIAL, .timestamp = one},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = 0},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = minus_one},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = one, .restart = true},
        {.type = UE_HANDSHAKE_RESTART_RESPONSE, .timestamp = one, .has_orig_cookie = true},
        {.type = UE_HANDSHAKE_RESPONSE, .timestamp = one, .min_version = 5, .version = 5}}; /* no VersionUpgrade */
    struct hall hall;
    open_hall(&hall, "5.4", (struct ue_listener_config){0});
    for (size_t i = 0; i < 6; i++) {
        struct ue_handshake h = rows[i];
        h.has_body = true;
        struct datagram d = say(&hall, h);
        assert_int_equal(hear(&hall, &d), UE_LISTENER_NOTHING);
        assert_int_equal(counters(&hall)->malformed + counters(&hall)->bad_versions, i + 1);
    }
    assert_int_equal(counters(&hall)->bad_versions, 1);
    close_hall(&hall);
}

static void a_magic_header_may_be_verified(void **state) {
    (void)state;
    for (unsigned verify = 0; verify < 2; verify++) {
        struct ue_settings settings = {.magic_bits = 4, .magic = 0xf7};
        struct hall hall;
        open_hall(&hall, "4.26", (struct ue_listener_config){.settings = settings, .verify_magic = verify != 0});
        struct datagram initial = say_initial(&hall);
        assert_int_equal(hear(&hall, &initial), UE_LISTENER_REPLY);
        initial.bytes[0] ^= 8;
        assert_int_equal(hear(&hall, &initial), verify ? UE_LISTENER_NOTHING : UE_LISTENER_REPLY);
        assert_int_equal(counters(&hall)->malformed, verify);
        close_hall(&hall);
    }
}

static void wrappers_beyond_the_room_get_no_reply(void **state) {
    (void)state;
    struct hall hall;
    uint8_t bytes[200 + 29] = {0};
    bytes[200] = 1;
    bytes[228] = 8;
    open_hall(&hall, "4.25", (struct ue_listener_config){.settings = {.skip_bytes = 200}});
    assert_int_equal(ue_listener_receive(hall.listener, hall.now_ns, &hall.home, true, bytes, sizeof bytes, hall.reply,
                                         &hall.reply_bytes, &hall.accepted),
                     UE_LISTENER_NOTHING);
    assert_true(counters(&hall)->initials == 1 && hall.reply_bytes == 0);
    close_hall(&hall);
}

static void a_listener_needs_a_profile_and_room(void **state) {
    (void)state;
    _Alignas(8) static uint8_t region[65536];
    struct ue_pool *pool = ue_pool_init(region, sizeof region);
    assert_null(ue_listener_new(pool, &(struct ue_listener_config){0}, 0));
    struct ue_share rest;
    ue_share_init(&rest, pool, SIZE_MAX);
    size_t block_bytes = sizeof region;
    while (block_bytes > 64) { /* until hardly anything is left */
        block_bytes = ue_share_alloc(&rest, block_bytes) != NULL ? block_bytes : block_bytes / 2;
    }
    size_t used = ue_pool_used_bytes(pool);
    assert_null(ue_listener_new(pool, &(struct ue_listener_config){.profile = ue_profile_at(0)}, 0));
    assert_int_equal(ue_pool_used_bytes(pool), used);
    ue_listener_free(NULL);
}

/* ---- hostile ---- */

static void mutate(struct rng *rng, struct datagram *d) {
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

static void make_noise(struct rng *rng, struct datagram *d) {
    d->size = rng_below(rng, sizeof d->bytes + 1);
    rng_fill(rng, d->bytes, d->size);
}

/* A million datagrams from addresses that never proved themselves: cookies of others, changed or not, and noise. */
static void nothing_hostile_is_accepted(void **state) {
    (void)state;
    static const uint8_t original[UE_COOKIE_BYTES] = {1};
    struct rng rng = rng_seeded("nothing_hostile_is_accepted");
    struct guarded guarded = guarded_new(UE_HANDSHAKE_DATAGRAM_BYTES);
    uint64_t rounds = rng_rounds(1000000) / UE_PROFILE_COUNT + 1;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct hall hall;
        open_hall(&hall, ue_profile_at(row)->name, (struct ue_listener_config){.min_version = row % 2 ? 1 : 0});
        bool restarts = hall.context.profile.handshake >= UE_HANDSHAKE_B;
        struct datagram models[3] = {say_initial(&hall), say_response(&hall, NULL),
                                     say_response(&hall, restarts ? original : NULL)};
        const size_t used = ue_pool_used_bytes(hall.pool);
        for (uint64_t i = 0; i < rounds; i++) {
            char text[] = "203.0.113.1:000000";
            struct ue_host stranger = host_of(text);
            struct datagram d = models[i % 3];
            memcpy(stranger.text + 12, &(uint32_t){(uint32_t)i}, sizeof(uint32_t));
            hall.now_ns += rng_below(&rng, SECOND / 10000);
            if (i % 4 == 3) {
                make_noise(&rng, &d);
            }
            mutate(&rng, &d);
            enum ue_listener_result result =
                ue_listener_receive(hall.listener, hall.now_ns, &stranger, true, guarded_put(&guarded, d.bytes, d.size),
                                    d.size, hall.reply, &hall.reply_bytes, &hall.accepted);
            assert_int_not_equal(result, UE_LISTENER_ACCEPT);
            assert_true((result == UE_LISTENER_REPLY) == (hall.reply_bytes != 0));
            assert_int_equal(ue_pool_used_bytes(hall.pool), used);
        }
        assert_true(counters(&hall)->bad_cookies > rounds / 100 && counters(&hall)->malformed > rounds / 100);
        assert_int_equal(hear(&hall, &models[0]), UE_LISTENER_REPLY); /* and it is as well as ever */
        close_hall(&hall);
    }
    guarded_free(&guarded);
}

/* The same for a client that waits for the Ack: what it says to all that is always a handshake message. */
static void noise_does_not_confuse_a_client(void **state) {
    (void)state;
    struct rng rng = rng_seeded("noise_does_not_confuse_a_client");
    struct guarded guarded = guarded_new(UE_HANDSHAKE_DATAGRAM_BYTES);
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct hall hall;
        open_hall(&hall, ue_profile_at(row)->name, (struct ue_listener_config){0});
        struct ue_client_handshake fresh;
        ue_client_handshake_init(&fresh, &hall.context, &(struct ue_conn_config){.client_id = CLIENT_ID}, &hall.random);
        ue_client_handshake_start(&fresh, hall.now_ns);
        struct datagram models[2];
        models[1] = say_response(&hall, NULL);
        memcpy(models[0].bytes, hall.reply, models[0].size = hall.reply_bytes);
        hall.now_ns += TICK;
        hear(&hall, &models[1]);
        memcpy(models[1].bytes, hall.reply, models[1].size = hall.reply_bytes);
        struct ue_client_handshake client = fresh;
        unsigned connected = 0;
        for (uint64_t i = 0; i < rng_rounds(20000); i++) {
            struct datagram d = models[i % 2];
            if (i % 4 == 3) {
                make_noise(&rng, &d);
            }
            mutate(&rng, &d);
            connected += ue_client_handshake_receive(&client, hall.now_ns, guarded_put(&guarded, d.bytes, d.size),
                                                     d.size, hall.now_ns) == UE_CLIENT_HANDSHAKE_CONNECTED;
            struct datagram said;
            struct ue_decode_result verdict;
            said.size = ue_client_handshake_pop(&client, said.bytes);
            if (said.size != 0) {
                assert_int_equal(ue_datagram_check(&client.context, said.bytes, said.size, NULL, &verdict), UE_OK);
                assert_true(verdict.is_handshake);
            }
            client = i % 8 == 7 ? fresh : client;
        }
        assert_true(connected > 100); /* some arrive unharmed */
        close_hall(&hall);
    }
    guarded_free(&guarded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_random_but_not_mistakable),
        cmocka_unit_test(versions_are_negotiated),
        cmocka_unit_test(a_network_version_may_be_enforced),
        cmocka_unit_test(upgrades_are_rationed),
        cmocka_unit_test(a_cookie_is_taken_for_forty_seconds),
        cmocka_unit_test(a_cookie_is_taken_from_its_address_only),
        cmocka_unit_test(an_ack_can_be_had_again),
        cmocka_unit_test(a_restart_counts_for_the_original_cookie),
        cmocka_unit_test(ordinary_packets_ask_for_a_restart),
        cmocka_unit_test(a_response_must_name_the_session),
        cmocka_unit_test(what_clients_do_not_say_is_dropped),
        cmocka_unit_test(contradictions_are_dropped),
        cmocka_unit_test(a_magic_header_may_be_verified),
        cmocka_unit_test(wrappers_beyond_the_room_get_no_reply),
        cmocka_unit_test(a_listener_needs_a_profile_and_room),
        cmocka_unit_test(nothing_hostile_is_accepted),
        cmocka_unit_test(noise_does_not_confuse_a_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

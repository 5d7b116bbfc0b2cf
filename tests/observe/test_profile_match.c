/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/protocol_proof.h>
#include "tests/support/guarded.h"
#include "tests/support/rng.h"

#define STOCK (&(const struct ue_settings){0})

/* ---- building handshakes ---- */

struct made {
    uint8_t bytes[128];
    size_t size;
};

static void set_body(const struct ue_context *x, double seconds, uint8_t fill, struct ue_handshake *h) {
    h->has_body = true;
    h->secret_id = seconds == 0 ? 0 : 1;
    h->timestamp = ue_handshake_timestamp_bits(x, seconds);
    memset(h->cookie, fill, sizeof h->cookie);
}

static struct made encode(const struct ue_context *x, const struct ue_handshake *h) {
    struct made made;
    struct ue_fault fault;
    struct ue_datagram d = {.prefix.is_handshake = true, .handshake = *h};
    assert_int_equal(ue_datagram_encode(x, &d, made.bytes, sizeof made.bytes, &made.size, &fault), UE_OK);
    return made;
}

/* A message of a release; the random tail of the versioned layout has the given bits. */
static struct made make(const char *release, enum ue_handshake_type type, enum ue_direction direction, double seconds,
                        uint8_t fill) {
    static const uint8_t tail[16] = {7, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), NULL);
    x.direction = direction;
    struct ue_handshake h = {.type = type};
    if (type != UE_HANDSHAKE_RESTART_REQUEST && type != UE_HANDSHAKE_VERSION_UPGRADE) {
        set_body(&x, seconds, fill, &h);
    }
    h.restart = type == UE_HANDSHAKE_RESTART_REQUEST || type == UE_HANDSHAKE_RESTART_RESPONSE;
    if (type == UE_HANDSHAKE_RESTART_RESPONSE) {
        h.has_orig_cookie = true;
        memset(h.orig_cookie, fill + 1, sizeof h.orig_cookie);
    }
    if (x.profile.handshake == UE_HANDSHAKE_V) {
        h.min_version = 3;
        h.version = x.features ? 4 : 3;
        h.network_version = 0xdd56b00a;
        h.random = (struct ue_view){tail, 0, 80};
    }
    return encode(&x, &h);
}

static struct ue_handshake_match detect(const struct made *made) {
    struct ue_handshake_match match;
    assert_true(ue_profile_match_handshake(STOCK, made->bytes, made->size, &match));
    return match;
}

static unsigned row_of(const char *release) {
    return 1u << ue_profile_index(ue_profile_find(release));
}

/* ---- one handshake ---- */

static void every_message_of_every_layout_is_recognised(void **state) {
    static const char *const releases[] = {"4.18", "4.22", "4.25", "5.1", "5.4", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        for (int type = UE_HANDSHAKE_INITIAL; type <= UE_HANDSHAKE_VERSION_UPGRADE; type++) {
            bool versioned = i >= 3;
            bool restarts = type == UE_HANDSHAKE_RESTART_REQUEST || type == UE_HANDSHAKE_RESTART_RESPONSE;
            if ((type == UE_HANDSHAKE_VERSION_UPGRADE && !versioned) || (restarts && i == 0)) {
                continue;
            }
            bool from_client =
                type == UE_HANDSHAKE_INITIAL || type == UE_HANDSHAKE_RESPONSE || type == UE_HANDSHAKE_RESTART_RESPONSE;
            enum ue_direction direction = from_client ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
            double seconds = type == UE_HANDSHAKE_INITIAL ? 0 : type == UE_HANDSHAKE_ACK ? -1.0 : 1234.5;
            struct made made = make(releases[i], (enum ue_handshake_type)type, direction, seconds,
                                    type == UE_HANDSHAKE_INITIAL ? 0 : 0x5c);
            struct ue_handshake_match match = detect(&made);
            bool ambiguous = !versioned && (type == UE_HANDSHAKE_CHALLENGE || type == UE_HANDSHAKE_RESPONSE);
            assert_int_equal(match.type, ambiguous ? UE_HANDSHAKE_TYPE_UNKNOWN : type);
            assert_int_equal(match.direction, ambiguous ? UE_DIRECTION_UNKNOWN : direction);
            assert_true((match.profiles & row_of(releases[i])) != 0);
            assert_int_equal(match.ids, versioned);
            assert_int_equal(match.has_orig_cookie, type == UE_HANDSHAKE_RESTART_RESPONSE);
            assert_int_equal(match.restart, restarts);
        }
    }
}

static void the_layout_tells_the_generations(void **state) {
    struct made made = make("4.22", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0);
    assert_int_equal(detect(&made).profiles, row_of("4.22") | row_of("4.24"));
    made = make("5.0", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0);
    assert_int_equal(detect(&made).profiles, row_of("4.25"));
    made = make("4.18", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0);
    assert_true((detect(&made).profiles & row_of("4.13")) != 0);
    made = make("4.18", UE_HANDSHAKE_ACK, UE_SERVER_TO_CLIENT, -1.0, 9);
    assert_true((detect(&made).profiles & (row_of("4.13") | row_of("4.14"))) == 0); /* these releases send no Ack */
    made = make("5.1", UE_HANDSHAKE_ACK, UE_SERVER_TO_CLIENT, -1.0, 9);
    assert_int_equal(detect(&made).profiles, row_of("5.1"));
    made = make("5.4", UE_HANDSHAKE_ACK, UE_SERVER_TO_CLIENT, -1.0, 9);
    assert_int_equal(detect(&made).profiles, row_of("5.4") | row_of("5.5") | row_of("5.8"));
}

/* Sixteen bits into a Challenge without features, another timestamp can be plausible by chance (one cookie in about a
   hundred). Then the Challenge is ambiguous, and the version number decides (protocol.md 17.1). */
static void two_plausible_timestamps_leave_the_features_open(void **state) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find("5.1"), NULL);
    static const uint8_t tail[16] = {200, 100, 50};
    struct ue_handshake h = {.type = UE_HANDSHAKE_CHALLENGE, .min_version = 3, .version = 3, .network_version = 1};
    set_body(&x, 77.25, 0x33, &h);
    h.random = (struct ue_view){tail, 0, 96};
    h.cookie[0] = 0x53; /* read 16 bits later: an exponent near 2^6 */
    h.cookie[1] = 0x40;
    struct made made = encode(&x, &h);
    struct ue_handshake_match match = detect(&made);
    assert_int_equal(match.features, UE_FEATURES_UNDECIDED);
    assert_int_equal(match.assumed, row_of("5.1"));
}

static void an_initial_with_an_empty_tail_leaves_the_features_open(void **state) {
    static const uint8_t zeros[16];
    struct ue_context x;
    ue_context_init(&x, ue_profile_find("5.1"), NULL);
    struct ue_handshake h = {.min_version = 3, .version = 3, .network_version = 1};
    set_body(&x, 0, 0, &h);
    h.random = (struct ue_view){zeros, 0, 88};
    struct made made = encode(&x, &h);
    assert_int_equal(detect(&made).features, UE_FEATURES_UNDECIDED);
    assert_int_equal(detect(&made).assumed, row_of("5.1"));
    h.version = 4;
    made = encode(&x, &h);
    assert_int_equal(detect(&made).assumed, row_of("5.4") | row_of("5.5") | row_of("5.8"));
}

static void implausible_contents_are_no_handshake(void **state) {
    struct ue_handshake_match match;
    struct made made = make("4.25", UE_HANDSHAKE_CHALLENGE, UE_SERVER_TO_CLIENT, 5e8, 1);
    assert_false(ue_profile_match_handshake(STOCK, made.bytes, made.size, &match));
    made = make("4.25", UE_HANDSHAKE_CHALLENGE, UE_SERVER_TO_CLIENT, 1e-30, 1);
    assert_false(ue_profile_match_handshake(STOCK, made.bytes, made.size, &match));
    made = make("4.25", UE_HANDSHAKE_ACK, UE_SERVER_TO_CLIENT, -2.0, 1);
    assert_false(ue_profile_match_handshake(STOCK, made.bytes, made.size, &match));
    made = make("4.25", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 1); /* a cookie already */
    assert_false(ue_profile_match_handshake(STOCK, made.bytes, made.size, &match));
    /* A packet that passes the tests of size and version (protocol.md 17.1). */
    uint8_t bytes[16];
    size_t size = hex_read("7c8181018082018001", bytes, sizeof bytes);
    assert_false(ue_profile_match_handshake(STOCK, bytes, size, &match));
    assert_false(ue_profile_match_handshake(STOCK, bytes, 0, &match));
}

/* Datagrams are rejected by length only above the longest message, a restart response of 76 bytes. */
static void only_longer_datagrams_are_too_long(void **state) {
    const struct ue_settings wrapped = {.magic_bits = 16, .skip_bytes = 8};
    assert_false(ue_profile_match_is_too_long(STOCK, 76));
    assert_true(ue_profile_match_is_too_long(STOCK, 77));
    assert_false(ue_profile_match_is_too_long(&wrapped, 86));
    assert_true(ue_profile_match_is_too_long(&wrapped, 87));
}

/* Also for callers that do not test the length before. */
static void longer_datagrams_are_no_handshake(void **state) {
    static const struct {
        const char *release;
        enum ue_handshake_type type;
    } rows[] = {{"5.8", UE_HANDSHAKE_RESTART_RESPONSE}, {"5.1", UE_HANDSHAKE_CHALLENGE}, {"4.25", UE_HANDSHAKE_ACK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double seconds = rows[i].type == UE_HANDSHAKE_ACK ? -1.0 : 77.25;
        struct made made = make(rows[i].release, rows[i].type, UE_SERVER_TO_CLIENT, seconds, 0x33);
        uint8_t bytes[600] = {0};
        struct ue_handshake_match match;
        memcpy(bytes, made.bytes, made.size);
        assert_true(ue_profile_match_handshake(STOCK, bytes, made.size, &match));
        for (size_t size = 77; size <= sizeof bytes; size++) {
            bytes[size - 1] = made.bytes[made.size - 1]; /* as many bits in the last byte */
            assert_false(ue_profile_match_handshake(STOCK, bytes, size, &match));
        }
    }
}

static void magic_header_and_wrapper_are_skipped(void **state) {
    struct ue_settings settings = {.magic_bits = 12, .skip_bytes = 8};
    struct ue_context x;
    struct made made;
    struct ue_fault fault;
    struct ue_handshake_match match;
    const uint8_t wrapper[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ue_context_init(&x, ue_profile_find("4.25"), &settings);
    struct ue_datagram d = {.prefix = {.wrapper = {wrapper, 0, 64}, .magic = 0xabc, .is_handshake = true},
                            .handshake = {.type = UE_HANDSHAKE_INITIAL, .has_body = true}};
    assert_int_equal(ue_datagram_encode(&x, &d, made.bytes, sizeof made.bytes, &made.size, &fault), UE_OK);
    assert_true(ue_profile_match_handshake(&settings, made.bytes, made.size, &match));
    assert_int_equal(match.type, UE_HANDSHAKE_INITIAL);
    assert_false(ue_profile_match_handshake(STOCK, made.bytes, made.size, &match));
}

/* ---- proof ---- */

static bool feed(struct ue_protocol_proof *binding, unsigned side, struct made made) {
    struct ue_handshake_match match = detect(&made);
    return ue_protocol_proof_add_handshake(binding, side, &match);
}

static const char *const bound_releases[] = {"4.13", "4.18", "4.22", "4.25", "5.1", "5.4", "5.5", "5.8"};
#define BOUND_RELEASES (sizeof bound_releases / sizeof *bound_releases)

static void an_initial_that_is_answered_binds(void **state) {
    for (size_t i = 0; i < BOUND_RELEASES; i++) {
        struct made initial = make(bound_releases[i], UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0);
        struct made challenge = make(bound_releases[i], UE_HANDSHAKE_CHALLENGE, UE_SERVER_TO_CLIENT, 10, 3);
        struct made response = make(bound_releases[i], UE_HANDSHAKE_RESPONSE, UE_CLIENT_TO_SERVER, 10, 3);
        struct ue_protocol_proof binding = {0};
        assert_false(feed(&binding, 0, initial));
        assert_true(feed(&binding, 1, challenge));
        binding = (struct ue_protocol_proof){0};
        assert_false(feed(&binding, 0, initial));
        assert_true(feed(&binding, 0, response)); /* a capture of one direction */
    }
}

static void an_answer_of_another_form_does_not_bind(void **state) {
    struct ue_protocol_proof binding = {0};
    assert_false(feed(&binding, 0, make("4.25", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0)));
    assert_false(feed(&binding, 1, make("5.4", UE_HANDSHAKE_CHALLENGE, UE_SERVER_TO_CLIENT, 10, 3)));
    assert_false(feed(&binding, 1, make("4.18", UE_HANDSHAKE_CHALLENGE, UE_SERVER_TO_CLIENT, 10, 4)));
}

/* A client repeats its Initial each second until the server answers. */
static void three_initials_bind(void **state) {
    struct made initial = make("4.18", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0);
    struct ue_protocol_proof binding = {0};
    assert_false(feed(&binding, 1, initial));
    assert_false(feed(&binding, 1, initial));
    assert_true(feed(&binding, 1, initial));
    binding = (struct ue_protocol_proof){0};
    for (unsigned i = 0; i < 10; i++) {
        assert_false(feed(&binding, i % 2, initial)); /* servers send no Initial */
    }
}

static void two_packets_after_an_initial_bind(void **state) {
    static const char hello[] = "8000b57801000000fe6f02e0e2ff0250002060a60f931100000060"; /* as a 5.0 client sends it */
    uint8_t bytes[64];
    size_t size = hex_read(hello, bytes, sizeof bytes);
    struct ue_protocol_proof binding = {0};
    assert_false(ue_protocol_proof_needs_packets(&binding));
    assert_false(feed(&binding, 0, make("4.25", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0)));
    assert_true(ue_protocol_proof_needs_packets(&binding));
    assert_false(ue_protocol_proof_add_packet(&binding, STOCK, 0, bytes, size));
    assert_true(ue_protocol_proof_add_packet(&binding, STOCK, 0, bytes, size));
}

static void other_packets_after_an_initial_do_not_bind(void **state) {
    struct rng rng = rng_seeded("packets");
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[64];
        struct ue_protocol_proof binding = {0};
        feed(&binding, 0, make("4.25", UE_HANDSHAKE_INITIAL, UE_CLIENT_TO_SERVER, 0, 0));
        unsigned fed = 0;
        for (; ue_protocol_proof_needs_packets(&binding); fed++) {
            rng_fill(&rng, bytes, sizeof bytes);
            assert_false(
                ue_protocol_proof_add_packet(&binding, STOCK, fed % 2, bytes, 1 + rng_below(&rng, sizeof bytes)));
        }
        assert_int_equal(fed, UE_PROTOCOL_PROOF_DATAGRAMS_MAX);
    }
}

/* Up to 5.0 Challenge and Response have the same bytes, like request and answer of an echo server. */
static void an_echo_does_not_bind_and_what_follows_it_does(void **state) {
    for (size_t i = 1; i < BOUND_RELEASES; i++) { /* 4.13 sends no Ack */
        struct made challenge = make(bound_releases[i], UE_HANDSHAKE_CHALLENGE, UE_SERVER_TO_CLIENT, 10, 3);
        struct made response = make(bound_releases[i], UE_HANDSHAKE_RESPONSE, UE_CLIENT_TO_SERVER, 10, 3);
        struct made ack = make(bound_releases[i], UE_HANDSHAKE_ACK, UE_SERVER_TO_CLIENT, -1.0, 3);
        struct ue_protocol_proof binding = {0};
        bool is_echo = challenge.size == response.size && memcmp(challenge.bytes, response.bytes, challenge.size) == 0;
        for (int k = 0; k < 5; k++) {
            assert_false(feed(&binding, 1, challenge));
            assert_false(feed(&binding, 0, challenge));
        }
        binding = (struct ue_protocol_proof){0};
        assert_false(feed(&binding, 1, challenge));
        assert_int_equal(feed(&binding, 0, response), !is_echo);
        assert_true(feed(&binding, 1, ack));
    }
}

static void two_messages_with_one_cookie_bind(void **state) {
    struct made challenge = make("4.25", UE_HANDSHAKE_CHALLENGE, UE_SERVER_TO_CLIENT, 10, 3);
    struct made moved = make("4.25", UE_HANDSHAKE_RESTART_RESPONSE, UE_CLIENT_TO_SERVER, 10, 3);
    struct made other = make("4.25", UE_HANDSHAKE_RESTART_RESPONSE, UE_CLIENT_TO_SERVER, 10, 4);
    struct made ack = make("4.25", UE_HANDSHAKE_ACK, UE_SERVER_TO_CLIENT, -1.0, 3);
    struct ue_protocol_proof binding = {0};
    assert_false(feed(&binding, 1, challenge));
    assert_false(feed(&binding, 1, challenge)); /* sent again */
    assert_true(feed(&binding, 0, moved));
    binding = (struct ue_protocol_proof){0};
    assert_false(feed(&binding, 1, challenge));
    assert_false(feed(&binding, 0, other));
    binding = (struct ue_protocol_proof){0};
    assert_false(feed(&binding, 1, challenge));
    assert_true(feed(&binding, 1, ack));
    binding = (struct ue_protocol_proof){0};
    assert_false(feed(&binding, 1, ack)); /* nothing before it */
    assert_false(feed(&binding, 1, ack));
}

/* An Initial of the versioned layout with the restart bit that ends after its versions. */
static void a_message_without_body_never_binds(void **state) {
    uint8_t bytes[32];
    size_t size = hex_read("ff810700b635288c612b45e963e50e96c6d1cc5b9665b1149a", bytes, sizeof bytes);
    struct ue_handshake_match match;
    struct ue_protocol_proof binding = {0};
    for (unsigned i = 0; i < 10; i++) {
        assert_true(ue_profile_match_handshake(STOCK, bytes, size, &match));
        assert_int_equal(match.type, UE_HANDSHAKE_INITIAL);
        assert_false(match.has_body);
        assert_false(ue_protocol_proof_add_handshake(&binding, i % 3 == 0, &match));
        assert_false(ue_protocol_proof_needs_packets(&binding));
    }
}

static void a_restart_request_never_binds(void **state) {
    struct ue_protocol_proof binding = {0};
    struct made request = make("4.25", UE_HANDSHAKE_RESTART_REQUEST, UE_SERVER_TO_CLIENT, 0, 0);
    assert_int_equal(request.size, 1);
    for (unsigned i = 0; i < 10; i++) {
        assert_false(feed(&binding, i % 2, request));
        assert_false(feed(&binding, i % 2, make("5.4", UE_HANDSHAKE_RESTART_REQUEST, UE_SERVER_TO_CLIENT, 0, 0)));
    }
}

/* ---- foreign datagrams ---- */

static bool binds(struct ue_protocol_proof *binding, unsigned side, const uint8_t *bytes, size_t size) {
    struct ue_handshake_match match;
    return ue_profile_match_handshake(STOCK, bytes, size, &match) &&
           ue_protocol_proof_add_handshake(binding, side, &match);
}

static void random_payloads_never_bind(void **state) {
    struct rng rng = rng_seeded("foreign");
    static uint8_t bytes[1400];
    struct ue_protocol_proof binding = {0};
    uint64_t payloads = 0;
    for (; payloads < 1000000; payloads++) {
        size_t size = 1 + rng_below(&rng, 1400);
        if (payloads % 64 == 0) {
            binding = (struct ue_protocol_proof){0}; /* the next conversation */
            rng_fill(&rng, bytes, sizeof bytes);
        }
        rng_fill(&rng, bytes, size < 80 ? size : 80);
        rng_fill(&rng, bytes + size - 1, 1);
        assert_false(binds(&binding, (unsigned)rng_below(&rng, 2), bytes, size));
    }
    printf("%u random payloads, none bound\n", (unsigned)payloads);
}

/* First bytes of protocols on the same ports, with random or zero bodies, from both sides in turn. */
static void foreign_protocols_never_bind(void **state) {
    static const char *const heads[] = {
        "000100002112a442",         /* STUN binding request */
        "010100002112a442",         /* STUN answer */
        "123401000001000000000000", /* DNS query */
        "123481800001000100000000", /* DNS answer */
        "8060000100000001deadbeef", /* RTP */
        "80c80006deadbeef",         /* RTCP */
        "c3000000010843414241",     /* QUIC initial */
        "43a1b2c3d4e5f607",         /* QUIC short header */
        "16fefd0000000000000000",   /* DTLS handshake */
        "17fefd0001000000000001",   /* DTLS data */
        "8fff000000000001",         /* ENet */
        "0500ffff00fefefefe",       /* RakNet */
        "84000000",                 /* RakNet data */
        "e30000040000000000000000", /* NTP */
        "ffffffff54536f75726365",   /* Source query */
        "01000000",                 /* WireGuard */
        "00",
        "01",
        "03",
        "21",
        "3f",
        "ff",
    };
    struct rng rng = rng_seeded("protocols");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct ue_protocol_proof binding = {0};
        for (int k = 0; k < 20000; k++) {
            uint8_t bytes[200] = {0};
            size_t head = hex_read(heads[i], bytes, sizeof bytes);
            size_t size = head + rng_below(&rng, 100);
            if (k % 3 != 0) {
                rng_fill(&rng, bytes + head, size - head);
            }
            if (binds(&binding, (unsigned)k % 2, bytes, size)) {
                fail_msg("%s with %zu bytes binds", heads[i], size);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_of_every_layout_is_recognised),
        cmocka_unit_test(the_layout_tells_the_generations),
        cmocka_unit_test(two_plausible_timestamps_leave_the_features_open),
        cmocka_unit_test(an_initial_with_an_empty_tail_leaves_the_features_open),
        cmocka_unit_test(implausible_contents_are_no_handshake),
        cmocka_unit_test(only_longer_datagrams_are_too_long),
        cmocka_unit_test(longer_datagrams_are_no_handshake),
        cmocka_unit_test(magic_header_and_wrapper_are_skipped),
        cmocka_unit_test(an_initial_that_is_answered_binds),
        cmocka_unit_test(an_answer_of_another_form_does_not_bind),
        cmocka_unit_test(three_initials_bind),
        cmocka_unit_test(two_packets_after_an_initial_bind),
        cmocka_unit_test(other_packets_after_an_initial_do_not_bind),
        cmocka_unit_test(an_echo_does_not_bind_and_what_follows_it_does),
        cmocka_unit_test(two_messages_with_one_cookie_bind),
        cmocka_unit_test(a_message_without_body_never_binds),
        cmocka_unit_test(a_restart_request_never_binds),
        cmocka_unit_test(random_payloads_never_bind),
        cmocka_unit_test(foreign_protocols_never_bind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

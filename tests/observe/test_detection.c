/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/observe/detection_fixture.h"
#include "tests/support/recorder.h"

#define PACKETS 40

/* ---- protocol.md 17.2: a tie is possible, a wrong single result is not ---- */

struct kept {
    uint8_t bytes[PACKET_BYTES];
    size_t size;
    struct ue_decode_state frame;
};

/* With the final result every packet decodes and has a packet id that matches its sequence. */
static void assert_readable(const struct ue_detection *detection, const struct kept *kept, const char *release) {
    struct ue_context x;
    struct ue_decode_result result;
    int64_t id = -1;
    struct ue_trace callbacks = recorder_packet_id_sink(&id);
    ue_detection_context(detection, &kept->frame, &x);
    const struct ue_packet_ids packet_ids = ue_detection_packet_ids(detection, &kept->frame);
    ue_datagram_trace(&x, kept->bytes, kept->size, &packet_ids, &callbacks, &result);
    if (result.fault.status != UE_OK || id < 0 || (id & 16383) != result.seq) {
        fail_msg("%s read as %s: %s, id %" PRId64 ", seq %u", release, x.profile.name,
                 ue_status_text(result.fault.status), id, result.seq);
    }
}

static void assert_never_wrong(const char *release, const struct ue_settings *settings, int server_side,
                               uint64_t seed) {
    static struct kept kept[PACKETS];
    struct traffic t;
    struct ue_detection detection;
    traffic_init(&t, release, settings, seed);
    t.partials = seed % 2 != 0;
    ue_detection_init(&detection, STOCK, NULL, server_side);
    for (unsigned n = 0; n < PACKETS; n++) {
        unsigned side = (unsigned)rng_below(&t.rng, 2);
        kept[n].size = traffic_packet(&t, side, kept[n].bytes);
        kept[n].frame = traffic_feed(&detection, side, kept[n].bytes, kept[n].size);
        const struct ue_detection_result *result = ue_detection_result_of(&detection, &kept[n].frame);
        bool sure = result->reason == UE_DETECTION_REASON_ONLY_MATCH || result->reason == UE_DETECTION_REASON_HANDSHAKE;
        if (sure && n >= 5 && !is_candidate(result, release)) {
            fail_msg("%s taken for %s after %u packets, seed %" PRIu64, release, ue_profile_at(result->profile)->name,
                     n + 1, seed);
        }
        if (detection.server_side == (int)CLIENT) {
            fail_msg("%s: client taken for the server after %u packets, seed %" PRIu64, release, n + 1, seed);
        }
    }
    ue_detection_release(&detection);
    if (!is_candidate(&detection.result, release)) {
        fail_msg("%s ends as %s (%s), seed %" PRIu64, release, ue_profile_at(detection.result.profile)->name,
                 ue_detection_reason_text((enum ue_detection_reason)detection.result.reason), seed);
    }
    for (unsigned n = 0; n < PACKETS; n++) {
        assert_readable(&detection, &kept[n], release);
    }
}

static void generated_packets_give_no_wrong_answer(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            assert_never_wrong(ue_profile_at(row)->name, STOCK, seed % 3 == 0 ? -1 : (int)SERVER, seed);
        }
    }
}

/* The bound of the channel sequence that one game changed. */
static void a_changed_bound_is_found(void **state) {
    struct ue_settings changed = {.ch_seq_bound = 4096};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct traffic t;
        struct ue_detection detection;
        traffic_init(&t, "4.18", &changed, seed);
        ue_detection_init(&detection, STOCK, NULL, SERVER);
        for (unsigned n = 0; n < 40; n++) {
            traffic_feed_packet(&detection, &t, n % 2);
        }
        assert_int_equal(detection.result.reason, UE_DETECTION_REASON_VARIANT_MATCH);
        assert_true(is_candidate(&detection.result, "4.18"));
        struct ue_context x;
        struct ue_decode_state frame = traffic_feed_packet(&detection, &t, CLIENT);
        ue_detection_context(&detection, &frame, &x);
        assert_int_equal(x.ch_seq_bound, 4096);
    }
}

static void frame_times_tell_the_server(void **state) {
    struct traffic t;
    struct ue_detection detection;
    traffic_init(&t, "4.25", STOCK, 7);
    ue_detection_init(&detection, STOCK, NULL, -1);
    for (unsigned n = 0; n < 30; n++) {
        traffic_feed_packet(&detection, &t, n % 2);
    }
    assert_int_equal(detection.server_side, SERVER);
}

/* ---- handshakes ---- */

static void a_handshake_settles_what_it_can(void **state) {
    static const struct {
        const char *release;
        const char *chosen;
        bool certain;
    } rows[] = {{"4.22", "4.22", true}, {"4.25", "4.25", true}, {"5.0", "4.25", true},
                {"5.1", "5.1", true},   {"5.4", "5.4", false},  {"4.18", "4.18", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct traffic t;
        struct ue_detection detection;
        traffic_init(&t, rows[i].release, STOCK, 1);
        ue_detection_init(&detection, STOCK, NULL, -1);
        traffic_connect(&detection, &t, cookie_a);
        assert_int_equal(detection.server_side, SERVER);
        assert_string_equal(ue_profile_at(detection.result.profile)->name, rows[i].chosen);
        assert_int_equal(detection.result.reason == UE_DETECTION_REASON_HANDSHAKE, rows[i].certain);
        assert_false(detection.is_released); /* it does not show a game's own bounds; packets with bunches do */
        for (unsigned n = 0; rows[i].certain && !detection.is_released; n++) {
            assert_true(n < 8);
            traffic_feed_packet(&detection, &t, n % 2);
        }
    }
}

static void numbers_begin_with_the_cookie(void **state) {
    struct traffic t;
    struct ue_detection detection;
    traffic_init(&t, "4.25", STOCK, 2);
    ue_detection_init(&detection, STOCK, NULL, -1);
    traffic_connect(&detection, &t, cookie_a);
    struct ue_decode_state frame = traffic_feed_packet(&detection, &t, CLIENT);
    assert_true(frame.packet_ids.has_id && frame.packet_ids.packet_id == 12666); /* protocol.md 5.7 */
    assert_true(frame.packet_ids.has_acked_before && frame.packet_ids.acked_before == 7197);
    frame = traffic_feed_packet(&detection, &t, SERVER);
    assert_true(frame.packet_ids.packet_id == 7198);
    for (unsigned n = 1; n < 40000; n++) {
        frame = traffic_feed_packet(&detection, &t, CLIENT);
        assert_true(frame.packet_ids.packet_id == 12666 + (int64_t)n); /* across two wraps */
    }
}

static void a_new_initial_ends_the_connection(void **state) {
    struct traffic t;
    struct ue_detection detection;
    struct ue_handshake_match match;
    uint8_t bytes[PACKET_BYTES];
    traffic_init(&t, "5.4", STOCK, 3);
    ue_detection_init(&detection, STOCK, NULL, -1);
    size_t size = traffic_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes);
    assert_true(ue_profile_match_handshake(STOCK, bytes, size, &match));
    assert_false(ue_detection_is_new_connection(&detection, &match));
    traffic_connect(&detection, &t, cookie_a);
    assert_false(ue_detection_is_new_connection(&detection, &match)); /* retransmitted before anything else */
    traffic_feed_packet(&detection, &t, CLIENT);
    assert_true(ue_detection_is_new_connection(&detection, &match));
    match.restart = true;
    assert_false(ue_detection_is_new_connection(&detection, &match));
}

/* Address change: a packet, then a restart handshake on the new address (endpoint.md 5). The state of the connection
   applies to all of them. */
static void assert_restart_continues(const char *release) {
    struct traffic t;
    struct ue_detection old;
    struct ue_detection moved;
    uint8_t bytes[PACKET_BYTES];
    traffic_init(&t, release, STOCK, 4);
    ue_detection_init(&old, STOCK, NULL, -1);
    traffic_connect(&old, &t, cookie_a);
    for (unsigned n = 0; n < 50; n++) {
        traffic_feed_packet(&old, &t, n % 2);
    }
    int64_t last = old.sides[CLIENT].last_id;
    ue_detection_init(&moved, STOCK, NULL, -1);
    struct ue_decode_state first = traffic_feed_packet(&moved, &t, CLIENT);
    struct ue_decode_state request = traffic_feed(&moved, SERVER, bytes, traffic_restart_request(&t, bytes));
    traffic_feed(&moved, CLIENT, bytes,
                 traffic_handshake(&t, UE_HANDSHAKE_RESTART_RESPONSE, 9.5, cookie_b, cookie_a, bytes));
    ue_detection_adopt(&moved, &old);
    struct ue_decode_state ack =
        traffic_feed(&moved, SERVER, bytes, traffic_handshake(&t, UE_HANDSHAKE_ACK, -1.0, cookie_b, NULL, bytes));
    assert_true(ack.restarting);
    struct ue_decode_state frame = traffic_feed_packet(&moved, &t, CLIENT);
    assert_true(frame.packet_ids.packet_id == last + 2);
    assert_int_equal(moved.result.profile, old.result.profile);
    assert_int_equal(ue_detection_result_of(&moved, &first)->profile, old.result.profile);
    assert_int_equal(ue_detection_result_of(&moved, &request)->profile, old.result.profile);
}

static void a_restart_continues_the_connection(void **state) {
    static const char *const releases[] = {"4.22", "4.25", "5.1", "5.4", "5.5", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        assert_restart_continues(releases[i]);
    }
}

/* A result of the new address is discarded when the earlier connection becomes known. */
static void a_late_adoption_counts_for_what_was_held(void **state) {
    struct traffic t;
    struct ue_detection old;
    struct ue_detection moved;
    uint8_t bytes[PACKET_BYTES];
    traffic_init(&t, "5.5", STOCK, 4);
    ue_detection_init(&old, STOCK, ue_profile_find("5.5"), SERVER);
    ue_detection_init(&moved, STOCK, NULL, -1);
    struct ue_decode_state first = traffic_feed_packet(&moved, &t, CLIENT);
    ue_detection_release(&moved);
    traffic_feed(&moved, CLIENT, bytes,
                 traffic_handshake(&t, UE_HANDSHAKE_RESTART_RESPONSE, 9.5, cookie_b, cookie_a, bytes));
    ue_detection_adopt(&moved, &old);
    assert_string_equal(ue_profile_at(ue_detection_result_of(&moved, &first)->profile)->name, "5.5");
}

/* ---- held datagrams ---- */

static void datagrams_are_kept_until_the_detection(void **state) {
    struct traffic t;
    struct ue_detection detection;
    struct ue_decode_state first;
    struct ue_decode_state frame;
    traffic_init(&t, "5.1", STOCK, 5);
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    first = traffic_feed_packet(&detection, &t, CLIENT);
    assert_true(first.is_held);
    for (unsigned n = 1; n < UE_DETECTION_HELD_MAX; n++) {
        assert_false(detection.is_released);
        frame = traffic_feed_packet(&detection, &t, n % 2);
        assert_true(frame.is_held);
    }
    assert_true(detection.is_released); /* 5.1 and 5.4 always tie */
    frame = traffic_feed_packet(&detection, &t, CLIENT);
    assert_false(frame.is_held);
    assert_ptr_equal(ue_detection_result_of(&detection, &first), &detection.released);
    assert_string_equal(ue_profile_at(detection.released.profile)->name, "5.1");
    assert_int_equal(detection.released.reason, UE_DETECTION_REASON_OLDEST_MATCH);
}

/* Of packets without bunches all generations up to 4.21 match the same. The only bunch is of 4.20 and opens the control
   channel with a message that no engine sends, so that it is not plausible; the others cannot decode it. */
static void a_tie_is_settled_by_what_can_be_decoded(void **state) {
    const uint8_t bunch[] = {0x1e, 0x00, 0x13, 0x00, 0x01, 0x04, 0x06, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x0c};
    struct ue_detection detection;
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    for (uint8_t n = 1; n < UE_DETECTION_HELD_MAX; n++) {
        const uint8_t empty[] = {(uint8_t)(n << 1), 0x80, 0x01};
        const bool is_bunch = n == 15;
        traffic_feed(&detection, CLIENT, is_bunch ? bunch : empty, is_bunch ? sizeof bunch : sizeof empty);
    }
    assert_string_equal(ue_profile_at(detection.result.profile)->name, "4.20");
    assert_int_equal(detection.result.reason, UE_DETECTION_REASON_DECODING_MATCH);
    assert_true(is_candidate(&detection.result, "4.13")); /* a damaged packet would look the same */
}

/* Released as a tie of 5.1 to 5.5; the first partial bunch decides. Earlier decode states do not change. */
static void later_evidence_settles_a_tie(void **state) {
    struct traffic t;
    struct ue_detection detection;
    struct ue_decode_state first;
    traffic_init(&t, "5.5", STOCK, 6);
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    first = traffic_feed_packet(&detection, &t, CLIENT);
    for (unsigned n = 1; n < UE_DETECTION_HELD_MAX; n++) {
        traffic_feed_packet(&detection, &t, n % 2);
    }
    assert_true(is_candidate(&detection.result, "5.4") && is_candidate(&detection.result, "5.5"));
    t.partials = true;
    for (unsigned n = 0; n < 60; n++) {
        traffic_feed_packet(&detection, &t, n % 2);
    }
    assert_string_equal(ue_profile_at(detection.result.profile)->name, "5.5");
    assert_string_equal(ue_profile_at(ue_detection_result_of(&detection, &first)->profile)->name, "5.1");
}

static void a_given_generation_is_believed(void **state) {
    struct traffic t;
    struct ue_detection detection;
    traffic_init(&t, "5.5", STOCK, 8);
    ue_detection_init(&detection, STOCK, ue_profile_find("5.8"), SERVER);
    struct ue_decode_state frame = traffic_feed_packet(&detection, &t, CLIENT);
    assert_false(frame.is_held);
    assert_int_equal(frame.result.reason, UE_DETECTION_REASON_SETTING);
    assert_string_equal(ue_profile_at(frame.result.profile)->name, "5.8");
}

/* The prefix has ids by the generation, until a handshake shows that it has none. */
static void a_late_handshake_changes_how_packets_are_read(void **state) {
    struct traffic t;
    struct ue_detection detection;
    struct ue_context x;
    struct ue_decode_state frame;
    uint8_t bytes[PACKET_BYTES];
    traffic_init(&t, "5.1", STOCK, 9);
    ue_detection_init(&detection, STOCK, ue_profile_find("5.1"), SERVER);
    const struct ue_handshake_match without_ids = {.profiles = detection.possible, .type = UE_HANDSHAKE_CHALLENGE};
    for (unsigned n = 0; n < 2; n++) {
        frame = traffic_feed_packet(&detection, &t, CLIENT);
        ue_detection_context(&detection, &frame, &x);
        assert_int_equal(x.ids, n == 0);
        assert_int_equal(x.direction, UE_CLIENT_TO_SERVER);
        size_t size = traffic_handshake(&t, UE_HANDSHAKE_CHALLENGE, 3.5, cookie_a, NULL, bytes);
        ue_detection_feed(&detection, SERVER, bytes, size, &without_ids, &frame);
    }
}

static void random_datagrams_give_no_detection_result(void **state) {
    struct rng rng = rng_seeded("nonsense");
    struct ue_detection detection;
    struct ue_decode_state frame;
    ue_detection_init(&detection, STOCK, NULL, -1);
    for (unsigned n = 0; n < 100; n++) {
        uint8_t bytes[200];
        size_t size = 20 + rng_below(&rng, 180);
        rng_fill(&rng, bytes, size);
        bytes[0] &= 0xde; /* no handshake bit */
        ue_detection_feed(&detection, n % 2, bytes, size, NULL, &frame);
    }
    assert_int_equal(detection.result.reason, UE_DETECTION_REASON_CLOSEST);
    for (int i = 0; i < UE_DETECTION_REASON_COUNT; i++) {
        assert_string_not_equal(ue_detection_reason_text((enum ue_detection_reason)i), "unknown");
    }
    assert_string_equal(ue_detection_reason_text(UE_DETECTION_REASON_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_packets_give_no_wrong_answer),
        cmocka_unit_test(a_changed_bound_is_found),
        cmocka_unit_test(frame_times_tell_the_server),
        cmocka_unit_test(a_handshake_settles_what_it_can),
        cmocka_unit_test(numbers_begin_with_the_cookie),
        cmocka_unit_test(a_new_initial_ends_the_connection),
        cmocka_unit_test(a_restart_continues_the_connection),
        cmocka_unit_test(a_late_adoption_counts_for_what_was_held),
        cmocka_unit_test(datagrams_are_kept_until_the_detection),
        cmocka_unit_test(a_tie_is_settled_by_what_can_be_decoded),
        cmocka_unit_test(later_evidence_settles_a_tie),
        cmocka_unit_test(a_given_generation_is_believed),
        cmocka_unit_test(a_late_handshake_changes_how_packets_are_read),
        cmocka_unit_test(random_datagrams_give_no_detection_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/observe/detection_stage.h"

#define PACKETS 40

/* ---- protocol.md 17.2: ties perhaps, but never a wrong single answer ---- */

struct kept {
    uint8_t bytes[PACKET_BYTES];
    size_t size;
    struct ue_decode_state frame;
};

static void keep_id(void *user, const struct ue_record *record) {
    int64_t *id = user;
    if (record->field == UE_F_PACKET_ID) {
        *id = (int64_t)record->number;
    }
}

/* With the final verdict every packet decodes, and has a full number, which ends in the sequence on the wire. */
static void assert_readable(const struct ue_detection *flow, const struct kept *kept, const char *release) {
    struct ue_context x;
    struct ue_decode_result verdict;
    int64_t id = -1;
    struct ue_trace sink = {.field = keep_id, .user = &id};
    ue_detection_context(flow, &kept->frame, &x);
    const struct ue_packet_ids links = ue_detection_packet_ids(flow, &kept->frame);
    ue_datagram_trace(&x, kept->bytes, kept->size, &links, &sink, &verdict);
    if (verdict.fault.status != UE_OK || id < 0 || (id & 16383) != verdict.seq) {
        fail_msg("%s read as %s: %s, id %" PRId64 ", seq %u", release, x.profile.name,
                 ue_status_text(verdict.fault.status), id, verdict.seq);
    }
}

static void assert_never_wrong(const char *release, const struct ue_settings *settings, int server_side,
                               uint64_t seed) {
    static struct kept kept[PACKETS];
    struct talk t;
    struct ue_detection flow;
    talk_begin(&t, release, settings, seed);
    t.partials = seed % 2 != 0;
    ue_detection_init(&flow, STOCK, NULL, server_side);
    for (unsigned n = 0; n < PACKETS; n++) {
        unsigned side = (unsigned)rng_below(&t.rng, 2);
        kept[n].size = talk_packet(&t, side, kept[n].bytes);
        kept[n].frame = feed(&flow, side, kept[n].bytes, kept[n].size);
        const struct ue_detection_result *choice = ue_detection_result_of(&flow, &kept[n].frame);
        bool sure = choice->reason == UE_DETECTION_REASON_ONLY_MATCH || choice->reason == UE_DETECTION_REASON_HANDSHAKE;
        if (sure && n >= 5 && !is_candidate(choice, release)) {
            fail_msg("%s taken for %s after %u packets, seed %" PRIu64, release, ue_profile_at(choice->profile)->name,
                     n + 1, seed);
        }
        if (flow.server_side == (int)CLIENT) {
            fail_msg("%s: client taken for the server after %u packets, seed %" PRIu64, release, n + 1, seed);
        }
    }
    ue_detection_release(&flow);
    if (!is_candidate(&flow.choice, release)) {
        fail_msg("%s ends as %s (%s), seed %" PRIu64, release, ue_profile_at(flow.choice.profile)->name,
                 ue_detection_reason_text((enum ue_detection_reason)flow.choice.reason), seed);
    }
    for (unsigned n = 0; n < PACKETS; n++) {
        assert_readable(&flow, &kept[n], release);
    }
}

static void generated_packets_give_no_wrong_answer(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        for (uint64_t seed = 1; seed <= 12; seed++) {
            assert_never_wrong(ue_profile_at(row)->name, STOCK, seed % 3 == 0 ? -1 : (int)SERVER, seed);
        }
    }
}

/* The bound of the channel sequence that one game changed. */
static void a_changed_bound_is_found(void **state) {
    (void)state;
    struct ue_settings changed = {.ch_seq_bound = 4096};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct talk t;
        struct ue_detection flow;
        talk_begin(&t, "4.18", &changed, seed);
        ue_detection_init(&flow, STOCK, NULL, SERVER);
        for (unsigned n = 0; n < 40; n++) {
            feed_packet(&flow, &t, n % 2);
        }
        assert_int_equal(flow.choice.reason, UE_DETECTION_REASON_VARIANT_MATCH);
        assert_true(is_candidate(&flow.choice, "4.18"));
        struct ue_context x;
        struct ue_decode_state frame = feed_packet(&flow, &t, CLIENT);
        ue_detection_context(&flow, &frame, &x);
        assert_int_equal(x.ch_seq_bound, 4096);
    }
}

static void frame_times_tell_the_server(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection flow;
    talk_begin(&t, "4.25", STOCK, 7);
    ue_detection_init(&flow, STOCK, NULL, -1);
    for (unsigned n = 0; n < 30; n++) {
        feed_packet(&flow, &t, n % 2);
    }
    assert_int_equal(flow.server_side, SERVER);
}

/* ---- handshakes ---- */

static void a_handshake_settles_what_it_can(void **state) {
    (void)state;
    static const struct {
        const char *release;
        const char *chosen;
        bool certain;
    } rows[] = {{"4.22", "4.22", true}, {"4.25", "4.25", true}, {"5.0", "4.25", true},
                {"5.1", "5.1", true},   {"5.4", "5.4", false},  {"4.18", "4.18", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct talk t;
        struct ue_detection flow;
        talk_begin(&t, rows[i].release, STOCK, 1);
        ue_detection_init(&flow, STOCK, NULL, -1);
        shake_hands(&flow, &t, cookie_a);
        assert_int_equal(flow.server_side, SERVER);
        assert_string_equal(ue_profile_at(flow.choice.profile)->name, rows[i].chosen);
        assert_int_equal(flow.choice.reason == UE_DETECTION_REASON_HANDSHAKE, rows[i].certain);
        assert_false(flow.is_released); /* it says nothing of a game's own bounds, which packets with bunches do */
        for (unsigned n = 0; rows[i].certain && !flow.is_released; n++) {
            assert_true(n < 8);
            feed_packet(&flow, &t, n % 2);
        }
    }
}

static void numbers_begin_with_the_cookie(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection flow;
    talk_begin(&t, "4.25", STOCK, 2);
    ue_detection_init(&flow, STOCK, NULL, -1);
    shake_hands(&flow, &t, cookie_a);
    struct ue_decode_state frame = feed_packet(&flow, &t, CLIENT);
    assert_true(frame.links.has_id && frame.links.packet_id == 12666); /* protocol.md 5.7 */
    assert_true(frame.links.has_acked_before && frame.links.acked_before == 7197);
    frame = feed_packet(&flow, &t, SERVER);
    assert_true(frame.links.packet_id == 7198);
    for (unsigned n = 1; n < 40000; n++) {
        frame = feed_packet(&flow, &t, CLIENT);
        assert_true(frame.links.packet_id == 12666 + (int64_t)n); /* across two wraps */
    }
}

static void a_new_initial_ends_the_connection(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection flow;
    struct ue_handshake_match shape;
    uint8_t bytes[PACKET_BYTES];
    talk_begin(&t, "5.4", STOCK, 3);
    ue_detection_init(&flow, STOCK, NULL, -1);
    size_t size = talk_handshake(&t, UE_HANDSHAKE_INITIAL, 0, no_cookie, NULL, bytes);
    assert_true(ue_profile_match_handshake(STOCK, bytes, size, &shape));
    assert_false(ue_detection_is_new_connection(&flow, &shape));
    shake_hands(&flow, &t, cookie_a);
    assert_false(ue_detection_is_new_connection(&flow, &shape)); /* sent again before anything else */
    feed_packet(&flow, &t, CLIENT);
    assert_true(ue_detection_is_new_connection(&flow, &shape));
    shape.restart = true;
    assert_false(ue_detection_is_new_connection(&flow, &shape));
}

/* Address change: an ordinary packet, then a restart handshake on the new address (endpoint.md 21.4). What is known of
   the connection counts for all of them. */
static void assert_restart_continues(const char *release) {
    struct talk t;
    struct ue_detection old;
    struct ue_detection moved;
    uint8_t bytes[PACKET_BYTES];
    talk_begin(&t, release, STOCK, 4);
    ue_detection_init(&old, STOCK, NULL, -1);
    shake_hands(&old, &t, cookie_a);
    for (unsigned n = 0; n < 50; n++) {
        feed_packet(&old, &t, n % 2);
    }
    int64_t last = old.sides[CLIENT].last_id;
    ue_detection_init(&moved, STOCK, NULL, -1);
    struct ue_decode_state first = feed_packet(&moved, &t, CLIENT);
    struct ue_decode_state request = feed(&moved, SERVER, bytes, talk_restart_request(&t, bytes));
    feed(&moved, CLIENT, bytes, talk_handshake(&t, UE_HANDSHAKE_RESTART_RESPONSE, 9.5, cookie_b, cookie_a, bytes));
    ue_detection_adopt(&moved, &old);
    struct ue_decode_state ack =
        feed(&moved, SERVER, bytes, talk_handshake(&t, UE_HANDSHAKE_ACK, -1.0, cookie_b, NULL, bytes));
    assert_true(ack.restarting);
    struct ue_decode_state frame = feed_packet(&moved, &t, CLIENT);
    assert_true(frame.links.packet_id == last + 2);
    assert_int_equal(moved.choice.profile, old.choice.profile);
    assert_int_equal(ue_detection_result_of(&moved, &first)->profile, old.choice.profile);
    assert_int_equal(ue_detection_result_of(&moved, &request)->profile, old.choice.profile);
}

static void a_restart_continues_the_connection(void **state) {
    (void)state;
    static const char *const releases[] = {"4.22", "4.25", "5.1", "5.4", "5.5", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        assert_restart_continues(releases[i]);
    }
}

/* What the new address has settled before it was known where the connection comes from counts no more. */
static void a_late_adoption_counts_for_what_was_held(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection old;
    struct ue_detection moved;
    uint8_t bytes[PACKET_BYTES];
    talk_begin(&t, "5.5", STOCK, 4);
    ue_detection_init(&old, STOCK, ue_profile_find("5.5"), SERVER);
    ue_detection_init(&moved, STOCK, NULL, -1);
    struct ue_decode_state first = feed_packet(&moved, &t, CLIENT);
    ue_detection_release(&moved);
    feed(&moved, CLIENT, bytes, talk_handshake(&t, UE_HANDSHAKE_RESTART_RESPONSE, 9.5, cookie_b, cookie_a, bytes));
    ue_detection_adopt(&moved, &old);
    assert_string_equal(ue_profile_at(ue_detection_result_of(&moved, &first)->profile)->name, "5.5");
}

/* ---- holding back ---- */

static void datagrams_wait_for_the_verdict(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection flow;
    struct ue_decode_state first;
    struct ue_decode_state frame;
    talk_begin(&t, "5.1", STOCK, 5);
    ue_detection_init(&flow, STOCK, NULL, SERVER);
    first = feed_packet(&flow, &t, CLIENT);
    assert_true(first.held);
    for (unsigned n = 1; n < UE_DETECTION_HELD_MAX; n++) {
        assert_false(flow.is_released);
        frame = feed_packet(&flow, &t, n % 2);
        assert_true(frame.held);
    }
    assert_true(flow.is_released); /* 5.1 and 5.4 always tie */
    frame = feed_packet(&flow, &t, CLIENT);
    assert_false(frame.held);
    assert_ptr_equal(ue_detection_result_of(&flow, &first), &flow.released);
    assert_string_equal(ue_profile_at(flow.released.profile)->name, "5.1");
    assert_int_equal(flow.released.reason, UE_DETECTION_REASON_OLDEST_MATCH);
}

/* Released as a tie of 5.1 to 5.5; the first partial bunch tells. Earlier labels stay. */
static void later_evidence_settles_a_tie(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection flow;
    struct ue_decode_state first;
    talk_begin(&t, "5.5", STOCK, 6);
    ue_detection_init(&flow, STOCK, NULL, SERVER);
    first = feed_packet(&flow, &t, CLIENT);
    for (unsigned n = 1; n < UE_DETECTION_HELD_MAX; n++) {
        feed_packet(&flow, &t, n % 2);
    }
    assert_true(is_candidate(&flow.choice, "5.4") && is_candidate(&flow.choice, "5.5"));
    t.partials = true;
    for (unsigned n = 0; n < 60; n++) {
        feed_packet(&flow, &t, n % 2);
    }
    assert_string_equal(ue_profile_at(flow.choice.profile)->name, "5.5");
    assert_string_equal(ue_profile_at(ue_detection_result_of(&flow, &first)->profile)->name, "5.1");
}

static void a_given_generation_is_believed(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection flow;
    talk_begin(&t, "5.5", STOCK, 8);
    ue_detection_init(&flow, STOCK, ue_profile_find("5.8"), SERVER);
    struct ue_decode_state frame = feed_packet(&flow, &t, CLIENT);
    assert_false(frame.held);
    assert_int_equal(frame.choice.reason, UE_DETECTION_REASON_SETTING);
    assert_string_equal(ue_profile_at(frame.choice.profile)->name, "5.8");
}

/* Ids are believed because of the generation, until a handshake has none. */
static void a_late_handshake_changes_how_packets_are_read(void **state) {
    (void)state;
    struct talk t;
    struct ue_detection flow;
    struct ue_context x;
    struct ue_decode_state frame;
    uint8_t bytes[PACKET_BYTES];
    talk_begin(&t, "5.1", STOCK, 9);
    ue_detection_init(&flow, STOCK, ue_profile_find("5.1"), SERVER);
    const struct ue_handshake_match without_ids = {.profiles = flow.possible, .type = UE_HANDSHAKE_CHALLENGE};
    for (unsigned n = 0; n < 2; n++) {
        frame = feed_packet(&flow, &t, CLIENT);
        ue_detection_context(&flow, &frame, &x);
        assert_int_equal(x.ids, n == 0);
        assert_int_equal(x.direction, UE_CLIENT_TO_SERVER);
        size_t size = talk_handshake(&t, UE_HANDSHAKE_CHALLENGE, 3.5, cookie_a, NULL, bytes);
        ue_detection_feed(&flow, SERVER, bytes, size, &without_ids, &frame);
    }
}

static void nonsense_gives_no_verdict(void **state) {
    (void)state;
    struct rng rng = rng_seeded("nonsense");
    struct ue_detection flow;
    struct ue_decode_state frame;
    ue_detection_init(&flow, STOCK, NULL, -1);
    for (unsigned n = 0; n < 100; n++) {
        uint8_t bytes[200];
        size_t size = 20 + rng_below(&rng, 180);
        rng_fill(&rng, bytes, size);
        bytes[0] &= 0xde; /* no handshake bit */
        ue_detection_feed(&flow, n % 2, bytes, size, NULL, &frame);
    }
    assert_int_equal(flow.choice.reason, UE_DETECTION_REASON_CLOSEST);
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
        cmocka_unit_test(datagrams_wait_for_the_verdict),
        cmocka_unit_test(later_evidence_settles_a_tie),
        cmocka_unit_test(a_given_generation_is_believed),
        cmocka_unit_test(a_late_handshake_changes_how_packets_are_read),
        cmocka_unit_test(nonsense_gives_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

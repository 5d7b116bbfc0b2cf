/* SPDX-License-Identifier: MIT */
/* Changes of the detected generation after the release. */
#include "tests/observe/detection_fixture.h"

/* A packet of the conversation that by chance also matches another generation. */
static size_t packet_that_also_fits(struct traffic *t, unsigned side, const char *release, uint8_t *bytes) {
    struct ue_context other;
    struct ue_packet_match fit;
    ue_context_init(&other, ue_profile_find(release), &t->settings);
    other.direction = t->sides[side].x.direction;
    for (unsigned n = 0; n < 200000; n++) {
        uint16_t seq = t->sides[side].seq;
        size_t size = traffic_packet(t, side, bytes);
        ue_profile_match_packet(&other, bytes, size, &fit);
        if (fit.fits) {
            return size;
        }
        t->sides[side].seq = seq;
    }
    fail_msg("no packet of %s fits %s", t->profile->name, release);
    return 0;
}

/* Unreliable control bunches, which no engine sends, match no generation. */
static struct ue_decode_state feed_oddity(struct ue_detection *detection, struct traffic *t, unsigned side) {
    uint8_t bytes[PACKET_BYTES];
    struct ue_item item = {.bunch = {.channel = 0, .data = {bytes, 0, 8}}};
    struct ue_datagram d = {.items = &item, .item_count = 1};
    struct ue_fault fault;
    size_t size;
    traffic_header(t, side, &d.packet);
    memset(bytes, 0, sizeof bytes);
    uint8_t out[PACKET_BYTES];
    assert_int_equal(ue_datagram_encode(&t->sides[side].x, &d, out, sizeof out, &size, &fault), UE_OK);
    return traffic_feed(detection, side, out, size);
}

/* Some of the first 64 packets match nothing, so that no generation is certain. A packet that also matches an older
   generation, but with an implausible sequence, changes nothing. */
static void a_chance_match_far_from_the_detection_changes_nothing(void **state) {
    struct traffic t;
    struct ue_detection detection;
    uint8_t bytes[PACKET_BYTES];
    traffic_init(&t, "5.5", STOCK, 11);
    t.partials = true;
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    for (unsigned n = 0; n < UE_DETECTION_HELD_MAX; n++) {
        if (n % 8 == 0) {
            feed_oddity(&detection, &t, n % 2);
        } else {
            traffic_feed_packet(&detection, &t, n % 2);
        }
    }
    assert_int_equal(detection.result.reason, UE_DETECTION_REASON_MOST_MATCH);
    assert_string_equal(ue_profile_at(detection.result.profile)->name, "5.5");
    for (unsigned n = 0; n < 3000; n++) {
        struct ue_decode_state frame = traffic_feed_packet(&detection, &t, n % 2);
        assert_string_equal(ue_profile_at(frame.result.profile)->name, "5.5");
    }
    for (unsigned n = 0; n < 8; n++) {
        size_t size = packet_that_also_fits(&t, n % 2, "4.25", bytes);
        struct ue_decode_state frame = traffic_feed(&detection, n % 2, bytes, size);
        assert_string_equal(ue_profile_at(frame.result.profile)->name, "5.5");
    }
    assert_int_equal(detection.result.reason,
                     UE_DETECTION_REASON_ONLY_MATCH); /* all packets after the first 64 match */
}

/* Later packets contradict the result of the first ones: another connection of the same addresses, without a captured
   handshake. */
static void assert_contradiction_reopens(const char *first, const char *second) {
    struct traffic t;
    struct ue_detection detection;
    struct ue_decode_state frame;
    traffic_init(&t, first, STOCK, 12);
    t.partials = true;
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    for (unsigned n = 0; n < 100; n++) {
        frame = traffic_feed_packet(&detection, &t, n % 2);
    }
    assert_true(is_candidate(&frame.result, first));
    traffic_init(&t, second, STOCK, 13);
    t.partials = true;
    for (unsigned n = 0; n < 600; n++) {
        frame = traffic_feed_packet(&detection, &t, n % 2);
    }
    if (!is_candidate(&frame.result, second) || frame.result.reason == UE_DETECTION_REASON_CLOSEST) {
        fail_msg("%s, then %s: ends as %s (%s)", first, second, ue_profile_at(frame.result.profile)->name,
                 ue_detection_reason_text((enum ue_detection_reason)frame.result.reason));
    }
}

static void a_contradiction_opens_the_detection_again(void **state) {
    for (size_t one = 0; one < UE_PROFILE_COUNT; one++) {
        for (size_t other = 0; other < UE_PROFILE_COUNT; other++) {
            assert_contradiction_reopens(ue_profile_at(one)->name, ue_profile_at(other)->name);
        }
    }
}

/* Damaged and foreign packets, singly and in runs, and one jump of the sequence. */
static void damage_and_gaps_change_nothing(void **state) {
    struct traffic t;
    struct ue_detection detection;
    traffic_init(&t, "4.25", STOCK, 14);
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    for (unsigned n = 0; n < 4000; n++) {
        uint8_t bytes[PACKET_BYTES];
        size_t size = 20 + rng_below(&t.rng, 180);
        rng_fill(&t.rng, bytes, size);
        bool is_damage = n > 20 && (n % 40 == 0 || (n >= 2000 && n < 2100));
        struct ue_decode_state frame =
            is_damage ? traffic_feed(&detection, n % 2, bytes, size) : traffic_feed_packet(&detection, &t, n % 2);
        if (n > 20 && strcmp(ue_profile_at(frame.result.profile)->name, "4.25") != 0) {
            fail_msg("packet %u: %s", n, ue_profile_at(frame.result.profile)->name);
        }
        if (n == 1000) {
            t.sides[SERVER].seq = (t.sides[SERVER].seq + 5000) & 16383;
        }
    }
    assert_int_equal(detection.result.reason, UE_DETECTION_REASON_ONLY_MATCH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chance_match_far_from_the_detection_changes_nothing),
        cmocka_unit_test(a_contradiction_opens_the_detection_again),
        cmocka_unit_test(damage_and_gaps_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

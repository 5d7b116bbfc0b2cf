/* SPDX-License-Identifier: MIT */
/* Packets that a snap length cut are evidence against the generations that they contradict. */
#include "tests/observe/detection_fixture.h"

#define OLDER "5.4"
#define NEWER "5.5"

/* A connection whose whole packets match both generations. */
struct flow {
    struct traffic older, newer; /* with fragments, which tell them apart */
    struct ue_detection detection;
};

static void feed_whole_packets(struct flow *f, unsigned count) {
    f->older.partials = false;
    for (unsigned i = 0; i < count; i++) {
        traffic_feed_packet(&f->detection, &f->older, i % 2);
    }
    f->older.partials = true;
}

static void flow_init(struct flow *f) {
    traffic_init(&f->older, OLDER, STOCK, 3);
    traffic_init(&f->newer, NEWER, STOCK, 4);
    f->newer.partials = true;
    ue_detection_init(&f->detection, STOCK, NULL, SERVER);
}

static bool contradicts(const char *release, const struct ue_detection_head *head) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), STOCK);
    x.direction = UE_SERVER_TO_CLIENT;
    return !ue_profile_match_cut(&x, head->bytes, head->size_bytes, head->captured_bytes, false);
}

/* Feeds cut packets that contradict one of the two generations, and not the other one. */
static void feed_cut_packets(struct flow *f, const char *contradicted, unsigned count) {
    bool is_newer = contradicted[2] == OLDER[2];
    struct traffic *t = is_newer ? &f->newer : &f->older;
    while (count != 0) {
        struct ue_detection_head head = {0};
        struct ue_decode_state state;
        uint16_t seq = f->older.sides[SERVER].seq;
        t->sides[SERVER].seq = seq;
        t->sides[CLIENT].seq = f->older.sides[CLIENT].seq;
        size_t size_bytes = traffic_packet(t, SERVER, head.bytes);
        f->older.sides[SERVER].seq = seq;
        head.size_bytes = size_bytes + 1;
        head.captured_bytes = size_bytes * 3 / 4;
        memset(head.bytes + head.captured_bytes, 0, size_bytes - head.captured_bytes);
        head.bytes[size_bytes] = 1;
        if (contradicts(contradicted, &head) && !contradicts(is_newer ? NEWER : OLDER, &head)) {
            ue_detection_feed_truncated(&f->detection, SERVER, &head, &state);
            count--;
        }
    }
}

static void check(const struct flow *f, bool has_older, bool has_newer) {
    assert_int_equal(is_candidate(&f->detection.result, OLDER), has_older);
    assert_int_equal(is_candidate(&f->detection.result, NEWER), has_newer);
}

/* One cut packet may be damaged, or of something else. */
static void test_two_packets_exclude_a_generation(void **state) {
    static const unsigned whole_packets[] = {8, UE_DETECTION_HELD_MAX}; /* before the release, and long after it */
    for (unsigned i = 0; i < 2; i++) {
        struct flow f;
        flow_init(&f);
        feed_whole_packets(&f, whole_packets[i]);
        check(&f, true, true);
        feed_cut_packets(&f, OLDER, 1);
        check(&f, true, true);
        feed_cut_packets(&f, OLDER, 1);
        check(&f, false, true);
        assert_int_equal(f.detection.result.reason, UE_DETECTION_REASON_CUT);
    }
}

/* One packet beside many that contradict the other generation does not save it. */
static void test_one_packet_among_many_decides_nothing(void **state) {
    struct flow f;
    flow_init(&f);
    feed_whole_packets(&f, UE_DETECTION_HELD_MAX);
    feed_cut_packets(&f, NEWER, 1);
    feed_cut_packets(&f, OLDER, 2);
    check(&f, true, true);
    feed_cut_packets(&f, OLDER, 1);
    check(&f, false, true);
}

/* An exclusion is not for good: the packets after it may contradict the other generation as often. */
static void test_later_packets_readmit_a_generation(void **state) {
    static const unsigned whole_packets[] = {8, UE_DETECTION_HELD_MAX};
    for (unsigned i = 0; i < 2; i++) {
        struct flow f;
        flow_init(&f);
        feed_whole_packets(&f, whole_packets[i]);
        feed_cut_packets(&f, OLDER, 2);
        check(&f, false, true);
        feed_cut_packets(&f, NEWER, 1);
        check(&f, true, true);
        feed_cut_packets(&f, NEWER, 3);
        check(&f, true, false);
        feed_whole_packets(&f, 8);
        check(&f, true, false);
    }
}

static const char *name_of_result(const struct flow *f) {
    return ue_profile_at(f->detection.result.profile)->name;
}

/* Of the generations that are left, the oldest that decodes most datagrams, as the sentence of the reason says: not the
   oldest of all, and with as many faults not the newest. */
static void test_fewest_faults(void **state) {
    for (uint8_t faults = 0; faults < 2; faults++) {
        struct flow f;
        flow_init(&f);
        feed_whole_packets(&f, 8);
        assert_true(is_candidate(&f.detection.result, "5.1"));
        f.detection.faults[ue_profile_index(ue_profile_find("5.1"))] = faults;
        feed_cut_packets(&f, NEWER, 2);
        check(&f, true, false);
        assert_true(is_candidate(&f.detection.result, "5.1"));
        assert_int_equal(f.detection.result.reason, UE_DETECTION_REASON_CUT);
        assert_string_equal(name_of_result(&f), faults == 0 ? "5.1" : OLDER);
    }
    assert_non_null(strstr(ue_detection_reason_text(UE_DETECTION_REASON_CUT), "the oldest that decodes most"));
    assert_non_null(
        strstr(ue_detection_reason_text(UE_DETECTION_REASON_DECODING_MATCH), "the oldest that decodes most"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_packets_exclude_a_generation),
        cmocka_unit_test(test_one_packet_among_many_decides_nothing),
        cmocka_unit_test(test_later_packets_readmit_a_generation),
        cmocka_unit_test(test_fewest_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* A magic header and handlers that the settings lack: they are found, and what they look like is no evidence. */
#include "tests/observe/detection_fixture.h"

static const struct ue_settings with_one_bit = {.magic_bits = 1, .magic = 1};

static void feed_packets(struct ue_detection *detection, struct traffic *t, unsigned count) {
    for (unsigned n = 0; n < count; n++) {
        traffic_feed_packet(detection, t, n % 2);
    }
}

static bool all_are_foreign(const struct ue_detection *detection, struct traffic *t, unsigned count) {
    bool are_foreign = true;
    for (unsigned n = 0; n < count; n++) {
        uint8_t bytes[PACKET_BYTES];
        size_t size = traffic_packet(t, n % 2, bytes);
        const struct ue_decode_state now = {.result = detection->result, .side = (uint8_t)(n % 2)};
        are_foreign &= ue_detection_is_foreign(detection, &now, bytes, size, false);
    }
    return are_foreign;
}

/* One bit and the 194 bits of a handshake message of 4.18 look like the 195 bits of one of 4.22 with restart bit, and
   all packets then have the handshake bit. */
static void packets_contradict_a_handshake(void **state) {
    struct traffic t;
    struct ue_detection detection;
    unsigned bits;
    uint32_t value;
    traffic_init(&t, "4.18", &with_one_bit, 1);
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    traffic_connect(&detection, &t, cookie_a);
    assert_true(detection.restarting && is_candidate(&detection.result, "4.22"));
    feed_packets(&detection, &t, 4);
    assert_true(detection.has_ids_evidence);
    assert_false(ue_detection_find_magic(&detection, &bits, &value));
    feed_packets(&detection, &t, 60);
    assert_false(detection.has_ids_evidence || detection.restarting || detection.has_proof);
    assert_int_equal(detection.server_side, SERVER);
    assert_int_equal(detection.result.reason, UE_DETECTION_REASON_MAGIC);
    assert_true(ue_detection_find_magic(&detection, &bits, &value));
    assert_int_equal(bits, 1);
    assert_int_equal(value, 1);
    assert_true(all_are_foreign(&detection, &t, 500));
}

/* Datagrams with handshake bit, but without the form of a handshake message, are no contradiction once there was a
   packet. */
static void packets_confirm_a_handshake(void **state) {
    struct traffic t;
    struct ue_detection detection;
    uint8_t unformed[40] = {0x01, [39] = 0x80};
    traffic_init(&t, "4.22", STOCK, 2);
    ue_detection_init(&detection, STOCK, NULL, -1);
    traffic_connect(&detection, &t, cookie_a);
    feed_packets(&detection, &t, 1);
    for (unsigned n = 0; n < 30; n++) {
        traffic_feed(&detection, n % 2, unformed, sizeof unformed);
    }
    assert_true(detection.has_ids_evidence);
    assert_int_equal(detection.result.reason, UE_DETECTION_REASON_HANDSHAKE);
    assert_true(is_candidate(&detection.result, "4.22"));
}

/* A datagram behind a magic header that begins with 1, 0, with the size, the time and the cookie of a handshake message
   of 4.22, after the handshake of the connection and some packets. */
static void a_chance_form_is_no_handshake(void **state) {
    const struct ue_settings magic = {.magic_bits = 7, .magic = 0x55};
    struct traffic t;
    struct ue_detection detection;
    unsigned bits;
    uint32_t value;
    uint8_t formed[25] = {0xd5, [4] = 0x0a, [23] = 0x11, [24] = 0x0f};
    struct ue_handshake_match match;
    assert_true(ue_profile_match_handshake(STOCK, formed, sizeof formed, &match) && !match.restart);
    traffic_init(&t, "4.25", &magic, 1);
    ue_detection_init(&detection, STOCK, NULL, SERVER);
    traffic_connect(&detection, &t, cookie_a);
    feed_packets(&detection, &t, 10);
    traffic_feed(&detection, SERVER, formed, sizeof formed);
    assert_false(detection.has_ids_evidence);
    feed_packets(&detection, &t, 60);
    assert_true(ue_detection_find_magic(&detection, &bits, &value));
    assert_int_equal(bits, 7);
    assert_int_equal(value, 0x55);
}

/* Packets of 4.25 after five bits are packets of 5.1 with these bits as ids. That they match is no evidence. */
static void packets_match_by_chance(void **state) {
    const struct ue_settings magic = {.magic_bits = 5, .magic = 9};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct traffic t;
        struct ue_detection detection;
        unsigned bits;
        uint32_t value;
        traffic_init(&t, "4.25", &magic, seed);
        ue_detection_init(&detection, STOCK, NULL, SERVER);
        traffic_connect(&detection, &t, cookie_a);
        feed_packets(&detection, &t, 60);
        assert_true(ue_detection_is_guess(&detection.result));
        assert_true(ue_detection_find_magic(&detection, &bits, &value));
        assert_int_equal(bits, 5);
        assert_int_equal(value, 9);
    }
}

/* Datagrams of another protocol on the port do not hide the header, also before the handshake; many of them do. */
static void others_do_not_hide_a_header(void **state) {
    const struct ue_settings magic = {.magic_bits = 13, .magic = 0x1234};
    static const struct {
        unsigned before, after;
        bool is_found;
    } cases[] = {{1, 0, true}, {0, 1, true}, {1, 4, true}, {0, 20, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct traffic t;
        struct ue_detection detection;
        unsigned bits;
        uint32_t value;
        uint8_t other[40] = {'S', 't', 'e', 'a', 'm', [39] = 1};
        traffic_init(&t, "5.4", &magic, 1);
        ue_detection_init(&detection, STOCK, NULL, SERVER);
        for (unsigned n = 0; n < cases[i].before; n++) {
            traffic_feed(&detection, CLIENT, other, sizeof other);
        }
        traffic_connect(&detection, &t, cookie_a);
        for (unsigned n = 0; n < cases[i].after; n++) {
            other[1] = (uint8_t)n;
            traffic_feed(&detection, n % 2, other, sizeof other);
        }
        feed_packets(&detection, &t, 60);
        assert_int_equal(ue_detection_find_magic(&detection, &bits, &value), cases[i].is_found);
        if (cases[i].is_found) {
            assert_int_equal(bits, 13);
            assert_int_equal(value, 0x1234);
        }
    }
}

/* A handshake after packets, and one after another, count, and there is no magic header. */
static void a_handshake_counts_without_another(void **state) {
    for (unsigned connects = 0; connects < 2; connects++) {
        struct traffic t;
        struct ue_detection detection;
        unsigned bits;
        uint32_t value;
        traffic_init(&t, "4.22", STOCK, 3);
        ue_detection_init(&detection, STOCK, NULL, SERVER);
        feed_packets(&detection, &t, 10);
        if (connects != 0) {
            traffic_connect(&detection, &t, cookie_a);
        }
        assert_int_equal(detection.has_ids_evidence, connects);
        traffic_connect(&detection, &t, cookie_a);
        assert_true(detection.has_ids_evidence);
        feed_packets(&detection, &t, 60);
        assert_true(is_candidate(&detection.result, "4.22"));
        assert_false(ue_detection_find_magic(&detection, &bits, &value));
    }
}

/* Without a generation that matches half of the packets there is no connection, although one packet may decode. */
static void a_chance_match_is_no_connection(void **state) {
    const struct ue_settings magic = {.magic_bits = 13, .magic = 0x1234};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct traffic t;
        struct ue_detection detection;
        traffic_init(&t, "5.4", &magic, seed);
        ue_detection_init(&detection, STOCK, NULL, SERVER);
        feed_packets(&detection, &t, UE_DETECTION_HELD_MAX);
        assert_true(detection.is_released && detection.result.matches_few);
        assert_true(all_are_foreign(&detection, &t, 2000));
    }
}

/* A packet that matches no generation. */
static struct ue_decode_state feed_random(struct ue_detection *detection, struct traffic *t, unsigned side) {
    uint8_t bytes[120];
    size_t size = 30 + rng_below(&t->rng, 90);
    rng_fill(&t->rng, bytes, size);
    bytes[0] &= 0xde; /* no handshake bit */
    bytes[size - 1] |= 0x80;
    return traffic_feed(detection, side, bytes, size);
}

static void begin_unreadable(struct ue_detection *detection, struct traffic *t, uint64_t seed) {
    traffic_init(t, seed % 2 != 0 ? "4.25" : "5.4", STOCK, seed);
    ue_detection_init(detection, STOCK, NULL, SERVER);
    traffic_connect(detection, t, cookie_a);
    for (unsigned n = 0; !detection->is_released; n++) {
        feed_random(detection, t, n % 2);
    }
}

/* Random content after a handshake is no chain of handlers: each would have to fit every packet. */
static void random_packets_have_no_handlers(void **state) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct traffic t;
        struct ue_detection detection;
        enum ue_handler chain[UE_HANDLERS_MAX];
        begin_unreadable(&detection, &t, seed);
        assert_int_equal(detection.handlers.datagrams, UE_DETECTION_HELD_MAX - 4);
        assert_false(ue_detection_find_handlers(&detection, chain));
        assert_true(detection.result.is_undecoded);
    }
}

/* When only the first packets were damaged, or of something else, those after them are decoded; none of the first ones
   is, so that each is decoded as it was at first. */
static void later_packets_are_decoded(void **state) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct traffic t;
        struct ue_detection detection;
        struct ue_context x;
        enum ue_handler chain[UE_HANDLERS_MAX];
        begin_unreadable(&detection, &t, seed);
        struct ue_decode_state first = feed_random(&detection, &t, SERVER);
        unsigned undecoded = 0;
        for (unsigned n = 0; n < 1000; n++) {
            struct ue_decode_state latest = traffic_feed_packet(&detection, &t, n % 2);
            undecoded += !latest.packet_ids.has_id;
            ue_detection_context(&detection, &latest, &x);
            assert_int_equal(x.settings.handlers[0] == UE_HANDLER_UNKNOWN, !latest.packet_ids.has_id);
        }
        assert_true(undecoded < 4 * UE_DETECTION_HELD_MAX);
        assert_false(detection.result.is_undecoded);
        assert_false(ue_detection_find_handlers(&detection, chain));
        assert_true(is_candidate(&detection.result, t.profile->name));
        ue_detection_context(&detection, &first, &x);
        assert_int_equal(x.settings.handlers[0], UE_HANDLER_UNKNOWN);
    }
}

/* Few packets of a long connection are tried, and none changes what is known of it. */
static void packets_that_match_nothing_are_seldom_tried(void **state) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct traffic t;
        struct ue_detection detection;
        unsigned tried = 0;
        begin_unreadable(&detection, &t, seed);
        const struct ue_detection_result before = detection.result;
        for (unsigned n = 0; n < 8 * 1024; n++) {
            struct ue_decode_state latest = feed_random(&detection, &t, n % 2);
            tried += detection.detection == UE_DETECTION_STATE_REOPENED;
            assert_memory_equal(&latest.result, &before, sizeof before);
        }
        assert_true(detection.result.is_undecoded);
        assert_true(tried >= 2 * UE_DETECTION_HELD_MAX - 2);
        assert_true(tried <= 8 * UE_DETECTION_HELD_MAX);
    }
}

static void repeat_ack(struct ue_detection *detection, struct traffic *t) {
    uint8_t bytes[PACKET_BYTES];
    traffic_feed(detection, SERVER, bytes, traffic_handshake(t, UE_HANDSHAKE_ACK, -1.0, cookie_a, NULL, bytes));
}

/* Whether two detections answer alike, now and after a late handshake message, which makes them choose anew. */
static void check_same_answers(struct ue_detection a, struct ue_detection b, struct traffic *t) {
    for (unsigned n = 0; n < 2; n++) {
        assert_memory_equal(&a.result, &b.result, sizeof a.result);
        assert_memory_equal(&a.uncut, &b.uncut, sizeof a.uncut);
        assert_memory_equal(a.sides, b.sides, sizeof a.sides);
        assert_int_equal(ue_detection_named_profiles(&a, &a.result), ue_detection_named_profiles(&b, &b.result));
        repeat_ack(&a, t);
        repeat_ack(&b, t);
    }
}

/* Packets that are tried in vain leave no evidence, unlike those that match. */
static void a_trial_in_vain_leaves_no_evidence(void **state) {
    for (uint64_t seed = 2; seed <= 8; seed += 2) { /* several generations send the handshake of 5.4 */
        struct traffic t;
        struct ue_detection detection;
        begin_unreadable(&detection, &t, seed);
        const struct ue_detection before = detection;
        for (unsigned n = 0; detection.failures == before.failures; n++) {
            feed_random(&detection, &t, n % 2);
        }
        check_same_answers(detection, before, &t);
        feed_packets(&detection, &t, 16 * UE_DETECTION_HELD_MAX);
        assert_int_equal(detection.uncut.reason, detection.result.reason);
        assert_int_not_equal(detection.result.reason, before.result.reason);
    }
}

/* Packets that match, without a handler, and with one whose flag is clear in each of them. */
static void packets_that_match_have_no_other_handlers(void **state) {
    const struct ue_settings two = {.handlers = {UE_HANDLER_OODLE, UE_HANDLER_AESGCM}};
    const struct ue_settings *const all[] = {STOCK, &two};
    for (size_t i = 0; i < 2; i++) {
        struct traffic t;
        struct ue_detection detection;
        enum ue_handler chain[UE_HANDLERS_MAX];
        traffic_init(&t, "4.25", all[i], 3);
        ue_detection_init(&detection, all[i], NULL, SERVER);
        traffic_connect(&detection, &t, cookie_a);
        feed_packets(&detection, &t, 80);
        assert_false(ue_detection_find_handlers(&detection, chain));
        assert_false(detection.result.is_undecoded);
        assert_int_equal(detection.handlers.missed[0], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_contradict_a_handshake),
        cmocka_unit_test(packets_confirm_a_handshake),
        cmocka_unit_test(a_chance_form_is_no_handshake),
        cmocka_unit_test(packets_match_by_chance),
        cmocka_unit_test(others_do_not_hide_a_header),
        cmocka_unit_test(a_handshake_counts_without_another),
        cmocka_unit_test(a_chance_match_is_no_connection),
        cmocka_unit_test(random_packets_have_no_handlers),
        cmocka_unit_test(later_packets_are_decoded),
        cmocka_unit_test(packets_that_match_nothing_are_seldom_tried),
        cmocka_unit_test(a_trial_in_vain_leaves_no_evidence),
        cmocka_unit_test(packets_that_match_have_no_other_handlers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

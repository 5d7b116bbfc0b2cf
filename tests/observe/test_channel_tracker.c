/* SPDX-License-Identifier: MIT */
/* Bunches and channels of hand-made datagrams; the decoded items of a datagram are returned completely or not at
   all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

/* Compares the BUNCH events only: packets with one reliable bunch each. */
static void send_reliable(int64_t id, uint32_t ch_seq) {
    tracker_fixture_reliable(&shared_fixture, 3, ch_seq);
    tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
}

static void forget(void) {
    shared_fixture.length = 0;
    shared_fixture.text[0] = '\0';
}

/* ---- packets that may have been refused ---- */

/* The server opens channel 3 in packet 10, which the client acknowledges if `is_acked`, and sends data of the channel
   in packet 11, which the client reports as not received. */
static void send_after_open(bool is_acked) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 70, 9, 0);
    struct ue_bunch *bunch = tracker_fixture_reliable(&shared_fixture, 3, 5);
    bunch->control = bunch->open = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 0, 0);
    tracker_fixture_bunch(&shared_fixture, 3);
    tracker_fixture_packet(&shared_fixture, SERVER, 11, 0, 0);
    forget();
    tracker_fixture_packet(&shared_fixture, CLIENT, 71, 11, is_acked ? 2 : 0);
}

static void data_of_a_channel_may_be_refused_before_its_open_arrived(void **state) {
    send_after_open(false);
    tracker_fixture_expect(&shared_fixture, "4 c packet 71, 71 in flight\n"
                                            "4 c nak 10 in 2 after 20\n4 c nak 11 or refused in 3 after 10\n");
}

static void data_of_an_open_channel_is_not_refused(void **state) {
    send_after_open(true);
    tracker_fixture_expect(&shared_fixture, "4 c packet 71, 71 in flight\n"
                                            "4 c ack 10 in 2 after 20\n4 c nak 11 in 3 after 10\n");
}

/* Sends this bunch in packet 400 or 402 of the server, long after an open of channel 3 and its close if `was_closed`;
   if `is_gap`, packets before it are missing. The packet is reported as not received. Returns whether it may have been
   refused. */
static bool may_be_refused(const struct ue_bunch *bunch, bool was_closed, bool is_gap) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 70, 9, 0);
    if (was_closed) {
        struct ue_bunch *opened = tracker_fixture_reliable(&shared_fixture, 3, 5);
        opened->control = opened->open = true;
        struct ue_bunch *closed = tracker_fixture_reliable(&shared_fixture, 3, 6);
        closed->control = closed->close = true;
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 0, 0);
    for (int64_t id = 11; id < 400; id++) {
        tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 71, 399, UINT32_MAX);
    int64_t id = is_gap ? 402 : 400;
    *tracker_fixture_bunch(&shared_fixture, 3) = *bunch;
    tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
    forget();
    tracker_fixture_packet(&shared_fixture, CLIENT, 72, id, 0);
    return strstr(shared_fixture.text, "or refused") != NULL;
}

static void data_may_be_refused_only_if_the_open_is_missing(void **state) {
    static const struct ue_bunch data = {.channel = 3};
    static const struct ue_bunch rest = {.channel = 3, .partial = true, .partial_final = true};
    static const struct ue_bunch temporary = {.channel = 3,
                                              .control = true,
                                              .open = true,
                                              .close = true,
                                              .has_name = true,
                                              .name = {.hardcoded = true, .index = UE_NAME_ACTOR}};
    static const struct {
        const struct ue_bunch *bunch;
        bool was_closed, is_gap, may_be_refused;
    } cases[] = {{&data, false, false, false}, {&data, false, true, true},       {&data, true, false, false},
                 {&data, true, true, true},    {&temporary, false, true, false}, {&rest, false, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tracker_fixture_tear_down(state);
        tracker_fixture_set_up(state);
        assert_int_equal(may_be_refused(cases[i].bunch, cases[i].was_closed, cases[i].is_gap), cases[i].may_be_refused);
    }
}

/* The server sends a bunch of channel 3, which was opened before the capture, in packet 10; the client acknowledges 9
   and 11. */
static void lose_of_channel_before_capture(bool is_reliable) {
    tracker_fixture_packet(&shared_fixture, SERVER, 9, 0, 0);
    struct ue_bunch *bunch =
        is_reliable ? tracker_fixture_reliable(&shared_fixture, 3, 5) : tracker_fixture_bunch(&shared_fixture, 3);
    assert_false(bunch->open);
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 0, 0);
    tracker_fixture_packet(&shared_fixture, SERVER, 11, 0, 0);
    tracker_fixture_ack(&shared_fixture, 9);
    tracker_fixture_ack(&shared_fixture, 11);
    forget();
    tracker_fixture_packet(&shared_fixture, CLIENT, 70, 0, 0);
}

/* It is refused with its packet, if the channel is not open. */
static void a_legacy_reliable_bunch_is_not_delivered_with_a_refused_packet(void **state) {
    lose_of_channel_before_capture(true);
    tracker_fixture_expect(&shared_fixture, "4 c packet 70, 0 in flight\n4 c ack 9 in 1\n"
                                            "4 c nak 10 in 2\n4 c ack 11 in 3\n");
}

static void a_legacy_unreliable_bunch_may_be_refused_alone(void **state) {
    lose_of_channel_before_capture(false);
    tracker_fixture_expect(&shared_fixture, "4 c packet 70, 0 in flight\n4 c ack 9 in 1\n"
                                            "4 c nak 10 or refused in 2\n4 c ack 11 in 3\n");
}

/* ---- retransmissions ---- */

static void a_copy_names_the_copies_before(void **state) {
    send_reliable(10, 5);
    send_reliable(11, 6);
    send_reliable(12, 5);
    forget();
    send_reliable(13, 5);
    tracker_fixture_expect(&shared_fixture,
                           "4 s packet 13, 0 in flight\n4 s bunch 0 on 3: 5, 1 in flight, copy 3 of 1, 3\n");
    assert_int_equal(shared_fixture_counts(SERVER)->reliable, 2);
    assert_int_equal(shared_fixture_counts(SERVER)->resends, 2);
    assert_int_equal(shared_fixture_counts(SERVER)->spurious, 0);
}

static void a_copy_of_what_was_delivered_is_spurious(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 70, 9, 0);
    send_reliable(10, 5);
    send_reliable(11, 6);
    tracker_fixture_packet(&shared_fixture, CLIENT, 71, 11, 2); /* 10 delivered, 11 not */
    forget();
    tracker_fixture_reliable(&shared_fixture, 3, 6);
    tracker_fixture_reliable(&shared_fixture, 3, 5);
    tracker_fixture_reliable(&shared_fixture, 3, 7);
    tracker_fixture_packet(&shared_fixture, SERVER, 12, 0, 0);
    tracker_fixture_expect(&shared_fixture, "5 s packet 12, 1 in flight\n"
                                            "5 s bunch 0 on 3: 6, 1 to 2 in flight, copy 2 of 3, 3\n"
                                            "5 s bunch 1 on 3: 5, 1 in flight, copy 2 of 2, 2, spurious\n"
                                            "5 s bunch 2 on 3: 7, 3 in flight\n");
    assert_int_equal(shared_fixture_counts(SERVER)->spurious, 1);
}

/* Four packets hold bunch 5, the client acknowledges only packet acked_id, and the next packet holds the bunch again.
   Returns whether that is spurious. */
static bool is_fifth_spurious(const int64_t *ids, int64_t acked_id) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 70, ids[0] - 1, 0);
    int64_t last_id = ids[0];
    for (size_t i = 0; i < 4; i++) {
        send_reliable(ids[i], 5);
        last_id = ids[i] > last_id ? ids[i] : last_id;
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 71, last_id, UINT32_C(1) << (last_id - acked_id));
    send_reliable(last_id + 1, 5);
    return shared_fixture_counts(SERVER)->spurious == 1;
}

#define IS_FIFTH_SPURIOUS(acked_id, ...) is_fifth_spurious((const int64_t[]){__VA_ARGS__}, acked_id)

static void a_copy_is_spurious_whichever_copy_was_delivered(void **state) {
    for (int64_t id = 10; id < 14; id++) {
        tracker_fixture_tear_down(state);
        tracker_fixture_set_up(state);
        assert_true(IS_FIFTH_SPURIOUS(id, 10, 11, 12, 13));
    }
}

static void a_copy_that_was_overtaken_and_delivered_counts(void **state) {
    assert_true(IS_FIFTH_SPURIOUS(11, 10, 12, 11, 13));
}

static void copies_are_remembered_for_a_while(void **state) {
    assert_true(IS_FIFTH_SPURIOUS(12, 10, 12, 20, 41));
}

static void packets_between_the_copies_do_not_count(void **state) {
    assert_false(IS_FIFTH_SPURIOUS(11, 10, 12, 20, 41));
}

static void no_copy_is_spurious_before_one_is_delivered(void **state) {
    assert_false(IS_FIFTH_SPURIOUS(9, 10, 11, 12, 13));
}

/* The network reorders: packet 10 comes after packet 11, which repeats its bunch and was acknowledged. */
static void a_late_first_copy_is_not_spurious(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 70, 8, 0);
    send_reliable(9, 5);
    send_reliable(11, 6);
    tracker_fixture_packet(&shared_fixture, CLIENT, 71, 11, 5); /* 9 and 11 delivered, 10 not */
    forget();
    send_reliable(10, 6);
    tracker_fixture_expect(&shared_fixture, "5 s packet 10 late refused after its nak in 4, 0 in flight\n"
                                            "5 s bunch 0 on 3: 6, 1 to 2 in flight, copy 2 of 3, 3, delivered\n");
    assert_int_equal(shared_fixture_counts(SERVER)->spurious, 0);
}

/* The reliable buffer of the sender: from the oldest bunch that is not delivered (endpoint.md 15, 22 to 27). */
static void the_buffer_is_given_up_from_the_front(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 70, 9, 0);
    for (unsigned i = 0; i < 4; i++) {
        send_reliable(10 + i, 5 + i);
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, 71, 12, 3); /* 11 and 12 delivered, 10 not */
    forget();
    send_reliable(14, 5);
    tracker_fixture_packet(&shared_fixture, CLIENT, 72, 14, 5);
    send_reliable(15, 9);
    tracker_fixture_expect(&shared_fixture, "7 s packet 14, 2 in flight\n"
                                            "7 s bunch 0 on 3: 5, 1 in flight, copy 2 of 2, 2\n"
                                            "8 c packet 72, 72 in flight\n"
                                            "8 c nak 13 in 5 after 30\n"
                                            "8 c ack 14 in 7 after 10\n"
                                            "9 s packet 15, 1 in flight\n"
                                            "9 s bunch 0 on 3: 9, 2 to 5 in flight\n");
}

/* ---- sequences ---- */

static void gaps_and_impossible_jumps(void **state) {
    send_reliable(10, 5);
    send_reliable(11, 8);
    send_reliable(12, 6);
    shared_fixture.x[SERVER].reliable_limit = 256;
    send_reliable(13, 8 + 256);
    send_reliable(14, 8 + 256 + 257);
    tracker_fixture_expect(&shared_fixture,
                           "1 s packet 10, 0 in flight\n1 s bunch 0 on 3: 5, 1 in flight\n"
                           "2 s packet 11, 0 in flight\n2 s bunch 0 on 3: 8, 1 to 4 in flight, gap\n"
                           "3 s packet 12, 0 in flight\n3 s bunch 0 on 3: 6, 2 in flight\n"
                           "4 s packet 13, 0 in flight\n4 s bunch 0 on 3: 264, 1 to 260 in flight, gap\n"
                           "5 s packet 14, 0 in flight\n5 s bunch 0 on 3: 521, 1 to 517 in flight, gap, jump\n");
    assert_int_equal(shared_fixture_counts(SERVER)->reliable, 5);
    shared_fixture.x[SERVER].reliable_limit = 0; /* not certain: some generations allow it */
    forget();
    send_reliable(15, (8 + 256 + 257 + 257) & 1023);
    tracker_fixture_expect(&shared_fixture,
                           "6 s packet 15, 0 in flight\n6 s bunch 0 on 3: 778, 1 to 774 in flight, gap\n");
}

static void sequences_wrap_and_copies_are_found_behind_it(void **state) {
    for (uint32_t i = 0; i < 3000; i++) {
        send_reliable(i, i & 1023);
        forget();
    }
    send_reliable(3000, 2999 & 1023);
    tracker_fixture_expect(&shared_fixture, "3001 s packet 3000, 0 in flight\n"
                                            "3001 s bunch 0 on 3: 2999, 1 or more in flight, copy 2 of 3000, 3000\n");
    assert_int_equal(shared_fixture_counts(SERVER)->reliable, 3000);
    assert_int_equal(shared_fixture_counts(SERVER)->resends, 1);
}

/* A steady stream keeps few entries, and a late retransmission is still recognised. */
static void what_is_settled_gives_its_place(void **state) {
    tracker_fixture_packet(&shared_fixture, CLIENT, 0, 16383, 0);
    for (uint32_t i = 0; i < 4000; i++) {
        send_reliable(2 * i, i & 1023);
        tracker_fixture_packet(&shared_fixture, SERVER, 2 * i + 1, i, 1);
        tracker_fixture_packet(&shared_fixture, CLIENT, i + 1, 2 * i + 1, 3);
        forget();
    }
    size_t bytes = ue_tracker_bytes(shared_fixture.tracker);
    send_reliable(8000, (3999 - 400) & 1023);
    tracker_fixture_expect(&shared_fixture, "12002 s packet 8000, 1 in flight\n"
                                            "12002 s bunch 0 on 3: 3599, 1 in flight, copy 2 of 0, 0\n");
    assert_true(bytes < 40000);
}

/* One acknowledged reliable bunch in each packet, on channels in turn. */
static void play_on_channels(int64_t first_id, uint32_t packets, uint32_t channels) {
    for (uint32_t i = 0; i < packets; i++) {
        int64_t id = first_id + i;
        tracker_fixture_reliable(&shared_fixture, 100 + i % channels, 1 + i / channels);
        tracker_fixture_packet(&shared_fixture, SERVER, id, i, 1);
        tracker_fixture_packet(&shared_fixture, CLIENT, i + 1, id, 1);
        forget();
    }
}

/* Memory depends on the bunches in flight, not on the number of channels. */
static void many_channels_keep_few_bunches(void **state) {
    play_on_channels(10, 8000, 2000);
    assert_true(ue_tracker_bytes(shared_fixture.tracker) < 250000);
    assert_int_equal(shared_fixture_counts(SERVER)->reliable, 8000);
    assert_int_equal(shared_fixture_counts(SERVER)->resends, 0);
    assert_int_equal(shared_fixture_counts(SERVER)->untracked, 0);
    tracker_fixture_reliable(&shared_fixture, 100, 2);
    tracker_fixture_packet(&shared_fixture, SERVER, 8010, 0, 0);
    tracker_fixture_expect(&shared_fixture, "16001 s packet 8010, 1 in flight\n"
                                            "16001 s bunch 0 on 100: 2, 1 in flight, copy 2 of 0, 0\n");
}

/* ---- fragments ---- */

static void part(int64_t id, uint32_t ch_seq, bool is_initial, bool is_final, size_t bits) {
    static const uint8_t zeros[100];
    struct ue_bunch *bunch =
        ch_seq != 0 ? tracker_fixture_reliable(&shared_fixture, 3, ch_seq) : tracker_fixture_bunch(&shared_fixture, 3);
    bunch->partial = true;
    bunch->partial_initial = is_initial;
    bunch->partial_final = is_final;
    bunch->data = (struct ue_view){zeros, 0, bits};
    tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
}

static bool is_bad(void) {
    bool bad = strstr(shared_fixture.text, "bad part") != NULL;
    forget();
    return bad;
}

static void reliable_parts_follow_each_other(void **state) {
    part(10, 5, true, false, 80);
    part(11, 6, false, false, 80);
    part(12, 7, false, true, 13);
    send_reliable(13, 8);
    assert_false(is_bad());
    part(14, 9, false, true, 80); /* continues no fragment */
    assert_true(is_bad());
    part(15, 10, true, false, 80);
    assert_false(is_bad());
    part(16, 11, true, false, 80); /* before the last was complete */
    assert_true(is_bad());
    part(17, 13, false, false, 80); /* 12 can still arrive */
    assert_false(is_bad());
    part(18, 12, false, true, 80); /* and leaves no fragment to continue */
    assert_true(is_bad());
}

static void parts_follow_what_came_long_ago(void **state) {
    part(8, 5, true, false, 80);
    part(9, 6, false, true, 80);
    play_on_channels(10, 8000, 2000);
    part(8010, 7, false, true, 80); /* continues no fragment */
    assert_true(is_bad());
}

static void unreliable_parts_stand_in_neighbouring_packets(void **state) {
    part(10, 0, true, false, 80);
    part(11, 0, false, false, 80);
    part(12, 0, false, true, 80);
    assert_false(is_bad());
    part(13, 0, false, true, 80);
    assert_true(is_bad());
    part(20, 0, false, true, 80); /* packet 19 may have held its first fragment */
    assert_false(is_bad());
    part(21, 0, true, false, 80);
    part(22, 0, true, true, 80); /* begins anew */
    assert_false(is_bad());
}

/* protocol.md 10.2, rules 3, 5 and 6. */
static void parts_have_whole_bytes(void **state) {
    part(10, 5, true, false, 13);
    assert_true(is_bad());
    part(11, 6, false, false, 13);
    assert_true(is_bad());
    tracker_fixture_reliable(&shared_fixture, 3, 7)->has_exports = true;
    shared_fixture.items[0].bunch.partial = shared_fixture.items[0].bunch.partial_final = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 12, 0, 0);
    assert_true(is_bad());
}

/* ---- channels ---- */

static void channels_open_and_close_once(void **state) {
    struct ue_bunch *bunch = tracker_fixture_reliable(&shared_fixture, 3, 5);
    bunch->control = bunch->open = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 0, 0);
    for (int64_t id = 11; id < 13; id++) {
        bunch = tracker_fixture_reliable(&shared_fixture, 3, 6);
        bunch->control = bunch->close = true;
        bunch->close_reason = 3;
        tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
    }
    bunch = tracker_fixture_bunch(&shared_fixture, 4);
    bunch->control = bunch->open = bunch->close = bunch->has_name = true;
    bunch->name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    bunch = tracker_fixture_reliable(&shared_fixture, 0, 5);
    bunch->control = bunch->close = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 13, 0, 0);
    tracker_fixture_expect(&shared_fixture, "1 s packet 10, 0 in flight\n"
                                            "1 s bunch 0 on 3: 5, 1 in flight\n"
                                            "1 s opened 3\n"
                                            "2 s packet 11, 0 in flight\n"
                                            "2 s bunch 0 on 3: 6, 2 in flight\n"
                                            "2 s closed 3 for 3 after 10\n"
                                            "3 s packet 12, 0 in flight\n"
                                            "3 s bunch 0 on 3: 6, 2 in flight, copy 2 of 2, 2\n"
                                            "4 s packet 13, 0 in flight\n"
                                            "4 s bunch 0 on 4\n"
                                            "4 s opened 4\n"
                                            "4 s closed 4 for 0 after 0\n"
                                            "4 s bunch 1 on 0: 5, 1 in flight\n"
                                            "4 s closed 0 for 0\n");
}

static void a_dormant_channel_closes_for_dormancy(void **state) {
    tracker_fixture_free(&shared_fixture);
    tracker_fixture_init(&shared_fixture, "4.18", SIZE_MAX / 2);
    struct ue_bunch *bunch = tracker_fixture_reliable(&shared_fixture, 3, 5);
    bunch->control = bunch->close = bunch->dormant = true;
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 0, 0);
    tracker_fixture_expect(&shared_fixture,
                           "1 s packet 10, 0 in flight\n1 s bunch 0 on 3: 5, 1 in flight\n1 s closed 3 for 1\n");
}

/* ---- limits ---- */

/* Every channel index up to and far beyond the highest of engines: events are emitted, memory stays within the limit
   and is freed. */
static void a_flood_of_channels_stays_within_the_bound(void **state) {
    int64_t id = 0;
    for (uint32_t channel = 0; channel < 60000; channel += 40) {
        for (uint32_t i = 0; i < 40; i++) {
            tracker_fixture_reliable(&shared_fixture, channel + i, (i * 40) & 1023);
        }
        tracker_fixture_packet(&shared_fixture, SERVER, id++, 0, 0);
        forget();
        assert_true(ue_tracker_bytes(shared_fixture.tracker) <= UE_TRACKER_BYTES_MAX);
    }
    assert_int_equal(shared_fixture_counts(SERVER)->reliable, 60000);
    assert_true(shared_fixture_counts(SERVER)->untracked != 0);
}

/* Channels and sequences that an attacker chooses to collide in one hash chain: the oldest entries are evicted, and no
   lookup takes longer than others. */
static void numbers_that_collide_give_way(void **state) {
    for (uint32_t channel = 1; channel <= 40; channel++) {
        tracker_fixture_reliable(&shared_fixture, channel, (0 - channel * 2654435761u) & 1023);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, 10, 0, 0);
    forget();
    assert_int_equal(shared_fixture_counts(SERVER)->reliable, 40);
    assert_int_equal(shared_fixture_counts(SERVER)->untracked, 40 - 16);
}

static void sequences_that_jump_stay_within_the_bound(void **state) {
    for (int64_t id = 0; id < 3000; id++) {
        for (uint32_t channel = 0; channel < 40; channel++) {
            tracker_fixture_reliable(&shared_fixture, channel * 64, (uint32_t)(id * 511) & 1023);
        }
        tracker_fixture_packet(&shared_fixture, SERVER, id, 0, 0);
        forget();
        assert_true(ue_tracker_bytes(shared_fixture.tracker) <= UE_TRACKER_BYTES_MAX);
    }
}

/* ---- decoded items ---- */

static void expect_read(size_t count) {
    assert_true(shared_fixture.reading.is_whole);
    assert_int_equal(shared_fixture.reading.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(shared_fixture.reading.items[i].bunch.channel, i + 1);
    }
}

static void feed_bunches(int64_t id, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tracker_fixture_bunch(&shared_fixture, (uint32_t)(i + 1));
    }
    tracker_fixture_packet(&shared_fixture, CLIENT, id, 0, 0);
}

static void all_items_are_handed_out_or_none(void **state) {
    feed_bunches(100, 3);
    expect_read(3);
    feed_bunches(101, 0);
    expect_read(0);
    feed_bunches(102, UE_OBSERVED_ITEMS_MAX);
    expect_read(UE_OBSERVED_ITEMS_MAX);
    feed_bunches(103, UE_OBSERVED_ITEMS_MAX + 1);
    assert_false(shared_fixture.reading.is_whole);
}

static void what_was_not_read_is_not_handed_out(void **state) {
    static const uint8_t empty[1];
    const struct ue_packet_ids packet_ids = {0};
    feed_bunches(100, 2);
    feed_bunches(100, 2); /* seen before */
    assert_false(shared_fixture.reading.is_whole);
    feed_bunches(101, 2);
    tracker_fixture_feed(&shared_fixture, CLIENT, &packet_ids, empty, sizeof empty);
    assert_false(shared_fixture.reading.is_whole);
    feed_bunches(102, 2);
    tracker_fixture_handshake(&shared_fixture, CLIENT, UE_HANDSHAKE_INITIAL, false, 0, 0);
    assert_false(shared_fixture.reading.is_whole);
}

#define IN(setup, test) cmocka_unit_test_setup_teardown(test, setup, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(tracker_fixture_set_up, data_of_a_channel_may_be_refused_before_its_open_arrived),
        IN(tracker_fixture_set_up, data_of_an_open_channel_is_not_refused),
        IN(tracker_fixture_set_up, data_may_be_refused_only_if_the_open_is_missing),
        IN(tracker_fixture_set_up_legacy, a_legacy_reliable_bunch_is_not_delivered_with_a_refused_packet),
        IN(tracker_fixture_set_up_legacy, a_legacy_unreliable_bunch_may_be_refused_alone),
        IN(tracker_fixture_set_up, a_copy_names_the_copies_before),
        IN(tracker_fixture_set_up, a_copy_of_what_was_delivered_is_spurious),
        IN(tracker_fixture_set_up, a_copy_is_spurious_whichever_copy_was_delivered),
        IN(tracker_fixture_set_up, a_copy_that_was_overtaken_and_delivered_counts),
        IN(tracker_fixture_set_up, copies_are_remembered_for_a_while),
        IN(tracker_fixture_set_up, packets_between_the_copies_do_not_count),
        IN(tracker_fixture_set_up, no_copy_is_spurious_before_one_is_delivered),
        IN(tracker_fixture_set_up, a_late_first_copy_is_not_spurious),
        IN(tracker_fixture_set_up, the_buffer_is_given_up_from_the_front),
        IN(tracker_fixture_set_up, gaps_and_impossible_jumps),
        IN(tracker_fixture_set_up, sequences_wrap_and_copies_are_found_behind_it),
        IN(tracker_fixture_set_up, what_is_settled_gives_its_place),
        IN(tracker_fixture_set_up, many_channels_keep_few_bunches),
        IN(tracker_fixture_set_up, reliable_parts_follow_each_other),
        IN(tracker_fixture_set_up, parts_follow_what_came_long_ago),
        IN(tracker_fixture_set_up, unreliable_parts_stand_in_neighbouring_packets),
        IN(tracker_fixture_set_up, parts_have_whole_bytes),
        IN(tracker_fixture_set_up, channels_open_and_close_once),
        IN(tracker_fixture_set_up, a_dormant_channel_closes_for_dormancy),
        IN(tracker_fixture_set_up, a_flood_of_channels_stays_within_the_bound),
        IN(tracker_fixture_set_up, numbers_that_collide_give_way),
        IN(tracker_fixture_set_up, sequences_that_jump_stay_within_the_bound),
        IN(tracker_fixture_set_up, all_items_are_handed_out_or_none),
        IN(tracker_fixture_set_up, what_was_not_read_is_not_handed_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

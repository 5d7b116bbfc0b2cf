/* SPDX-License-Identifier: MIT */
/* Messages that are reassembled from hand-made fragments, with the events of the tracker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/observe/reassembly_fixture.h"

#define CHANNEL 3
#define FIRST_ID 10

static struct reassembly_fixture fixture;
static struct tracker_fixture *const tracker = &fixture.tracker;
static int64_t next_id;

static void begin_as(const char *release, size_t bytes_max) {
    reassembly_fixture_init(&fixture, release, bytes_max);
    next_id = FIRST_ID;
}

static int begin(void **state) {
    begin_as("5.5", SIZE_MAX / 2);
    return 0;
}

static int end(void **state) {
    reassembly_fixture_free(&fixture);
    return 0;
}

static void begin_again(const char *release, size_t bytes_max) {
    end(NULL);
    begin_as(release, bytes_max);
}

/* ---- fragments ---- */

static struct ue_bunch *add_reliable(uint32_t ch_seq, const char *flags, const char *text) {
    return reassembly_fixture_bunch(tracker_fixture_reliable(tracker, CHANNEL, ch_seq), flags, text);
}

static struct ue_bunch *add_unreliable(const char *flags, const char *text) {
    return reassembly_fixture_bunch(tracker_fixture_bunch(tracker, CHANNEL), flags, text);
}

static void flush_as(int64_t id) {
    reassembly_fixture_flush(&fixture, SERVER, id);
}

static void flush(void) {
    flush_as(next_id++);
}

static void reliable(uint32_t ch_seq, const char *flags, const char *text) {
    add_reliable(ch_seq, flags, text);
    flush();
}

static void unreliable(int64_t id, const char *flags, const char *text) {
    add_unreliable(flags, text);
    flush_as(id);
}

/* ---- whole messages ---- */

static void a_bunch_that_is_not_partial_is_whole(void **state) {
    reliable(5, "om", "ab");
    reliable(6, "kx", "c");
    unreliable(next_id, "", "d");
    tracker_fixture_expect(tracker, "1 whole actor open mapped 'ab' 16 of 1.0(16)\n"
                                    "2 whole actor close exports 'c' 8 of 2.0(8)\n"
                                    "3 whole actor 'd' 8 of 3.0(8)\n");
}

static void a_reliable_chain_takes_flags_of_both_ends(void **state) {
    reliable(5, "iom", "ab");
    reliable(6, "p", "cd");
    reliable(7, "fkm", "e");
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(16)\n"
                                    "2 waits actor of 2.0(16)\n"
                                    "3 whole actor open close mapped 'abcde' 40 of 1.0(16) 2.0(16) 3.0(8)\n");
}

static void order_is_that_of_the_sequence_and_copies_count_once(void **state) {
    reliable(1022, "i", "ab");
    reliable(1, "f", "gh"); /* after the wrap */
    reliable(0, "p", "ef");
    reliable(1022, "i", "ab");
    reliable(0, "p", "ef");
    reliable(1023, "p", "cd");
    reliable(1023, "p", "cd");
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(16)\n"
                                    "2 waits actor of 2.0(16)\n"
                                    "3 waits actor of 3.0(16)\n"
                                    "6 whole actor 'abcdefgh' 64 of 1.0(16) 6.0(16) 3.0(16) 2.0(16)\n");
}

static void unreliable_fragments_share_a_packet_or_stand_in_neighbours(void **state) {
    add_unreliable("i", "a");
    add_unreliable("", "-");
    add_unreliable("p", "b");
    flush_as(10);
    unreliable(11, "f", "c");
    tracker_fixture_expect(tracker,
                           "1 waits actor? of 1.0(8)\n1 whole actor? '-' 8 of 1.1(8)\n1 waits actor? of 1.2(8)\n"
                           "2 whole actor? 'abc' 24 of 1.0(8) 1.2(8) 2.0(8)\n");
}

static void unreliable_fragments_may_come_late(void **state) {
    unreliable(12, "f", "c");
    unreliable(10, "i", "a");
    unreliable(11, "p", "b");
    unreliable(11, "p", "b"); /* the packet again */
    tracker_fixture_expect(tracker, "1 waits actor? of 1.0(8)\n2 waits actor? of 2.0(8)\n"
                                    "3 whole actor? 'abc' 24 of 2.0(8) 3.0(8) 1.0(8)\n");
}

static void a_late_packet_may_hold_several(void **state) {
    unreliable(10, "i", "a");
    flush_as(12);
    add_unreliable("p", "b");
    add_unreliable("f", "c");
    flush_as(11);
    tracker_fixture_expect(tracker, "1 waits actor? of 1.0(8)\n3 whole actor? 'abc' 24 of 1.0(8) 3.0(8) 3.1(8)\n");
    unreliable(20, "i", "a");
    unreliable(22, "f", "e");
    add_unreliable("p", "b");
    add_unreliable("f", "c");
    add_unreliable("i", "d");
    flush_as(21);
    tracker_fixture_expect(tracker, "4 waits actor? of 4.0(8)\n5 waits actor? of 5.0(8)\n"
                                    "6 whole actor? 'abc' 24 of 4.0(8) 6.0(8) 6.1(8)\n"
                                    "6 whole actor? 'de' 16 of 6.2(8) 5.0(8)\n");
    unreliable(31, "i", "c");
    unreliable(29, "i", "a");
    add_unreliable("p", "b");
    add_unreliable("f", "-");
    flush_as(30);
    assert_non_null(strstr(tracker->text, "9 whole actor? 'ab-' 24 of 8.0(8) 9.0(8) 9.1(8)\n"));
}

static void broken_ones_in_a_late_packet_are_told_too(void **state) {
    unreliable(10, "i", "a");
    unreliable(12, "p", "e");
    add_unreliable("i", "b");
    add_unreliable("if", "c");
    add_unreliable("f", "d");
    add_unreliable("i", "e")->data.bits = 7;
    flush_as(11);
    tracker_fixture_expect(tracker, "1 waits actor? of 1.0(8)\n2 waits actor? of 2.0(8)\n"
                                    "3 given up of 3.3(7) 2.0(8): unaligned\n3 given up of 1.0(8): new began\n"
                                    "3 given up of 3.0(8): new began\n3 whole actor? 'c' 8 of 3.1(8)\n"
                                    "3 given up of 3.2(8): no beginning\n");
}

static void bits_are_joined_where_bytes_are_not(void **state) {
    static const uint8_t bytes[] = {0xf5, 0xff, 0xff};
    add_reliable(5, "i", "a");
    add_reliable(6, "f", "")->data = (struct ue_view){bytes, 3, 13};
    flush();
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(8)\n1 whole actor 'a<fe><1f>' 21 of 1.0(8) 1.1(13)\n");
}

static void exports_are_messages_of_their_own(void **state) {
    add_reliable(5, "iox", "export")->data.bits = 45;
    add_reliable(6, "px", "more");
    add_reliable(7, "f", "ab");
    flush();
    tracker_fixture_expect(tracker, "1 whole actor exports 'expor<14>' 45 of 1.0(45)\n1 waits actor of 1.0(0)\n"
                                    "1 whole actor exports 'more' 32 of 1.1(32)\n1 waits actor of 1.1(0)\n"
                                    "1 whole actor open 'ab' 16 of 1.0(0) 1.1(0) 1.2(16)\n");
}

static void custom_exports_stand_apart(void **state) {
    add_reliable(5, "io", "AB");
    add_reliable(6, "pc", "C")->data.bits = 3;
    add_reliable(7, "p", "de");
    add_reliable(8, "f", "f");
    flush();
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(16)\n1 waits actor of 1.1(3)\n1 waits actor of 1.2(16)\n"
                                    "1 whole actor custom 'AB<03>' 19 of 1.0(16) 1.1(3)\n"
                                    "1 whole actor open 'def' 24 of 1.2(16) 1.3(8)\n");
}

static void nothing_may_follow_the_custom_exports(void **state) {
    reliable(5, "icf", "AB");
    tracker_fixture_expect(tracker, "1 whole actor custom 'AB' 16 of 1.0(16)\n1 whole actor '' 0 of 1.0(0)\n");
}

static void one_fragment_may_be_all(void **state) {
    reliable(5, "if", "a");
    unreliable(next_id, "if", "b");
    tracker_fixture_expect(tracker, "1 whole actor 'a' 8 of 1.0(8)\n2 whole actor 'b' 8 of 2.0(8)\n");
}

static void both_directions_and_reliabilities_have_their_own_chains(void **state) {
    reliable(5, "i", "a");
    unreliable(next_id++, "i", "A");
    tracker_fixture_reliable(tracker, CHANNEL, 6);
    reassembly_fixture_bunch(&tracker->items[0].bunch, "f", "z");
    reassembly_fixture_flush(&fixture, CLIENT, 70);
    unreliable(next_id++, "f", "B");
    reliable(6, "f", "b");
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(8)\n2 waits actor of 2.0(8)\n3 waits actor of 3.0(8)\n"
                                    "4 whole actor 'AB' 16 of 2.0(8) 4.0(8)\n5 whole actor 'ab' 16 of 1.0(8) 5.0(8)\n");
}

/* ---- messages that cannot be completed ---- */

static void a_new_message_ends_the_one_before(void **state) {
    reliable(5, "i", "a");
    reliable(6, "p", "b");
    reliable(7, "i", "c");
    reliable(8, "f", "d");
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(8)\n2 waits actor of 2.0(8)\n"
                                    "3 given up of 1.0(8) 2.0(8): new began\n3 waits actor of 3.0(8)\n"
                                    "4 whole actor 'cd' 16 of 3.0(8) 4.0(8)\n");
    unreliable(100, "i", "a");
    unreliable(101, "if", "b");
    tracker_fixture_expect(tracker, "5 waits actor of 5.0(8)\n"
                                    "6 given up of 5.0(8): new began\n6 whole actor 'b' 8 of 6.0(8)\n");
}

static void one_in_the_same_packet_does_too(void **state) {
    add_unreliable("i", "a");
    add_unreliable("if", "b");
    add_unreliable("f", "c");
    flush();
    tracker_fixture_expect(tracker,
                           "1 waits actor? of 1.0(8)\n1 given up of 1.0(8): new began\n1 whole actor? 'b' 8 of 1.1(8)\n"
                           "1 given up of 1.2(8): no beginning\n");
}

static void a_fragment_continues_nothing_that_has_ended(void **state) {
    reliable(5, "", "a");
    reliable(6, "p", "b");
    reliable(7, "if", "c");
    reliable(8, "f", "d");
    tracker_fixture_expect(tracker, "1 whole actor 'a' 8 of 1.0(8)\n2 given up of 2.0(8): no beginning\n"
                                    "3 whole actor 'c' 8 of 3.0(8)\n4 given up of 4.0(8): no beginning\n");
    unreliable(100, "", "a");
    unreliable(101, "f", "b");
    tracker_fixture_expect(tracker, "5 whole actor 'a' 8 of 5.0(8)\n6 given up of 6.0(8): no beginning\n");
}

static void what_came_late_proves_it_too(void **state) {
    reliable(5, "if", "a");
    reliable(7, "f", "c");
    reliable(6, "", "b");
    tracker_fixture_expect(tracker, "1 whole actor 'a' 8 of 1.0(8)\n2 waits actor of 2.0(8)\n"
                                    "3 given up of 2.0(8): no beginning\n3 whole actor 'b' 8 of 3.0(8)\n");
}

static void another_bunch_ends_a_chain(void **state) {
    reliable(5, "i", "a");
    reliable(6, "", "b");
    reliable(7, "f", "c");
    tracker_fixture_expect(tracker,
                           "1 waits actor of 1.0(8)\n2 given up of 1.0(8): no end\n2 whole actor 'b' 8 of 2.0(8)\n"
                           "3 given up of 3.0(8): no beginning\n");
}

static void a_packet_without_the_next_fragment_ends_an_unreliable_one(void **state) {
    unreliable(10, "i", "a");
    flush_as(11);
    unreliable(12, "f", "c");
    tracker_fixture_expect(tracker, "1 waits actor? of 1.0(8)\n"
                                    "3 given up of 1.0(8): no end\n3 given up of 3.0(8): no beginning\n");
}

static void the_other_reliability_does_not_continue(void **state) {
    reliable(5, "i", "a");
    unreliable(next_id++, "f", "b");
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(8)\n2 given up of 2.0(8): mixed\n");
}

static void unreliable_ones_wait_for_64_packets(void **state) {
    unreliable(10, "i", "a");
    unreliable(12, "f", "c"); /* 11 can still arrive */
    unreliable(74, "if", "d");
    tracker_fixture_expect(tracker,
                           "1 waits actor? of 1.0(8)\n2 waits actor? of 2.0(8)\n3 whole actor? 'd' 8 of 3.0(8)\n");
    unreliable(75, "if", "e");
    tracker_fixture_expect(tracker, "4 given up of 2.0(8): missing\n4 given up of 1.0(8): missing\n"
                                    "4 whole actor? 'e' 8 of 4.0(8)\n");
}

static void reliable_ones_wait_for_all_that_can_be_in_flight(void **state) {
    reliable(1, "i", "a");
    reliable(402, "if", "");
    reliable(802, "if", "");
    reassembly_fixture_clear(&fixture);
    reliable(1, "if", ""); /* 1025 */
    tracker_fixture_expect(tracker, "4 whole actor '' 0 of 4.0(0)\n");
    reliable(2, "if", ""); /* 1026 */
    tracker_fixture_expect(tracker, "5 given up of 1.0(8): missing\n5 whole actor '' 0 of 5.0(0)\n");
}

static void only_the_last_fragment_may_be_ragged(void **state) {
    add_reliable(5, "i", "a");
    add_reliable(6, "p", "b")->data.bits = 7;
    flush();
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(8)\n1 given up of 1.0(8) 1.1(7): unaligned\n");
    reliable(7, "f", "c");
    tracker_fixture_expect(tracker, "2 given up of 2.0(8): no beginning\n");
}

static void the_last_fragment_carries_no_exports(void **state) {
    add_reliable(5, "i", "a");
    add_reliable(6, "fx", "b");
    flush();
    tracker_fixture_expect(tracker, "1 waits actor of 1.0(8)\n1 whole actor exports 'b' 8 of 1.1(8)\n"
                                    "1 given up of 1.0(8) 1.1(0): final exports\n");
}

/* ---- limits ---- */

static void a_large_message_is_whole_and_says_so(void **state) {
    static const uint8_t bytes[900] = {'a', 'b'};
    const uint32_t count = UE_REASSEMBLY_MESSAGE_BYTES_MAX / sizeof bytes + 1;
    char line[200];
    for (uint32_t i = 0; i < count; i++) {
        reassembly_fixture_clear(&fixture);
        add_reliable(5 + i,
                     i == 0          ? "i"
                     : i + 1 < count ? "p"
                                     : "f",
                     "")
            ->data = (struct ue_view){bytes, 0, 8 * sizeof bytes};
        flush();
    }
    snprintf(line, sizeof line,
             "%u of 1.0(7200) 2.0(7200) 3.0(7200) 4.0(7200) 5.0(7200) 6.0(7200) 7.0(7200) 8.0(7200): "
             "too large\n",
             (unsigned)(8 * sizeof bytes * count));
    assert_non_null(strstr(tracker->text, "73 whole actor 'ab<00>"));
    assert_non_null(strstr(tracker->text, line));
}

/* Unfinished messages on many channels: the oldest pending fragments are dropped. */
static void what_waits_is_bounded(void **state) {
    static const uint8_t bytes[900] = {0};
    uint64_t fragments = UE_REASSEMBLY_BYTES_MAX / sizeof bytes + 10;
    for (uint32_t i = 0; i < fragments; i++) {
        reassembly_fixture_clear(&fixture);
        reassembly_fixture_bunch(tracker_fixture_reliable(tracker, 2 + i, 1), "i", "")->data =
            (struct ue_view){bytes, 0, 8 * sizeof bytes};
        flush();
        assert_true(ue_reassembly_bytes(fixture.reassembly) <= UE_REASSEMBLY_BYTES_MAX);
    }
    assert_non_null(strstr(tracker->text, "(7200): no memory\n"));
    assert_non_null(strstr(tracker->text, " waits actor of "));
}

static void fragments_of_a_channel_are_bounded(void **state) {
    for (unsigned i = 0; i < UE_REASSEMBLY_FRAGMENTS_MAX; i++) {
        reassembly_fixture_clear(&fixture);
        add_unreliable(i == 0 ? "i" : "p", "a");
        if (tracker->item_count == TRACKER_FIXTURE_ITEMS_MAX) {
            flush();
        }
    }
    reassembly_fixture_clear(&fixture);
    add_unreliable("p", "z");
    flush();
    assert_non_null(strstr(tracker->text, "17 given up of 1.0(8)"));
    assert_non_null(strstr(tracker->text, ": no memory\n17 given up of 17.0(8): no beginning\n"));
}

static void without_memory_fragments_are_given_up(void **state) {
    flush(); /* the memory of the tracker */
    reliable(5, "if", "x");
    reassembly_fixture_clear(&fixture);
    tracker->memory.limit_bytes = tracker->memory.used_bytes;
    reliable(6, "i", "a");
    tracker_fixture_expect(tracker, "3 given up of 3.0(8): no memory\n");
    tracker->memory.limit_bytes =
        tracker->memory.used_bytes + 400; /* enough for the fragments, not for the joined message */
    reliable(7, "if", "a");
    unreliable(next_id, "", "b");
    assert_non_null(strstr(tracker->text, "whole actor 'b' 8 of 5.0(8)\n"));
}

/* ---- kinds ---- */

static void expect_kind(uint32_t channel, enum ue_content_kind expected, bool guessed) {
    bool is_guessed;
    assert_int_equal(ue_reassembly_channel_kind(fixture.reassembly, channel, &is_guessed), expected);
    assert_int_equal(is_guessed, guessed);
}

static void name_channel(unsigned side, uint32_t channel, struct ue_name name) {
    tracker_fixture_reliable(tracker, channel, 5)->name = name;
    reassembly_fixture_flush(&fixture, side, next_id++);
    reassembly_fixture_clear(&fixture);
}

static void a_name_tells_the_kind_to_both_sides(void **state) {
    expect_kind(0, UE_CONTENT_CONTROL, true);
    expect_kind(1, UE_CONTENT_VOICE, true);
    expect_kind(2, UE_CONTENT_ACTOR, true);
    name_channel(CLIENT, 1, (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR});
    expect_kind(1, UE_CONTENT_ACTOR, false);
    name_channel(SERVER, 1, (struct ue_name){.hardcoded = true, .index = UE_NAME_VOICE});
    expect_kind(1, UE_CONTENT_VOICE, false); /* opened anew */
    name_channel(SERVER, 2, (struct ue_name){.hardcoded = true, .index = UE_NAME_DATA_STREAM});
    name_channel(SERVER, 3, (struct ue_name){.hardcoded = true, .index = 77});
    name_channel(CLIENT, 0, (struct ue_name){.hardcoded = true, .index = UE_NAME_CONTROL});
    expect_kind(2, UE_CONTENT_DATA_STREAM, false);
    expect_kind(3, UE_CONTENT_UNKNOWN, false);
    expect_kind(0, UE_CONTENT_CONTROL, false);
}

static void a_name_may_be_a_text(void **state) {
    const struct ue_text voice = {{(const uint8_t *)"Voice", 0, 40}, false};
    const struct ue_text wide = {{(const uint8_t *)"A\0c\0t\0o\0r", 0, 80}, true};
    const struct ue_text other = {{(const uint8_t *)"Voices", 0, 48}, false};
    name_channel(SERVER, 2, (struct ue_name){.text = voice});
    name_channel(SERVER, 3, (struct ue_name){.text = wide});
    name_channel(SERVER, 4, (struct ue_name){.text = other});
    expect_kind(2, UE_CONTENT_VOICE, false);
    expect_kind(3, UE_CONTENT_ACTOR, false);
    expect_kind(4, UE_CONTENT_UNKNOWN, false);
}

static void legacy_bunches_have_a_type(void **state) {
    static const struct {
        uint8_t type;
        enum ue_content_kind kind;
    } rows[] = {{UE_CHANNEL_CONTROL, UE_CONTENT_CONTROL},
                {UE_CHANNEL_ACTOR, UE_CONTENT_ACTOR},
                {UE_CHANNEL_FILE, UE_CONTENT_UNKNOWN},
                {UE_CHANNEL_VOICE, UE_CONTENT_VOICE}};
    begin_again("4.18", SIZE_MAX / 2);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tracker_fixture_reliable(tracker, 10 + i, 5)->ch_type = rows[i].type;
        flush();
        expect_kind(10 + i, rows[i].kind, false);
    }
}

static void every_problem_has_its_sentence(void **state) {
    for (unsigned i = 0; i <= UE_REASSEMBLY_NO_MEMORY; i++) {
        const char *text = ue_reassembly_problem_text((enum ue_reassembly_problem)i);
        assert_true(strlen(text) > 20 && text[strlen(text) - 1] != '.');
        for (unsigned j = 0; j < i; j++) {
            assert_string_not_equal(text, ue_reassembly_problem_text((enum ue_reassembly_problem)j));
        }
    }
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        test(a_bunch_that_is_not_partial_is_whole),
        test(a_reliable_chain_takes_flags_of_both_ends),
        test(order_is_that_of_the_sequence_and_copies_count_once),
        test(unreliable_fragments_share_a_packet_or_stand_in_neighbours),
        test(unreliable_fragments_may_come_late),
        test(a_late_packet_may_hold_several),
        test(broken_ones_in_a_late_packet_are_told_too),
        test(bits_are_joined_where_bytes_are_not),
        test(exports_are_messages_of_their_own),
        test(custom_exports_stand_apart),
        test(nothing_may_follow_the_custom_exports),
        test(one_fragment_may_be_all),
        test(both_directions_and_reliabilities_have_their_own_chains),
        test(a_new_message_ends_the_one_before),
        test(one_in_the_same_packet_does_too),
        test(a_fragment_continues_nothing_that_has_ended),
        test(what_came_late_proves_it_too),
        test(another_bunch_ends_a_chain),
        test(a_packet_without_the_next_fragment_ends_an_unreliable_one),
        test(the_other_reliability_does_not_continue),
        test(unreliable_ones_wait_for_64_packets),
        test(reliable_ones_wait_for_all_that_can_be_in_flight),
        test(only_the_last_fragment_may_be_ragged),
        test(the_last_fragment_carries_no_exports),
        test(a_large_message_is_whole_and_says_so),
        test(what_waits_is_bounded),
        test(fragments_of_a_channel_are_bounded),
        test(without_memory_fragments_are_given_up),
        test(a_name_tells_the_kind_to_both_sides),
        test(a_name_may_be_a_text),
        test(legacy_bunches_have_a_type),
        cmocka_unit_test(every_problem_has_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

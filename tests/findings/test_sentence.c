/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <uerudp/findings.h>

static void assert_sentence(const struct ue_finding *finding, const char *sentence) {
    char text[UE_FINDING_TEXT_BYTES];
    assert_int_equal(strlen(sentence), ue_finding_text(finding, text, sizeof text));
    assert_string_equal(text, sentence);
}

/* Every name that a sentence of the table uses is known. */
static void test_table(void **state) {
    for (int id = 0; id < UE_FINDING_COUNT; id++) {
        struct ue_finding finding = {.id = (enum ue_finding_id)id, .frame_count = 2, .frames = {7, 9}};
        for (unsigned value = 0; value < UE_VALUE_ID_COUNT; value++) {
            ue_finding_set(&finding, value, 2);
        }
        finding.text = finding.other_text = "text";
        char text[UE_FINDING_TEXT_BYTES];
        ue_finding_text(&finding, text, sizeof text);
        assert_null(strpbrk(text, "?{}[]|"));
        assert_string_not_equal(text, "");
    }
}

static void test_words(void **state) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_INCOMPLETE, 1, 1, 5);
    assert_sentence(&finding,
                    "1 packet server to client was acknowledged, as reported from frame 5 on, but is not among the "
                    "packets of this connection that were analysed");
    finding = ue_finding_of_count(UE_FINDING_MESSAGE, 0, 3, 8);
    assert_sentence(&finding, "3 messages of the control channel do not decode, the first in "
                              "frame 8");
}

/* A part in brackets needs its value. */
static void test_parts(void **state) {
    struct ue_finding finding = ue_finding_of_span(UE_FINDING_STALL, 0, INT64_C(300000000), 4, 6);
    ue_finding_set(&finding, UE_VALUE_COUNT, 1);
    ue_finding_set(&finding, UE_VALUE_CHANNEL, 3);
    ue_finding_set(&finding, UE_VALUE_FIRST_SEQ, 70);
    ue_finding_set(&finding, UE_VALUE_LAST_SEQ, 72);
    assert_sentence(&finding, "reliable stall of 300 ms on channel 3, ChSequence 70 to 72 (client to server): not "
                              "delivered once (frame 4), arrived with frame 6");
    ue_finding_set(&finding, UE_VALUE_OTHERS, 1);
    assert_sentence(&finding, "reliable stall of 300 ms on channel 3, ChSequence 70 to 72 (client to server): not "
                              "delivered once (frame 4), arrived with frame 6, and with it 1 other bunch");
    ue_finding_set(&finding, UE_VALUE_OTHERS, 0);
    ue_finding_set(&finding, UE_VALUE_MAYBE_REFUSED, 1);
    assert_sentence(&finding, "reliable stall of 300 ms on channel 3, ChSequence 70 to 72 (client to server): not "
                              "delivered once (frame 4; in 1 of these packets it may have been delivered), arrived "
                              "with frame 6");
    finding.id = UE_FINDING_UNDELIVERED;
    assert_sentence(&finding,
                    "reliable bunch on channel 3, ChSequence 70 to 72 (client to server) is not known to have arrived: "
                    "not delivered once (frame 4; in 1 of these packets it may have been delivered), and no later copy "
                    "acknowledged within 300 ms of the first");
    finding = ue_finding_of_count(UE_FINDING_RESTART, 0, 2, 0);
    assert_sentence(&finding, "the connection was restarted twice");
}

/* One frame is no range. */
static void test_range(void **state) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_LOSS_BURST, 0, 5, 45);
    finding.frames[1] = 45;
    finding.frame_count = 2;
    ue_finding_set(&finding, UE_VALUE_FIRST_ID, 7);
    ue_finding_set(&finding, UE_VALUE_LAST_ID, 11);
    ue_finding_set(&finding, UE_VALUE_OTHERS, 4);
    assert_sentence(&finding,
                    "5 packets in a row were not delivered, client to server, ids 7 to 11 (frame 45; 4 of them "
                    "are not among the packets of this connection that were analysed)");
    finding.frames[1] = 48;
    ue_finding_set(&finding, UE_VALUE_OTHERS, 1);
    assert_sentence(&finding,
                    "5 packets in a row were not delivered, client to server, ids 7 to 11 (frames 45 to 48; 1 of "
                    "them is not among the packets of this connection that were analysed)");
}

/* Without a loss in the other direction there is no share of it. */
static void test_other_share(void **state) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_ONE_WAY_LOSS, 1, 10, 0);
    ue_finding_set(&finding, UE_VALUE_OF, 27);
    ue_finding_set(&finding, UE_VALUE_OTHERS_OF, 81);
    assert_sentence(&finding, "37.0 % of the packets server to client were not delivered (10 of 27), but none of 81 in "
                              "the other direction");
    ue_finding_set(&finding, UE_VALUE_OTHERS, 3);
    assert_sentence(&finding,
                    "37.0 % of the packets server to client were not delivered (10 of 27), but only 3 of 81 in "
                    "the other direction");
    finding.values[UE_VALUE_OTHERS].at_most = 5;
    assert_sentence(&finding,
                    "37.0 % of the packets server to client were not delivered (10 of 27), but only 3 to 5 of "
                    "81 in the other direction");
}

/* An engine queues messages of the control channel for which its buffer has no space. */
static void test_buffer(void **state) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_BUFFER_HIGH, 1, 205, 9);
    ue_finding_set(&finding, UE_VALUE_OF, 256);
    assert_sentence(&finding,
                    "reliable buffer of channel 0 (server to client) held at least 205 of 256 bunches in frame 9");
    ue_finding_set(&finding, UE_VALUE_CHANNEL, 3);
    assert_sentence(&finding,
                    "reliable buffer of channel 3 (server to client) held at least 205 of 256 bunches in frame "
                    "9; an unmodified engine that sends more than the buffer holds closes the "
                    "connection, which disconnects the player");
    ue_finding_set(&finding, UE_VALUE_CHANNEL, 0);
    ue_finding_set(&finding, UE_VALUE_OTHERS, 7);
    assert_sentence(
        &finding, "reliable buffer of channel 0 (server to client) held at least 205 of 256 bunches in frame 9, if the "
                  "server saw the packets in the order of the capture (7 of both sides are not in the order of "
                  "their ids)");
}

static void test_span_in_doubt(void **state) {
    struct ue_finding finding = ue_finding_of_span(UE_FINDING_UNCLOCKED_SILENCE, 0, 500 * INT64_C(1000000), 4, 6);
    finding.values[UE_VALUE_SPAN].at_most = INT64_C(30500000000);
    assert_sentence(&finding,
                    "no packet from the client for 500 ms to 30.5 s, between frames 4 and 6, while the server "
                    "sent 0; no packet id is missing: the client did not send, or its packets were held on the way, or "
                    "in the capture");
    finding = ue_finding_of_span(UE_FINDING_REPEATED, 0, -300 * INT64_C(1000000), 4, 6);
    finding.values[UE_VALUE_SPAN].at_most = 40 * INT64_C(1000000);
    ue_finding_set(&finding, UE_VALUE_COUNT, 1);
    assert_sentence(&finding, "reliable delay of up to 40 ms on channel 0, ChSequence 0 (client to server): not "
                              "delivered once (frame 4), arrived with frame 6");
}

static void test_has_value(void **state) {
    assert_true(ue_finding_has_value(UE_FINDING_STALL, UE_VALUE_SPAN));
    assert_true(ue_finding_has_value(UE_FINDING_STALL, UE_VALUE_FIRST_SEQ)); /* of {sequences} */
    assert_true(ue_finding_has_value(UE_FINDING_STALL, UE_VALUE_OTHERS));    /* in a part in brackets */
    assert_false(ue_finding_has_value(UE_FINDING_STALL, UE_VALUE_FIRST_ID));
    assert_true(ue_finding_has_value(UE_FINDING_ONE_WAY_LOSS, UE_VALUE_OTHERS_OF)); /* of {other_share} */
    assert_false(ue_finding_has_value(UE_FINDING_LOSS, UE_VALUE_OTHERS_OF));
    assert_false(ue_finding_has_value(UE_FINDING_CLOSED, UE_VALUE_COUNT));
    assert_true(ue_finding_has_side(UE_FINDING_ACK_GAP)); /* by {peer} */
    assert_true(ue_finding_has_side(UE_FINDING_LOSS));    /* by {direction} */
    assert_false(ue_finding_has_side(UE_FINDING_PAUSE));
}

/* A text of the network is no sentence of the table. */
static void test_hostile_text(void **state) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_CLOSED, 1, 0, 5);
    finding.text = "{count} [count:%s%n] {";
    assert_sentence(&finding, "the server closed the connection because of {count} [count:%s%n] { (frame 5)");
}

static void assert_duration(int64_t span_ns, const char *expected) {
    char text[32];
    assert_int_equal(strlen(expected), ue_duration_text(span_ns, text, sizeof text));
    assert_string_equal(text, expected);
}

static void test_duration(void **state) {
    assert_duration(0, "0.0 ms");
    assert_duration(7349999, "7.3 ms");
    assert_duration(7350000, "7.4 ms");
    assert_duration(312400000, "312 ms");
    assert_duration(INT64_C(9999600000), "10000 ms");
    assert_duration(INT64_C(12449999999), "12.4 s");
    assert_duration(-1500000, "-1.5 ms");
    assert_duration(INT64_MIN, "-9223372036.9 s");
}

static void assert_printed(enum ue_finding_id id, int64_t span_ns, int64_t expected_ns) {
    const struct ue_finding finding = ue_finding_of_span(id, 0, span_ns, 4, 6);
    assert_int_equal(ue_finding_printed_span_ns(&finding), expected_ns);
}

/* As in the sentences, of which that of PING always has milliseconds. */
static void test_printed_span(void **state) {
    assert_printed(UE_FINDING_STALL, 7349999, 7300000);
    assert_printed(UE_FINDING_STALL, 7350000, 7400000);
    assert_printed(UE_FINDING_STALL, 311500000, 312000000);
    assert_printed(UE_FINDING_STALL, INT64_C(12449999999), INT64_C(12400000000));
    assert_printed(UE_FINDING_PING, INT64_C(12449999999), INT64_C(12450000000));
    assert_printed(UE_FINDING_STALL, -1, -1);
}

static void test_printed_percent(void **state) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_LOSS, 0, 44, 0);
    ue_finding_set(&finding, UE_VALUE_OF, 1009);
    assert_true(ue_finding_printed_percent(&finding) == 4.4);
    finding.id = UE_FINDING_BUFFER_HIGH; /* prints both numbers */
    assert_true(ue_finding_printed_percent(&finding) < 4.37);
    finding.values[UE_VALUE_OF] = (struct ue_finding_value){0, 0};
    assert_true(ue_finding_printed_percent(&finding) == 0);
}

/* A text that is too long ends at a character. */
static void test_no_room(void **state) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_CLOSED, 1, 0, 5);
    char text[64];
    finding.text = "\xe2\x82\xac\xe2\x82\xac";
    const size_t whole = strlen("the server closed the connection because of ");
    for (size_t room = 1; room < 7; room++) {
        assert_int_equal(whole + (room - 1) / 3 * 3, ue_finding_text(&finding, text, whole + room));
        assert_int_equal(strlen(text), whole + (room - 1) / 3 * 3);
    }
    assert_int_equal(0, ue_finding_text(&finding, text, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),           cmocka_unit_test(test_words),
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_range),
        cmocka_unit_test(test_span_in_doubt),   cmocka_unit_test(test_has_value),
        cmocka_unit_test(test_hostile_text),    cmocka_unit_test(test_duration),
        cmocka_unit_test(test_no_room),         cmocka_unit_test(test_other_share),
        cmocka_unit_test(test_buffer),          cmocka_unit_test(test_printed_span),
        cmocka_unit_test(test_printed_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

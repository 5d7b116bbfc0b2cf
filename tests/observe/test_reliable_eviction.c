/* SPDX-License-Identifier: MIT */
/* Which reliable bunches the tracker forgets when their table is full: a bunch is known as long as its sender can
   retransmit it, and beside each test of a bunch that is forgotten is one of a bunch that is still known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/observe/tracker_fixture.h"

#define FIRST_ID 10
#define FIRST_ANSWER 70
#define FIRST_SEQ 11
#define CHANNEL 3 /* of the bunch in question */
#define OTHER_CHANNEL 4
#define SECOND_NS INT64_C(1000000000)
#define FAST_NS INT64_C(8000000) /* less than the 10 ms of the fixture */

static bool is_legacy;
static uint64_t bunch_frame; /* of the bunch in question */
static bool shows_acks; /* the server's packets acknowledge those of the client, and show that their acks arrived */
static uint64_t first_frame; /* of the bunch of the latest packet; 0: not known */
static uint32_t copy;        /* which transmission it seems to be */
static int64_t id_step;      /* between packets of the server that are captured; the others were lost */
static int64_t next_id;      /* the server's next packet */
static int64_t answer_id;    /* the client's next packet */
static uint32_t next_seq;    /* of the other channel */

static void on_event(void *user, const struct ue_observed_event *event) {
    if (event->type == UE_OBSERVED_BUNCH) {
        first_frame = event->bunch.first_frame;
        copy = event->bunch.copy;
    }
}

/* The server sends the items added since its last packet. */
static void serve(void) {
    int64_t answered_id = shows_acks ? answer_id - 1 : FIRST_ANSWER - 1;
    if (is_legacy && answered_id >= FIRST_ANSWER) {
        tracker_fixture_ack(&shared_fixture, answered_id);
    }
    tracker_fixture_packet(&shared_fixture, SERVER, next_id, answered_id, UINT32_MAX);
    next_id += id_step;
}

/* The server sends packets with this number of other bunches each. If answers_each is not 0, the client acknowledges
   every packet, in an answer to each answers_each packets, at most 32. */
static void serve_others(int packets, int bunches, int answers_each) {
    for (int i = 1; i <= packets; i++) {
        for (int bunch = 0; bunch < bunches; bunch++) {
            tracker_fixture_reliable(&shared_fixture, OTHER_CHANNEL, next_seq++ & 1023);
        }
        serve();
        shared_fixture.now_ns -= FAST_NS;
        if (answers_each != 0 && i % answers_each == 0) {
            if (is_legacy) {
                tracker_fixture_ack(&shared_fixture, next_id - 2); /* each ack is in two packets */
                tracker_fixture_ack(&shared_fixture, next_id - 1);
            }
            tracker_fixture_packet(&shared_fixture, CLIENT, answer_id++, next_id - id_step,
                                   id_step == 1 ? UINT32_MAX : 0x55555555);
        }
    }
}

static void serve_bunch(void) {
    tracker_fixture_reliable(&shared_fixture, CHANNEL, FIRST_SEQ);
    serve();
    bunch_frame = shared_fixture.frame;
}

static void assert_known(bool is_known) {
    tracker_fixture_reliable(&shared_fixture, CHANNEL, FIRST_SEQ);
    serve();
    assert_int_equal(first_frame, is_known ? bunch_frame : 0);
}

static int begin(const char *release, bool shows) {
    tracker_fixture_init(&shared_fixture, release, SIZE_MAX / 2);
    shared_fixture.listener = (struct ue_observer_callbacks){.event = on_event};
    is_legacy = shared_fixture.x[SERVER].profile.packet == UE_PACKET_LEGACY;
    shows_acks = shows;
    next_id = FIRST_ID;
    id_step = 1;
    answer_id = FIRST_ANSWER;
    next_seq = FIRST_SEQ;
    if (!is_legacy) {
        tracker_fixture_handshake(&shared_fixture, SERVER, UE_HANDSHAKE_CHALLENGE, false, FIRST_ID, FIRST_ANSWER);
    }
    return 0;
}

static int begin_acks_shown(void **state) {
    return begin("5.1", true);
}

static int begin_acks_not_shown(void **state) {
    return begin("5.1", false);
}

static int begin_legacy(void **state) {
    return begin("4.18", true);
}

/* ---- the sender is shown to have received the ack ---- */

/* A copy of a packet can come 64 packets late. */
static void a_released_bunch_is_known_for_64_packets(void **state) {
    serve_others(150, 1, 1);
    serve_bunch();
    serve_others(62, 1, 1);
    assert_known(true);
}

static void a_released_bunch_is_forgotten_after_that(void **state) {
    serve_bunch();
    serve_others(200, 1, 1);
    assert_known(false);
}

/* A receiver up to 4.21 can report a packet that it acknowledged as not received. */
static void a_released_bunch_up_to_4_21_is_known_as_one_without_shown_acks(void **state) {
    serve_bunch();
    serve_others(200, 1, 1);
    assert_known(true);
}

/* ---- a bunch before it may still come ---- */

/* Every other packet is lost; the one with the bunch before the one in question, too, if is_lost. At the end it is sent
   again. Returns which transmission that seems to be. */
static uint32_t send_again_at_the_end(bool is_lost) {
    id_step = 2;
    serve_others(1, 1, 1);
    if (!is_lost) {
        tracker_fixture_reliable(&shared_fixture, CHANNEL, FIRST_SEQ);
    }
    serve_others(1, 1, 1);
    tracker_fixture_reliable(&shared_fixture, CHANNEL, FIRST_SEQ + 1);
    serve_others(700, 3, 1);
    tracker_fixture_reliable(&shared_fixture, CHANNEL, FIRST_SEQ);
    serve();
    return copy;
}

static void what_was_not_captured_before_is_the_first_transmission(void **state) {
    assert_int_equal(send_again_at_the_end(true), 1);
}

static void what_was_captured_before_is_a_retransmission(void **state) {
    assert_int_equal(send_again_at_the_end(false), 2);
}

/* ---- it is not ---- */

static void serve_around_pause(int packets, int64_t pause_ns) {
    serve_bunch();
    serve_others(packets, 3, 20);
    shared_fixture.now_ns += pause_ns;
    serve_others(100, 3, 20);
}

static void a_delivered_bunch_is_known_for_1024_packets(void **state) {
    serve_around_pause(900, 6 * SECOND_NS);
    assert_known(true);
}

static void a_delivered_bunch_is_forgotten_after_that(void **state) {
    serve_around_pause(1300, 0);
    assert_known(false);
}

static void a_bunch_without_ack_is_known_for_1024_packets(void **state) {
    serve_bunch();
    serve_others(500, 3, 0);
    shared_fixture.now_ns += 6 * SECOND_NS;
    serve_others(500, 3, 0);
    assert_known(true);
}

static void a_bunch_without_ack_is_forgotten_after_that(void **state) {
    serve_bunch();
    serve_others(1400, 3, 0);
    assert_known(false);
}

#define IN(setup, test) cmocka_unit_test_setup_teardown(test, setup, tracker_fixture_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN(begin_acks_shown, a_released_bunch_is_known_for_64_packets),
        IN(begin_acks_shown, a_released_bunch_is_forgotten_after_that),
        IN(begin_legacy, a_released_bunch_up_to_4_21_is_known_as_one_without_shown_acks),
        IN(begin_acks_shown, what_was_not_captured_before_is_the_first_transmission),
        IN(begin_acks_shown, what_was_captured_before_is_a_retransmission),
        IN(begin_acks_not_shown, a_delivered_bunch_is_known_for_1024_packets),
        IN(begin_acks_not_shown, a_delivered_bunch_is_forgotten_after_that),
        IN(begin_acks_not_shown, a_bunch_without_ack_is_known_for_1024_packets),
        IN(begin_acks_not_shown, a_bunch_without_ack_is_forgotten_after_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Changelists of objects and of sent updates (endpoint.md 37). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tools/endpoint/replication/replication_history.h"

static uint64_t handles(const char *digits) {
    uint64_t set = 0;
    for (; *digits != 0; digits++) {
        set |= ue_handle_bit((uint32_t)(*digits - '0'));
    }
    return set;
}

static struct ue_packet_range packet(int64_t id) {
    return (struct ue_packet_range){id, id};
}

static void send(struct ue_sent *sent, const char *changed, int64_t packet_id, int64_t out_ack, const char *expected) {
    assert_true(ue_sent_begin(sent, handles(changed), out_ack) == handles(expected));
    if (*expected != 0) {
        ue_sent_end(sent, packet(packet_id));
    }
}

static void a_lost_list_is_merged_into_the_next_one(void **state) {
    struct ue_sent sent = {0};
    send(&sent, "12", 10, 9, "12");
    send(&sent, "3", 11, 9, "3");
    send(&sent, "25", 12, 9, "25");
    assert_int_equal(sent.count, 3);
    assert_int_equal(ue_sent_nak(&sent, 10), 1);
    send(&sent, "7", 13, 12, "127");
    assert_int_equal(sent.count, 1);
    send(&sent, "", 0, 12, "");
    assert_int_equal(sent.count, 1);
    assert_int_equal(ue_sent_nak(&sent, 13), 1);
    send(&sent, "", 14, 12, "127");
    assert_int_equal(sent.count, 1);
    assert_int_equal(sent.naks, 0);
    send(&sent, "", 0, 14, "");
    assert_int_equal(sent.count, 0);
}

/* 31 lists of one handle each, none acknowledged; the 32nd carries all 32 handles. */
static void a_full_ring_is_merged_into_one_list(void **state) {
    struct ue_sent sent = {0};
    for (uint32_t handle = 1; handle <= 31; handle++) {
        assert_true(ue_sent_begin(&sent, ue_handle_bit(handle), 99) == ue_handle_bit(handle));
        ue_sent_end(&sent, packet(100 + handle));
        assert_int_equal(sent.count, handle);
    }
    assert_true(ue_sent_begin(&sent, ue_handle_bit(32), 99) == UINT32_MAX);
    assert_int_equal(sent.count, 1);
}

/* Packets 10 to 12 carry one list: it has arrived when the last of them has, and is lost once if any of them is. */
static void a_list_in_several_packets_is_acknowledged_or_lost_as_a_whole(void **state) {
    struct ue_sent sent = {0};
    ue_sent_begin(&sent, handles("1"), 9);
    ue_sent_end(&sent, (struct ue_packet_range){10, 12});
    send(&sent, "", 0, 11, "");
    assert_int_equal(sent.count, 1);
    assert_int_equal(ue_sent_nak(&sent, 13), 0);
    assert_int_equal(ue_sent_nak(&sent, 9), 0);
    assert_int_equal(ue_sent_nak(&sent, 11), 1);
    assert_int_equal(ue_sent_nak(&sent, 12), 0);
    assert_int_equal(sent.naks, 1);
    send(&sent, "", 13, 12, "1");
    send(&sent, "", 0, 13, "");
    assert_int_equal(sent.count, 0);
}

static void a_list_without_packets_counts_as_lost(void **state) {
    struct ue_sent sent = {0};
    ue_sent_begin(&sent, handles("4"), 9);
    ue_sent_fail(&sent);
    assert_int_equal(ue_sent_nak(&sent, 0), 0); /* no packet carried the list */
    assert_int_equal(sent.naks, 1);
    assert_true(ue_sent_begin(&sent, 0, 9) == handles("4"));
    ue_sent_fail(&sent);
    send(&sent, "5", 10, 9, "45");
    assert_int_equal(sent.count, 1);
}

/* Lists 0 to 63 hold one bit each, list 64 bit 0 again: list 1 then stands for lists 0 and 1, and from list 2 on only
   bit 1 is missing. */
static void the_two_oldest_changes_are_merged(void **state) {
    struct ue_changes changes = {0};
    uint64_t seen[] = {0, 1, 2, 65};
    static const uint64_t expected[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX - 2, 0};
    for (uint32_t i = 0; i < 65; i++) {
        ue_changes_add(&changes, UINT64_C(1) << i % 64);
        assert_int_equal(changes.end - changes.first, i < 64 ? i + 1 : 64);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_true(ue_changes_since(&changes, &seen[i]) == expected[i]);
        assert_true(seen[i] == 65);
    }
}

/* Readers at any distance see every change that was added after their last read. */
static void a_reader_at_any_distance_sees_every_change(void **state) {
    struct rng rng = rng_seeded("changes");
    struct ue_changes changes = {0};
    uint64_t seen[4] = {0};
    uint64_t missing[4] = {0};
    for (uint64_t round = rng_rounds(20000); round > 0; round--) {
        uint64_t added = UINT64_C(1) << rng_below(&rng, 64);
        ue_changes_add(&changes, added);
        for (size_t i = 0; i < 4; i++) {
            missing[i] |= added;
            if (rng_below(&rng, 40 * (i + 1)) == 0) {
                assert_true((ue_changes_since(&changes, &seen[i]) & missing[i]) == missing[i]);
                missing[i] = 0;
            }
        }
    }
}

/* Packets are acknowledged or lost in order. A handle leaves all lists only after the arrival of a packet that was sent
   after its last change. */
static void a_handle_leaves_the_lists_only_when_its_change_arrived(void **state) {
    struct rng rng = rng_seeded("sent lists");
    static uint64_t packets[100000];
    struct ue_sent sent = {0};
    int64_t next = 0, acknowledged = 0, out_ack = -1;
    int64_t changed_in[64]; /* first packet after the last change; -1: it arrived */
    memset(changed_in, 0xff, sizeof changed_in);
    for (uint64_t round = rng_rounds(50000); round > 0 && next < 100000; round--) {
        uint64_t changed = rng_chance(&rng, 60) ? UINT64_C(1) << rng_below(&rng, 64) : 0;
        uint64_t sends = ue_sent_begin(&sent, changed, out_ack);
        assert_true((sends & changed) == changed);
        for (size_t bit = 0; bit < 64; bit++) {
            changed_in[bit] = changed >> bit & 1 ? next : changed_in[bit];
        }
        if (sends != 0) {
            packets[next] = sends;
            ue_sent_end(&sent, packet(next++));
        }
        while (acknowledged < next && rng_chance(&rng, 55)) {
            if (rng_chance(&rng, 30)) {
                ue_sent_nak(&sent, acknowledged);
            } else {
                out_ack = acknowledged;
                for (size_t bit = 0; bit < 64; bit++) {
                    bool is_last = (packets[acknowledged] >> bit & 1) != 0 && acknowledged >= changed_in[bit];
                    changed_in[bit] = is_last ? -1 : changed_in[bit];
                }
            }
            acknowledged++;
        }
        uint64_t held = 0;
        uint32_t naks = 0;
        for (uint32_t i = 0; i < sent.count; i++) {
            held |= sent.lists[(sent.first + i) % UE_SENT_MAX].handles;
            naks += sent.lists[(sent.first + i) % UE_SENT_MAX].resend;
        }
        assert_int_equal(sent.naks, naks);
        for (size_t bit = 0; bit < 64; bit++) {
            assert_true(changed_in[bit] == -1 || (held >> bit & 1) != 0);
        }
        assert_true(sent.count < UE_SENT_MAX);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_list_is_merged_into_the_next_one),
        cmocka_unit_test(a_full_ring_is_merged_into_one_list),
        cmocka_unit_test(a_list_in_several_packets_is_acknowledged_or_lost_as_a_whole),
        cmocka_unit_test(a_list_without_packets_counts_as_lost),
        cmocka_unit_test(the_two_oldest_changes_are_merged),
        cmocka_unit_test(a_reader_at_any_distance_sees_every_change),
        cmocka_unit_test(a_handle_leaves_the_lists_only_when_its_change_arrived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

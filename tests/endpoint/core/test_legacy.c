/* SPDX-License-Identifier: MIT */
/* Legacy acks, which report one packet each and are sent twice (endpoint.md 36); and the names of close reasons, which
   have no numbers on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/close_reason.h>
#include "tools/endpoint/core/ack_lists.h"
#include <uerudp/seq.h>
#include "tests/support/within.h"

struct legacy_fixture {
    struct ue_share share;
    struct ue_legacy legacy;
};

static int set_up(void **state) {
    struct legacy_fixture *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -1;
    }
    ue_share_init(&f->share, NULL, SIZE_MAX);
    ue_legacy_init(&f->legacy, 0, &f->share);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct legacy_fixture *f = *state;
    ue_legacy_free(&f->legacy);
    int leaked = f->share.used_bytes != 0;
    free(f);
    return leaked ? -1 : 0;
}

/* Reads an ack id from the wire and compares the reports: "2N 3N 4A". */
static void assert_acks(struct ue_legacy *l, uint32_t wire, const char *expected) {
    char text[128] = "";
    size_t used = 0;
    struct ue_legacy_acks acks;
    int64_t id;
    bool delivered;
    ue_legacy_begin(l, ue_seq_expand(wire, l->out_ack_packet_id, UE_PACKET_SEQ_MAX), &acks);
    while (ue_legacy_next(&acks, &id, &delivered)) {
        int written = snprintf(text + used, sizeof text - used, "%s%lld%c", used != 0 ? " " : "", (long long)id,
                               delivered ? 'A' : 'N');
        assert_true(is_within(written, 1, sizeof text - used - 1));
        used += (size_t)written;
    }
    assert_string_equal(text, expected);
}

static void a_gap_is_nacked_at_once_and_a_late_ack_nacks_nothing(void **state) {
    struct legacy_fixture *f = *state;
    assert_acks(&f->legacy, 1, "1A");
    assert_acks(&f->legacy, 4, "2N 3N 4A");
    assert_acks(&f->legacy, 3, "3A");
    assert_true(f->legacy.out_ack_packet_id == 4);
    struct ue_legacy_acks acks;
    ue_legacy_begin(&f->legacy, 4, &acks);
    assert_true(acks.is_late);
    ue_legacy_begin(&f->legacy, 5, &acks);
    assert_false(acks.is_late);
}

static void packet_ids_continue_across_the_wrap(void **state) {
    struct legacy_fixture *f = *state;
    ue_legacy_init(&f->legacy, 16382, &f->share);
    assert_acks(&f->legacy, 16383, "16383A");
    assert_acks(&f->legacy, 0, "16384A");
    assert_acks(&f->legacy, 2, "16385N 16386A");
    assert_true(f->legacy.out_ack_packet_id == 16386);
}

static void assert_resent_acks(struct ue_legacy *l, int64_t first, int64_t end) {
    int64_t id;
    for (int64_t expected = first; expected < end; expected++) {
        assert_true(ue_legacy_next_resend(l, &id));
        assert_true(id == expected);
    }
    assert_false(ue_legacy_next_resend(l, &id));
}

/* endpoint.md 36: QueuedAcks move to ResendAcks at the flush and are written once more. */
static void every_ack_is_written_in_two_packets(void **state) {
    struct legacy_fixture *f = *state;
    struct ue_legacy *l = &f->legacy;
    assert_true(ue_legacy_add(l, 1) && ue_legacy_add(l, 2));
    assert_resent_acks(l, 0, 0); /* the packet with them is not sent yet */
    ue_legacy_flushed(l);
    assert_true(ue_legacy_add(l, 3));
    assert_resent_acks(l, 1, 3);
    ue_legacy_flushed(l);
    assert_resent_acks(l, 3, 4);
    ue_legacy_flushed(l);
    assert_resent_acks(l, 0, 0);
}

static void flushes_without_resends_between_them_keep_the_order(void **state) {
    struct legacy_fixture *f = *state;
    struct ue_legacy *l = &f->legacy;
    int64_t id;
    for (int64_t added = 1; added < 100; added++) {
        assert_true(ue_legacy_add(l, added));
    }
    ue_legacy_flushed(l);
    assert_true(ue_legacy_next_resend(l, &id) && id == 1); /* a packet was sent while acks were resent */
    for (int64_t added = 100; added < 200; added++) {
        assert_true(ue_legacy_add(l, added));
    }
    ue_legacy_flushed(l);
    assert_resent_acks(l, 2, 200);
}

static void without_memory_an_ack_is_written_only_once(void **state) {
    struct legacy_fixture *f = *state;
    f->share.limit_bytes = 300; /* one list of 32 */
    uint32_t added = 0;
    while (added < 1000 && ue_legacy_add(&f->legacy, added)) {
        added++;
    }
    assert_int_equal(added, 32);
    ue_legacy_flushed(&f->legacy);
    assert_false(ue_legacy_add(&f->legacy, 1000));
    assert_resent_acks(&f->legacy, 0, 32);
}

/* One ack is always pending, so neither list is ever empty. */
static void memory_stays_bounded_over_time(void **state) {
    struct legacy_fixture *f = *state;
    assert_true(ue_legacy_add(&f->legacy, 0));
    for (int64_t id = 1; id < 10000; id++) {
        int64_t resent;
        ue_legacy_flushed(&f->legacy);
        assert_true(ue_legacy_add(&f->legacy, id));
        ue_legacy_flushed(&f->legacy);
        assert_true(ue_legacy_next_resend(&f->legacy, &resent) && resent == id - 1);
    }
    assert_true(is_within(f->share.peak_bytes, 1, 1024));
}

static void close_reasons_are_found_by_name(void **state) {
    for (size_t i = 0; i < UE_CLOSE_REASON_COUNT; i++) {
        const char *name = ue_close_reason_name((enum ue_close_reason)i);
        assert_int_equal(ue_close_reason_find(name, strlen(name)), i);
    }
    assert_string_equal(ue_close_reason_name(UE_CLOSE_RECEIVED_NET_GUID_BUNCH_FAIL), "ReceivedNetGUIDBunchFail");
    assert_string_equal(ue_close_reason_name(UE_CLOSE_NONE), "");
    assert_int_equal(ue_close_reason_find("ZeroSize,Cleanup", 8), UE_CLOSE_ZERO_SIZE); /* compares only this length */
    assert_int_equal(ue_close_reason_find("ZeroSiz", 7), UE_CLOSE_NONE);
    assert_int_equal(ue_close_reason_find("zerosize", 8), UE_CLOSE_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_gap_is_nacked_at_once_and_a_late_ack_nacks_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packet_ids_continue_across_the_wrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_ack_is_written_in_two_packets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flushes_without_resends_between_them_keep_the_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory_an_ack_is_written_only_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_stays_bounded_over_time, set_up, tear_down),
        cmocka_unit_test(close_reasons_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

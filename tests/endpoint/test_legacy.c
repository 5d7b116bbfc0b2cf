/* SPDX-License-Identifier: MIT */
/* Acknowledgements one by one, each written twice (endpoint.md 25); and the names of close reasons, which
   carry no numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/close_reason.h>
#include <uerudp/legacy_notify.h>
#include <uerudp/seq.h>
#include "tests/support/within.h"

#define POOL_BYTES 65536

struct fixture {
    uint8_t region[POOL_BYTES];
    struct ue_share share;
    struct ue_legacy legacy;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct ue_pool *pool = f != NULL ? ue_pool_init(f->region, sizeof f->region) : NULL;
    if (pool == NULL) {
        free(f);
        return -1;
    }
    ue_share_init(&f->share, pool, SIZE_MAX);
    ue_legacy_init(&f->legacy, 0, &f->share);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    ue_legacy_free(&f->legacy);
    int leaked = f->share.used_bytes != 0;
    free(f);
    return leaked ? -1 : 0;
}

/* Feeds an ack as it stands on the wire and compares the verdicts: "2N 3N 4A". */
static void expect_ack(struct ue_legacy *l, uint32_t wire, const char *expected) {
    char text[128] = "";
    size_t used = 0;
    struct ue_legacy_acks verdicts;
    int64_t id;
    bool delivered;
    ue_legacy_begin(l, ue_seq_expand(wire, l->out_ack_packet_id, UE_PACKET_SEQ_MAX), &verdicts);
    while (ue_legacy_next(&verdicts, &id, &delivered)) {
        int written = snprintf(text + used, sizeof text - used, "%s%lld%c", used != 0 ? " " : "", (long long)id,
                               delivered ? 'A' : 'N');
        assert_true(is_within(written, 1, sizeof text - used - 1));
        used += (size_t)written;
    }
    assert_string_equal(text, expected);
}

static void t68_a_gap_is_lost_at_once_and_a_late_ack_loses_nothing(void **state) {
    struct fixture *f = *state;
    expect_ack(&f->legacy, 1, "1A");
    expect_ack(&f->legacy, 4, "2N 3N 4A");
    expect_ack(&f->legacy, 3, "3A");
    assert_true(f->legacy.out_ack_packet_id == 4);
    struct ue_legacy_acks verdicts;
    ue_legacy_begin(&f->legacy, 4, &verdicts);
    assert_true(verdicts.is_late);
    ue_legacy_begin(&f->legacy, 5, &verdicts);
    assert_false(verdicts.is_late);
}

static void t68_ids_go_on_across_the_wrap(void **state) {
    struct fixture *f = *state;
    ue_legacy_init(&f->legacy, 16382, &f->share);
    expect_ack(&f->legacy, 16383, "16383A");
    expect_ack(&f->legacy, 0, "16384A");
    expect_ack(&f->legacy, 2, "16385N 16386A");
    assert_true(f->legacy.out_ack_packet_id == 16386);
}

static void expect_resends(struct ue_legacy *l, int64_t first, int64_t end) {
    int64_t id;
    for (int64_t expected = first; expected < end; expected++) {
        assert_true(ue_legacy_next_resend(l, &id));
        assert_true(id == expected);
    }
    assert_false(ue_legacy_next_resend(l, &id));
}

/* endpoint.md 25: QueuedAcks move to ResendAcks at the flush and are written once more. */
static void every_ack_is_written_in_two_packets(void **state) {
    struct fixture *f = *state;
    struct ue_legacy *l = &f->legacy;
    assert_true(ue_legacy_add(l, 1) && ue_legacy_add(l, 2));
    expect_resends(l, 0, 0); /* the packet with them has not left */
    ue_legacy_flushed(l);
    assert_true(ue_legacy_add(l, 3));
    expect_resends(l, 1, 3);
    ue_legacy_flushed(l);
    expect_resends(l, 3, 4);
    ue_legacy_flushed(l);
    expect_resends(l, 0, 0);
}

static void flushes_without_a_repetition_between_keep_the_order(void **state) {
    struct fixture *f = *state;
    struct ue_legacy *l = &f->legacy;
    int64_t id;
    for (int64_t noted = 1; noted < 100; noted++) {
        assert_true(ue_legacy_add(l, noted));
    }
    ue_legacy_flushed(l);
    assert_true(ue_legacy_next_resend(l, &id) && id == 1); /* a packet left while repeating */
    for (int64_t noted = 100; noted < 200; noted++) {
        assert_true(ue_legacy_add(l, noted));
    }
    ue_legacy_flushed(l);
    expect_resends(l, 2, 200);
}

static void without_memory_an_ack_is_written_once_only(void **state) {
    struct fixture *f = *state;
    f->share.limit_bytes = 300; /* one list of 32 */
    uint32_t noted = 0;
    while (noted < 1000 && ue_legacy_add(&f->legacy, noted)) {
        noted++;
    }
    assert_int_equal(noted, 32);
    ue_legacy_flushed(&f->legacy);
    assert_false(ue_legacy_add(&f->legacy, 1000));
    expect_resends(&f->legacy, 0, 32);
}

/* One ack is always left, so that neither list is ever empty. */
static void memory_does_not_grow_with_time(void **state) {
    struct fixture *f = *state;
    assert_true(ue_legacy_add(&f->legacy, 0));
    for (int64_t id = 1; id < 10000; id++) {
        int64_t repeated;
        ue_legacy_flushed(&f->legacy);
        assert_true(ue_legacy_add(&f->legacy, id));
        ue_legacy_flushed(&f->legacy);
        assert_true(ue_legacy_next_resend(&f->legacy, &repeated) && repeated == id - 1);
    }
    assert_true(is_within(f->share.peak_bytes, 1, 1024));
}

static void names_find_their_close_reasons(void **state) {
    (void)state;
    for (size_t i = 0; i < UE_CLOSE_REASON_COUNT; i++) {
        const char *name = ue_close_reason_name((enum ue_close_reason)i);
        assert_int_equal(ue_close_reason_find(name, strlen(name)), i);
    }
    assert_string_equal(ue_close_reason_name(UE_CLOSE_RECEIVED_NET_GUID_BUNCH_FAIL), "ReceivedNetGUIDBunchFail");
    assert_string_equal(ue_close_reason_name(UE_CLOSE_NONE), "");
    assert_int_equal(ue_close_reason_find("ZeroSize,Cleanup", 8), UE_CLOSE_ZERO_SIZE); /* the length counts */
    assert_int_equal(ue_close_reason_find("ZeroSiz", 7), UE_CLOSE_NONE);
    assert_int_equal(ue_close_reason_find("zerosize", 8), UE_CLOSE_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(t68_a_gap_is_lost_at_once_and_a_late_ack_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(t68_ids_go_on_across_the_wrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_ack_is_written_in_two_packets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flushes_without_a_repetition_between_keep_the_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory_an_ack_is_written_once_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_does_not_grow_with_time, set_up, tear_down),
        cmocka_unit_test(names_find_their_close_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/findings.h>

/* Cases of a kind follow each other, and a threshold has a unit. */
static void test_table(void **state) {
    for (int id = 0; id < UE_FINDING_COUNT; id++) {
        const struct ue_finding_row *row = &ue_finding_rows[id];
        enum ue_finding_id kind = ue_finding_kind((enum ue_finding_id)id);
        for (int other = 0; other < UE_FINDING_COUNT; other++) {
            bool is_same_kind = strcmp(row->name, ue_finding_rows[other].name) == 0;
            assert_int_equal(is_same_kind, ue_finding_kind((enum ue_finding_id)other) == kind);
        }
        assert_int_equal(row->threshold != 0, row->unit != UE_THRESHOLD_IN_NONE);
    }
}

/* Every kind has a title of its own. */
static void test_titles(void **state) {
    for (int id = 0; id < UE_FINDING_COUNT; id++) {
        const char *title = ue_finding_title((enum ue_finding_id)id);
        assert_non_null(title);
        for (int other = 0; other < id; other++) {
            bool is_same_kind = strcmp(ue_finding_rows[id].name, ue_finding_rows[other].name) == 0;
            assert_int_equal(is_same_kind, strcmp(title, ue_finding_title((enum ue_finding_id)other)) == 0);
        }
    }
}

static void test_share(void **state) {
    assert_false(ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, 204, 256));
    assert_true(ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, 205, 256));
    assert_false(ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, 3, 4));
    assert_true(ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, 4, 5));
    assert_false(ue_finding_is_share_reached(UE_FINDING_BUFFER_FULL, 255, 256));
    assert_true(ue_finding_is_share_reached(UE_FINDING_BUFFER_FULL, 256, 256));
    assert_false(ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, UINT64_MAX / 2, UINT64_MAX));
    assert_true(ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, UINT64_MAX, UINT64_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

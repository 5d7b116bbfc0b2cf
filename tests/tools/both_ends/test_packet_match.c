/* SPDX-License-Identifier: MIT */
/* Which datagrams of the sender's capture arrived, where many have the same content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tools/both_ends/packet_match.h"

#define MS INT64_C(1000000)
#define TOLERANCE_NS (2 * MS)
#define COPIES 200000

static GArray *lists[2]; /* sent, arrived */

static int begin(void **state) {
    for (unsigned i = 0; i < 2; i++) {
        lists[i] = g_array_new(FALSE, TRUE, sizeof(struct end_datagram));
    }
    return 0;
}

static int end(void **state) {
    g_array_unref(lists[0]);
    g_array_unref(lists[1]);
    return 0;
}

static void add(unsigned list, uint64_t hash, int64_t time_ns) {
    const struct end_datagram datagram = {.hash = hash, .time_ns = time_ns};
    g_array_append_val(lists[list], datagram);
}

static const struct end_datagram *at(unsigned list, guint index) {
    return &g_array_index(lists[list], struct end_datagram, index);
}

static int64_t no_ahead_ns(const void *user, int64_t time_ns) {
    return 0;
}

static GArray *find(void) {
    return packet_arrivals_find(lists[0], lists[1], no_ahead_ns, NULL, TOLERANCE_NS);
}

static void assert_arrival(const GArray *arrivals, guint index, guint sent, bool is_copy) {
    const struct packet_arrival *arrival = &g_array_index(arrivals, struct packet_arrival, index);
    assert_int_equal(sent, arrival->sent);
    assert_int_equal(is_copy, arrival->is_copy);
}

/* The definition: the newest that was sent at most PACKET_MATCH_SPAN_NS before, and did not arrive. */
static struct packet_arrival arrival_by_definition(guint arrived, bool *is_used) {
    struct packet_arrival arrival = {PACKET_MATCH_NONE, false};
    for (guint i = lists[0]->len; i-- > 0;) {
        int64_t span_ns = at(1, arrived)->time_ns - at(0, i)->time_ns;
        if (at(0, i)->hash == at(1, arrived)->hash && span_ns >= -TOLERANCE_NS && span_ns <= PACKET_MATCH_SPAN_NS) {
            arrival.is_copy = true;
            if (!is_used[i]) {
                is_used[i] = true;
                return (struct packet_arrival){i, false};
            }
        }
    }
    return arrival;
}

static void arrivals_are_as_defined(void **state) {
    struct rng rng = rng_seeded("packet match");
    for (uint64_t round = rng_rounds(200); round > 0; round--) {
        for (unsigned list = 0; list < 2; list++) {
            int64_t time_ns = 0;
            g_array_set_size(lists[list], 0);
            for (uint64_t count = rng_below(&rng, 100); count > 0; count--) {
                time_ns += (int64_t)rng_below(&rng, 3) * (rng_chance(&rng, 90) ? MS : PACKET_MATCH_SPAN_NS / 4);
                add(list, rng_below(&rng, 3), time_ns);
            }
        }
        g_autofree bool *is_used = g_new0(bool, (gsize)lists[0]->len + 1);
        g_autoptr(GArray) arrivals = find();
        assert_int_equal(lists[1]->len, arrivals->len);
        for (guint i = 0; i < arrivals->len; i++) {
            struct packet_arrival expected = arrival_by_definition(i, is_used);
            assert_arrival(arrivals, i, expected.sent, expected.is_copy);
        }
    }
}

static void a_copy_is_no_arrival(void **state) {
    add(0, 1, 0);
    add(1, 1, 5 * MS);
    add(1, 1, 6 * MS);
    add(1, 1, PACKET_MATCH_SPAN_NS + MS);
    add(1, 2, 6 * MS);
    g_autoptr(GArray) arrivals = find();
    assert_arrival(arrivals, 0, 0, false);
    assert_arrival(arrivals, 1, PACKET_MATCH_NONE, true);
    assert_arrival(arrivals, 2, PACKET_MATCH_NONE, false);
    assert_arrival(arrivals, 3, PACKET_MATCH_NONE, false);
}

/* With a search through all of them for each, these need 2 * 10^10 steps. */
static void many_copies_need_little_time(void **state) {
    for (guint i = 0; i < COPIES; i++) {
        add(0, 1, (int64_t)i * MS / 10);
        add(1, 1, (int64_t)COPIES * MS / 10 + (int64_t)i * MS / 100);
    }
    clock_t before = clock();
    g_autoptr(GArray) arrivals = find();
    assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
    for (guint i = 0; i < COPIES; i++) {
        assert_arrival(arrivals, i, COPIES - 1 - i, false);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arrivals_are_as_defined, begin, end),
        cmocka_unit_test_setup_teardown(a_copy_is_no_arrival, begin, end),
        cmocka_unit_test_setup_teardown(many_copies_need_little_time, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

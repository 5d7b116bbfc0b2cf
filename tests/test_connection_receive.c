/* SPDX-License-Identifier: MIT */
/* What a connection makes of what comes: each bunch once and in order, whatever the memory is, and nothing hostile does
   more than close it (spec 6.4, 6.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/conn_pair.h"

static const struct ue_conn_config stock;

/* Bunches that wait for an earlier one find no memory when their turn comes. Their packets were acknowledged long ago,
   so nobody sends them again. */
static void what_waited_is_taken_when_memory_is_back(void **state) {
    (void)state;
    static struct conn_pair pair;
    unsigned waited = 0;
    for (size_t spare_bytes = 0; spare_bytes < 800; spare_bytes += 16) {
        pair_begin(&pair, "5.4", &stock);
        pair_open(&pair, 2);
        pair_say(&pair, PAIR_SERVER, 2, 'a');
        ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_lose(&pair, PAIR_SERVER);
        pair_say(&pair, PAIR_SERVER, 2, 'b');
        pair_say(&pair, PAIR_SERVER, 2, 'c');
        ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_carry(&pair, PAIR_SERVER);
        ue_conn_tick(pair.conns[PAIR_CLIENT], pair.now_ns);
        pair_carry(&pair, PAIR_CLIENT);
        ue_conn_tick(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_starve(&pair, PAIR_CLIENT, spare_bytes);
        pair_carry(&pair, PAIR_SERVER);
        waited += pair.heard_count[PAIR_CLIENT] == 1;
        pair_feed(&pair, PAIR_CLIENT);
        pair_run(&pair, 10);
        pair_assert_heard(&pair, PAIR_CLIENT, 2, "abc");
        pair_end(&pair);
    }
    assert_true(waited > 0);
}

/* The first part finds no memory; when it comes again it is no second first part. */
static void a_first_part_without_memory_has_not_come(void **state) {
    (void)state;
    static struct conn_pair pair;
    for (size_t spare_bytes = 0; spare_bytes < 2400; spare_bytes += 32) {
        pair_begin(&pair, "5.4", &stock);
        pair_open(&pair, 2);
        pair_send(&pair, PAIR_CLIENT, &(struct ue_outgoing){.channel = 2, .reliable = true}, 'a', 2500);
        ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
        pair_starve(&pair, PAIR_SERVER, spare_bytes);
        pair_carry(&pair, PAIR_CLIENT);
        pair_feed(&pair, PAIR_SERVER);
        pair_run(&pair, 10);
        assert_int_equal(ue_conn_state(pair.conns[PAIR_SERVER]), UE_CONN_OPEN);
        pair_assert_heard(&pair, PAIR_SERVER, 2, "a");
        pair_end(&pair);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waited_is_taken_when_memory_is_back),
        cmocka_unit_test(a_first_part_without_memory_has_not_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

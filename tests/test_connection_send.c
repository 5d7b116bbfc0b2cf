/* SPDX-License-Identifier: MIT */
/* What a connection promises to those who send: all of a bunch or nothing of it, once, in order, whatever the memory,
   the settings and the size are (spec 6.7, 6.9.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/conn_pair.h"

static const struct ue_conn_config stock;

/* In the middle of a split bunch memory ends: the sender hears that nothing was sent, and that is true. */
static void a_bunch_is_sent_whole_or_not_at_all(void **state) {
    (void)state;
    static struct conn_pair pair;
    for (size_t spare_bytes = 0; spare_bytes < 8000; spare_bytes += 200) {
        pair_begin(&pair, "5.4", &stock);
        pair_open(&pair, 2);
        const struct ue_outgoing reliable = {.channel = 2, .reliable = true};
        pair_starve(&pair, PAIR_SERVER, spare_bytes);
        enum ue_status status = pair_send(&pair, PAIR_SERVER, &reliable, 'a', 3000);
        pair_feed(&pair, PAIR_SERVER);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &reliable, 'b', 3000), UE_OK);
        pair_run(&pair, 10);
        pair_assert_heard(&pair, PAIR_CLIENT, 2, status == UE_OK ? "ab" : "b");
        assert_int_equal(ue_conn_unacked(pair.conns[PAIR_SERVER], 2), 0);
        pair_end(&pair);
    }
}

/* Debts are paid with all numbers or with none: half of them, and the rest behind a newer bunch, would lose it. */
static void debts_are_paid_whole_or_not_at_all(void **state) {
    (void)state;
    static struct conn_pair pair;
    for (size_t spare_bytes = 0; spare_bytes < 1200; spare_bytes += 40) {
        uint32_t opened;
        const struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true};
        pair_begin(&pair, "5.4", &stock);
        pair_open(&pair, 2);
        for (char value = '1'; value <= '5'; value++) {
            assert_int_equal(pair_say(&pair, PAIR_CLIENT, 2, (uint8_t)value), UE_OK);
        }
        ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
        assert_int_equal(pair_lose(&pair, PAIR_CLIENT), 1);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'c', 1), UE_OK);
        pair_run(&pair, 4);
        assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_ACTOR, 2, &opened), UE_OK);
        assert_int_equal(pair_say(&pair, PAIR_SERVER, 2, 'o'), UE_OK);
        pair_run(&pair, 3);
        pair_forget(&pair);
        pair_starve(&pair, PAIR_CLIENT, spare_bytes);
        enum ue_status status = pair_say(&pair, PAIR_CLIENT, 2, 'a');
        pair_feed(&pair, PAIR_CLIENT);
        assert_int_equal(pair_say(&pair, PAIR_CLIENT, 2, 'b'), UE_OK);
        assert_int_equal(pair_say(&pair, PAIR_CLIENT, 2, 'c'), UE_OK);
        pair_run(&pair, 10);
        size_t empty = 0;
        while (empty < pair.heard_count[PAIR_SERVER] && pair.heard[PAIR_SERVER][empty].bits == 0) {
            empty++;
        }
        assert_int_equal(empty, 5);
        assert_int_equal(pair.heard_count[PAIR_SERVER], empty + (status == UE_OK ? 3 : 2));
        pair_end(&pair);
    }
}

/* Messages of many parts wait as others do when the reliable buffer is nearly full; the connection stays. */
static void long_control_messages_wait_for_room(void **state) {
    (void)state;
    static struct conn_pair pair;
    const struct ue_outgoing control = {.channel = 0, .reliable = true};
    pair_begin(&pair, "4.25", &stock);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &control, (uint8_t)('a' + i), 60000), UE_OK);
    }
    assert_int_equal(ue_conn_state(pair.conns[PAIR_SERVER]), UE_CONN_OPEN);
    pair_run(&pair, 40);
    pair_assert_heard(&pair, PAIR_CLIENT, 0, "abcdefghij");
    pair_end(&pair);
}

/* A queued message that finds no memory stays in the queue. */
static void a_queued_message_outlives_want_of_memory(void **state) {
    (void)state;
    static struct conn_pair pair;
    struct ue_conn_config config = {.settings = {.reliable_buffer = 4}};
    pair_begin(&pair, "4.25", &config);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(pair_say(&pair, PAIR_SERVER, 0, (uint8_t)('a' + i)), UE_OK);
    }
    for (unsigned i = 0; i < 4; i++) {
        pair_starve(&pair, PAIR_SERVER, 0);
        pair_run(&pair, 1);
    }
    pair_feed(&pair, PAIR_SERVER);
    pair_run(&pair, 20);
    pair_assert_heard(&pair, PAIR_CLIENT, 0, "abcdef");
    pair_end(&pair);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bunch_is_sent_whole_or_not_at_all),
        cmocka_unit_test(debts_are_paid_whole_or_not_at_all),
        cmocka_unit_test(long_control_messages_wait_for_room),
        cmocka_unit_test(a_queued_message_outlives_want_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

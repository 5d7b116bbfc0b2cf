/* SPDX-License-Identifier: MIT */
/* What a connection promises to those who send: all of a bunch or nothing of it, once, in order, whatever the memory,
   the settings and the size are (endpoint.md 19, 20.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/conn_pair.h"

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
        ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_carry(&pair, PAIR_SERVER);
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

/* Debts that fill the reliable buffer are paid by themselves; else nothing could ever be sent on the index again. */
static void debts_are_paid_unasked(void **state) {
    (void)state;
    static struct conn_pair pair;
    uint32_t opened;
    const struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true};
    pair_begin(&pair, "4.25", &stock);
    pair_open(&pair, 2);
    for (unsigned i = 0; i < 255; i++) {
        assert_int_equal(pair_say(&pair, PAIR_CLIENT, 2, 'x'), UE_OK);
    }
    ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
    pair_lose(&pair, PAIR_CLIENT);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'c', 1), UE_OK);
    pair_run(&pair, 4);
    assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_ACTOR, 2, &opened), UE_OK);
    assert_int_equal(pair_say(&pair, PAIR_SERVER, 2, 'o'), UE_OK);
    ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
    pair_carry(&pair, PAIR_SERVER);
    assert_int_equal(ue_conn_room_bits(pair.conns[PAIR_CLIENT], 2), 0);
    pair_run(&pair, 5);
    assert_true(ue_conn_room_bits(pair.conns[PAIR_CLIENT], 2) > 0);
    pair_forget(&pair);
    assert_int_equal(pair_say(&pair, PAIR_CLIENT, 2, 'y'), UE_OK);
    pair_run(&pair, 3);
    pair_assert_heard(&pair, PAIR_SERVER, 2, "y");
    pair_end(&pair);
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

static const struct ue_outgoing on_2 = {.channel = 2, .reliable = true};

/* What no packet could ever take would be tried for ever. */
static void what_fits_no_packet_is_refused(void **state) {
    (void)state;
    static struct conn_pair pair;
    static uint8_t exports[2000];
    const struct ue_view view = {exports, 0, sizeof exports * 8};
    struct ue_outgoing bunch = on_2;
    pair_begin(&pair, "5.4", &stock);
    pair_open(&pair, 2);
    bunch.exports = &view;
    bunch.export_count = 1;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'a', 10), UE_E_LENGTH);
    bunch = on_2;
    bunch.close = true;
    bunch.close_reason = 15;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'b', 10), UE_E_RANGE);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &on_2, 'c', 65537), UE_E_LENGTH);
    assert_int_equal(pair_say(&pair, PAIR_SERVER, 2, 'd'), UE_OK);
    pair_run(&pair, 3);
    pair_assert_heard(&pair, PAIR_CLIENT, 2, "d");
    pair_end(&pair);
}

static void only_the_opener_closes(void **state) {
    (void)state;
    static struct conn_pair pair;
    uint32_t opened;
    struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true};
    pair_begin(&pair, "5.4", &stock);
    pair_open(&pair, 2);
    assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_OTHER, 7, &opened), UE_OK);
    assert_int_equal(pair_say(&pair, PAIR_SERVER, 7, 'o'), UE_OK);
    pair_run(&pair, 3);
    assert_int_equal(pair_send(&pair, PAIR_CLIENT, &close, 0, 0), UE_E_CONFLICT);
    close.channel = 7;
    assert_int_equal(pair_send(&pair, PAIR_CLIENT, &close, 0, 0), UE_E_CONFLICT);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 0, 0), UE_OK);
    close.channel = 0;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 0, 0), UE_OK);
    pair_end(&pair);
}

/* A receiver refuses a lone unreliable opening that does not close (endpoint.md 17.1, rule 11), so it is not sent. */
static void no_opening_is_sent_that_nobody_takes(void **state) {
    (void)state;
    static struct conn_pair pair;
    uint32_t opened;
    struct ue_outgoing unreliable = {.channel = 2};
    pair_begin(&pair, "5.4", &stock);
    assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_ACTOR, 2, &opened), UE_OK);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &unreliable, 'a', 10), UE_E_CONFLICT);
    unreliable.close = true;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &unreliable, 'b', 10), UE_OK);
    pair_run(&pair, 3);
    pair_assert_heard(&pair, PAIR_CLIENT, 2, "b");
    assert_null(ue_conn_channel(pair.conns[PAIR_SERVER], 2));
    pair_end(&pair);
}

/* Each part that is not an export says that ids must be mapped (protocol.md 10.1). */
static void every_part_says_that_ids_must_be_mapped(void **state) {
    (void)state;
    static struct conn_pair pair;
    const struct ue_view exports = {(const uint8_t *)"exports", 0, 50};
    struct ue_outgoing bunch = on_2;
    struct ue_item items[8];
    struct ue_datagram d = {.items = items, .item_capacity = 8};
    struct ue_decode_result verdict;
    struct ue_bytes datagram;
    unsigned exported = 0, mapped = 0;
    pair_begin(&pair, "5.4", &stock);
    pair_open(&pair, 2);
    bunch.has_mapped = true;
    bunch.exports = &exports;
    bunch.export_count = 1;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'm', 2500), UE_OK);
    ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
    while (ue_conn_next_datagram(pair.conns[PAIR_SERVER], &datagram)) {
        const struct ue_context *x = ue_conn_context(pair.conns[PAIR_SERVER]);
        assert_int_equal(ue_datagram_decode(x, datagram.bytes, datagram.size_bytes, &d, &verdict), UE_OK);
        for (size_t i = 0; i < d.item_count; i++) {
            assert_true(items[i].bunch.has_exports != items[i].bunch.has_mapped);
            exported += items[i].bunch.has_exports;
            mapped += items[i].bunch.has_mapped;
        }
    }
    assert_int_equal(exported, 1);
    assert_int_equal(mapped, 3);
    pair_end(&pair);
}

/* Up to 4.21 a close says whether the object only sleeps, and nothing else. */
static void legacy_closes_tell_of_dormancy(void **state) {
    (void)state;
    static struct conn_pair pair;
    for (uint8_t reason = 0; reason < 4; reason++) {
        const struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true, .close_reason = reason};
        pair_begin(&pair, "4.20", &stock);
        pair_open(&pair, 2);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 0, 0), UE_OK);
        pair_run(&pair, 3);
        assert_null(ue_conn_channel(pair.conns[PAIR_CLIENT], 2));
        assert_int_equal(pair.close_reason[PAIR_CLIENT], reason == 1);
        pair_end(&pair);
    }
}

/* From 4.20 on acks tell the server's frame time to clients that want it, as packets do later. */
static void legacy_acks_tell_frame_times(void **state) {
    static struct conn_pair pair;
    struct ue_item items[8];
    struct ue_datagram d = {.items = items, .item_capacity = 8};
    struct ue_decode_result verdict;
    struct ue_bytes datagram;
    bool is_told = strcmp(*state, "4.20") == 0;
    unsigned acks = 0;
    const struct ue_conn_config config = {.want_frame_time = true};
    pair_begin(&pair, *state, &config);
    pair_run(&pair, 5);
    struct ue_conn *server = pair.conns[PAIR_SERVER];
    pair_say(&pair, PAIR_CLIENT, 0, 'a');
    ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
    pair_carry(&pair, PAIR_CLIENT);
    pair.now_ns += PAIR_TICK_NS;
    ue_conn_tick(server, pair.now_ns);
    while (ue_conn_next_datagram(server, &datagram)) {
        const struct ue_context *x = ue_conn_context(server);
        assert_int_equal(ue_datagram_decode(x, datagram.bytes, datagram.size_bytes, &d, &verdict), UE_OK);
        for (size_t i = 0; i < d.item_count; i++) {
            assert_int_equal(items[i].ack.has_frame_time, is_told);
            assert_int_equal(items[i].ack.frame_time_ms, is_told ? 33 : 0);
            acks += items[i].is_ack;
        }
    }
    assert_true(acks > 0);
    pair_end(&pair);
}

/* The budget knows nothing of wrappers (endpoint.md 23.1: the bits in the send buffer). */
static void wrappers_are_not_in_the_send_buffer(void **state) {
    (void)state;
    static struct conn_pair pair;
    const struct ue_conn_config config = {.settings = {.skip_bytes = 100}};
    pair_begin(&pair, "5.4", &config);
    pair_open(&pair, 2);
    struct ue_conn *server = pair.conns[PAIR_SERVER];
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &on_2, 'a', 20), UE_OK);
    int32_t written_bits = (int32_t)(server->packer.bit - server->limits.prefix_bits);
    assert_true(written_bits > 0);
    server->budget.queued_bits = -written_bits;
    assert_true(ue_conn_is_ready(server));
    server->budget.queued_bits++;
    assert_false(ue_conn_is_ready(server));
    pair_end(&pair);
}

/* In a replay nothing is numbered or acknowledged on the wire: of what is written each bunch counts once, of any size.
 */
static void replays_write_everything_once(void **state) {
    (void)state;
    static struct conn_pair pair;
    static const enum ue_channel_kind kinds[] = {UE_KIND_CONTROL, UE_KIND_VOICE, UE_KIND_ACTOR, UE_KIND_OTHER};
    const struct ue_conn_config config = {
        .driver = UE_DRIVER_DEMO,
        .memory_limit_bytes = (size_t)16 << 20,
        .options = {.repeat_reliable = true, .tail_probe_data = true, .resend_close = true},
    };
    pair_begin(&pair, "5.4", &config);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t opened;
        assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], kinds[i], i, &opened), UE_OK);
        for (char value = 'a'; value < 'h'; value++) {
            assert_int_equal(pair_say(&pair, PAIR_SERVER, i, (uint8_t)value), UE_OK);
            ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        }
    }
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &on_2, 'h', 1000000), UE_OK);
    pair_run(&pair, 5);
    for (uint32_t i = 0; i < 4; i++) {
        pair_assert_heard(&pair, PAIR_CLIENT, i, i == 2 ? "abcdefgh" : "abcdefg");
    }
    pair_end(&pair);
}

static char releases[][8] = {"4.18", "4.20"};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bunch_is_sent_whole_or_not_at_all),
        cmocka_unit_test(debts_are_paid_whole_or_not_at_all),
        cmocka_unit_test(debts_are_paid_unasked),
        cmocka_unit_test(long_control_messages_wait_for_room),
        cmocka_unit_test(a_queued_message_outlives_want_of_memory),
        cmocka_unit_test(what_fits_no_packet_is_refused),
        cmocka_unit_test(only_the_opener_closes),
        cmocka_unit_test(no_opening_is_sent_that_nobody_takes),
        cmocka_unit_test(every_part_says_that_ids_must_be_mapped),
        cmocka_unit_test(legacy_closes_tell_of_dormancy),
        cmocka_unit_test_prestate(legacy_acks_tell_frame_times, releases[0]),
        cmocka_unit_test_prestate(legacy_acks_tell_frame_times, releases[1]),
        cmocka_unit_test(wrappers_are_not_in_the_send_buffer),
        cmocka_unit_test(replays_write_everything_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

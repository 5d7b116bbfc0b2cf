/* SPDX-License-Identifier: MIT */
/* Sending: a bunch is sent completely or not at all, once and in order, whatever the memory limit, the settings and the
   size (endpoint.md 22 to 27, 20). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/conn_pair.h"

static const struct ue_conn_config stock;

/* Memory runs out while a bunch is split: ue_conn_send reports that nothing was sent, and nothing was. */
static void a_bunch_without_memory_is_sent_completely_or_not_at_all(void **state) {
    static struct conn_pair pair;
    for (size_t spare_bytes = 0; spare_bytes < 8000; spare_bytes += 200) {
        pair_init(&pair, "5.4", &stock);
        pair_open_channel(&pair, 2);
        const struct ue_outgoing reliable = {.channel = 2, .reliable = true};
        pair_limit_memory(&pair, PAIR_SERVER, spare_bytes);
        enum ue_status status = pair_send(&pair, PAIR_SERVER, &reliable, 'a', 3000);
        pair_restore_memory(&pair, PAIR_SERVER);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &reliable, 'b', 3000), UE_OK);
        pair_run(&pair, 10);
        pair_assert_received(&pair, PAIR_CLIENT, 2, status == UE_OK ? "ab" : "b");
        assert_int_equal(ue_conn_unacked(pair.conns[PAIR_SERVER], 2), 0);
        pair_free(&pair);
    }
}

/* Channel sequences that the peer never received are flushed all or none: if some of them followed a newer bunch, that
   bunch would be lost. */
static void pending_sequences_are_flushed_completely_or_not_at_all(void **state) {
    static struct conn_pair pair;
    for (size_t spare_bytes = 0; spare_bytes < 1200; spare_bytes += 40) {
        uint32_t opened;
        const struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true};
        pair_init(&pair, "5.4", &stock);
        pair_open_channel(&pair, 2);
        for (int value = '1'; value <= '5'; value++) {
            assert_int_equal(pair_send_short(&pair, PAIR_CLIENT, 2, (uint8_t)value), UE_OK);
        }
        ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
        assert_int_equal(pair_drop(&pair, PAIR_CLIENT), 1);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'c', 1), UE_OK);
        pair_run(&pair, 4);
        assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_ACTOR, 2, &opened), UE_OK);
        assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 2, 'o'), UE_OK);
        ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_deliver(&pair, PAIR_SERVER);
        pair_clear_received(&pair);
        pair_limit_memory(&pair, PAIR_CLIENT, spare_bytes);
        enum ue_status status = pair_send_short(&pair, PAIR_CLIENT, 2, 'a');
        pair_restore_memory(&pair, PAIR_CLIENT);
        assert_int_equal(pair_send_short(&pair, PAIR_CLIENT, 2, 'b'), UE_OK);
        assert_int_equal(pair_send_short(&pair, PAIR_CLIENT, 2, 'c'), UE_OK);
        pair_run(&pair, 10);
        size_t empty = 0;
        while (empty < pair.received_count[PAIR_SERVER] && pair.received[PAIR_SERVER][empty].bits == 0) {
            empty++;
        }
        assert_int_equal(empty, 5);
        assert_int_equal(pair.received_count[PAIR_SERVER], empty + (status == UE_OK ? 3 : 2));
        pair_free(&pair);
    }
}

/* Pending channel sequences that fill the reliable buffer are flushed by the tick; otherwise nothing could be sent on
   the channel index again. */
static void pending_sequences_are_flushed_by_the_tick(void **state) {
    static struct conn_pair pair;
    uint32_t opened;
    const struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true};
    pair_init(&pair, "4.25", &stock);
    pair_open_channel(&pair, 2);
    for (unsigned i = 0; i < 255; i++) {
        assert_int_equal(pair_send_short(&pair, PAIR_CLIENT, 2, 'x'), UE_OK);
    }
    ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
    pair_drop(&pair, PAIR_CLIENT);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'c', 1), UE_OK);
    pair_run(&pair, 4);
    assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_ACTOR, 2, &opened), UE_OK);
    assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 2, 'o'), UE_OK);
    ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
    pair_deliver(&pair, PAIR_SERVER);
    assert_int_equal(ue_conn_room_bits(pair.conns[PAIR_CLIENT], 2), 0);
    pair_run(&pair, 5);
    assert_true(ue_conn_room_bits(pair.conns[PAIR_CLIENT], 2) > 0);
    pair_clear_received(&pair);
    assert_int_equal(pair_send_short(&pair, PAIR_CLIENT, 2, 'y'), UE_OK);
    pair_run(&pair, 3);
    pair_assert_received(&pair, PAIR_SERVER, 2, "y");
    pair_free(&pair);
}

/* Messages of many fragments wait while the reliable buffer is nearly full; the connection stays open. */
static void long_control_messages_wait_for_space_in_the_reliable_buffer(void **state) {
    static struct conn_pair pair;
    const struct ue_outgoing control = {.channel = 0, .reliable = true};
    pair_init(&pair, "4.25", &stock);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &control, (uint8_t)('a' + i), 60000), UE_OK);
    }
    assert_int_equal(ue_conn_state(pair.conns[PAIR_SERVER]), UE_CONN_OPEN);
    pair_run(&pair, 40);
    pair_assert_received(&pair, PAIR_CLIENT, 0, "abcdefghij");
    pair_free(&pair);
}

/* OutRec takes 3 and leaves space for the close, the queue takes 32,768; the next message closes the connection, which
   the peer learns. */
static void one_more_queued_control_message_closes_the_connection(void **state) {
    static struct conn_pair pair;
    struct ue_conn_config config = {.settings = {.reliable_buffer = 4}};
    pair_init(&pair, "5.4", &config);
    uint32_t queued = 0;
    while (pair_send_short(&pair, PAIR_SERVER, 0, 'a') == UE_OK) {
        queued++;
    }
    assert_int_equal(queued, 3 + 32768);
    assert_int_equal(ue_conn_state(pair.conns[PAIR_SERVER]), UE_CONN_CLOSED);
    struct ue_event event, last = {0};
    while (ue_conn_next_event(pair.conns[PAIR_SERVER], &event)) {
        last = event;
    }
    assert_int_equal(last.type, UE_EVENT_STATE);
    assert_int_equal(last.reason, UE_CLOSE_CONTROL_QUEUE_OVERFLOW);
    pair_deliver(&pair, PAIR_SERVER);
    assert_int_equal(ue_conn_state(pair.conns[PAIR_CLIENT]), UE_CONN_CLOSED);
    assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 0, 'b'), UE_E_CONFLICT);
    pair_free(&pair);
}

/* A queued message for which there is no memory stays in the queue. */
static void a_queued_message_without_memory_stays_queued(void **state) {
    static struct conn_pair pair;
    struct ue_conn_config config = {.settings = {.reliable_buffer = 4}};
    pair_init(&pair, "4.25", &config);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 0, (uint8_t)('a' + i)), UE_OK);
    }
    for (unsigned i = 0; i < 4; i++) {
        pair_limit_memory(&pair, PAIR_SERVER, 0);
        pair_run(&pair, 1);
    }
    pair_restore_memory(&pair, PAIR_SERVER);
    pair_run(&pair, 20);
    pair_assert_received(&pair, PAIR_CLIENT, 0, "abcdef");
    pair_free(&pair);
}

/* The tick writes bunches that waited, also while a client restarts its handshake; what fills no packet stays in it
   until the restart is done (endpoint.md 5.3, 29.3, 29.5). */
static void a_restarting_client_sends_full_packets_only(void **state) {
    static struct conn_pair pair;
    const struct ue_conn_config config = {.max_datagrams = 2};
    pair_init(&pair, *state, &config);
    struct ue_conn *client = pair.conns[PAIR_CLIENT];
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(
            pair_send(&pair, PAIR_CLIENT, &(struct ue_outgoing){.reliable = true}, (uint8_t)('a' + i), 900), UE_OK);
    }
    assert_int_equal(pair_deliver(&pair, PAIR_CLIENT), 2);
    client->handshake.client.restarting = true;
    ue_conn_tick(client, pair.now_ns);
    assert_int_equal(pair_deliver(&pair, PAIR_CLIENT), 1);
    pair.now_ns += 10 * PAIR_TICK_NS;
    ue_conn_tick(client, pair.now_ns);
    assert_int_equal(pair_deliver(&pair, PAIR_CLIENT), 0);
    client->handshake.client.restarting = false;
    ue_conn_tick(client, pair.now_ns);
    assert_int_equal(pair_deliver(&pair, PAIR_CLIENT), 1);
    pair_assert_received(&pair, PAIR_SERVER, 0, "abcd");
    pair_free(&pair);
}

static const struct ue_outgoing bunch_on_2 = {.channel = 2, .reliable = true};

/* A bunch that fits no packet would stay queued forever. */
static void bunches_that_fit_no_packet_are_refused(void **state) {
    static struct conn_pair pair;
    static uint8_t exports[2000];
    const struct ue_view view = {exports, 0, sizeof exports * 8};
    struct ue_outgoing bunch = bunch_on_2;
    pair_init(&pair, "5.4", &stock);
    pair_open_channel(&pair, 2);
    bunch.exports = &view;
    bunch.export_count = 1;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'a', 10), UE_E_LENGTH);
    bunch = bunch_on_2;
    bunch.close = true;
    bunch.close_reason = 15;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'b', 10), UE_E_RANGE);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch_on_2, 'c', 65537), UE_E_LENGTH);
    assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 2, 'd'), UE_OK);
    pair_run(&pair, 3);
    pair_assert_received(&pair, PAIR_CLIENT, 2, "d");
    pair_free(&pair);
}

static void only_the_side_that_opened_a_channel_closes_it(void **state) {
    static struct conn_pair pair;
    uint32_t opened;
    struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true};
    pair_init(&pair, "5.4", &stock);
    pair_open_channel(&pair, 2);
    assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_OTHER, 7, &opened), UE_OK);
    assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 7, 'o'), UE_OK);
    pair_run(&pair, 3);
    assert_int_equal(pair_send(&pair, PAIR_CLIENT, &close, 0, 0), UE_E_CONFLICT);
    close.channel = 7;
    assert_int_equal(pair_send(&pair, PAIR_CLIENT, &close, 0, 0), UE_E_CONFLICT);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 0, 0), UE_OK);
    close.channel = 0;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 0, 0), UE_OK);
    pair_free(&pair);
}

static bool has_channel(const struct conn_pair *pair, uint32_t index) {
    return ue_channel_find(&pair->conns[PAIR_SERVER]->channels, index) != NULL ||
           ue_channel_find(&pair->conns[PAIR_CLIENT]->channels, index) != NULL;
}

/* Nothing would end a temporary channel whose open was lost, and a receiver refuses a single unreliable open that does
   not close (endpoint.md 16.11, 23.2). */
static void an_unreliable_open_must_also_close(void **state) {
    static struct conn_pair pair;
    static const size_t sizes_bytes[] = {10, 2500, 20000};
    for (size_t i = 0; i < sizeof sizes_bytes / sizeof *sizes_bytes; i++) {
        uint32_t opened;
        struct ue_outgoing unreliable = {.channel = 2};
        pair_init(&pair, *state, &stock);
        for (unsigned is_lost = 0; is_lost < 2; is_lost++) {
            assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_ACTOR, 2, &opened), UE_OK);
            unreliable.close = false;
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &unreliable, 'a', sizes_bytes[i]), UE_E_CONFLICT);
            unreliable.close = true;
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &unreliable, is_lost ? 'l' : 'b', sizes_bytes[i]), UE_OK);
            bool is_reliable = ue_conn_unacked(pair.conns[PAIR_SERVER], 2) != 0; /* many fragments */
            assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 2, 'c'), UE_E_CONFLICT);
            ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
            (is_lost ? pair_drop : pair_deliver)(&pair, PAIR_SERVER);
            pair_run(&pair, 12);
            pair_assert_received(&pair, PAIR_CLIENT, 2, !is_lost ? "b" : is_reliable ? "bl" : "b");
            assert_false(has_channel(&pair, 2));
        }
        pair_free(&pair);
    }
}

/* Only the ack of a reliable close ends the channel at the side that closes it (endpoint.md 15.3, 20.2). */
static void an_unreliable_bunch_closes_only_the_channel_that_it_opens(void **state) {
    static struct conn_pair pair;
    static const size_t sizes_bytes[] = {0, 10, 2500, 20000};
    for (size_t i = 0; i < sizeof sizes_bytes / sizeof *sizes_bytes; i++) {
        for (unsigned merge = 0; merge < 2; merge++) {
            struct ue_outgoing close = {.channel = 2, .close = true, .merge = merge};
            pair_init(&pair, *state, &stock);
            pair_open_channel(&pair, 2);
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &(struct ue_outgoing){.channel = 2, .merge = true}, 'a', 10),
                             UE_OK);
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'b', sizes_bytes[i]), UE_E_CONFLICT);
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &(struct ue_outgoing){.channel = 2}, 'c', 10), UE_OK);
            close.reliable = true;
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'd', sizes_bytes[i]), UE_OK);
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'e', 10), UE_E_CONFLICT);
            assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 2, 'f'), UE_E_CONFLICT);
            pair_run(&pair, 12);
            assert_false(has_channel(&pair, 2));
            pair_free(&pair);
        }
    }
}

/* Voice is reliable until the peer has the channel, and so is its close (endpoint.md 20.6). */
static void voice_closes_unreliably_until_its_open_is_acknowledged(void **state) {
    static struct conn_pair pair;
    for (unsigned is_acked = 0; is_acked < 2; is_acked++) {
        struct ue_outgoing close = {.channel = 1, .close = true};
        uint32_t opened;
        pair_init(&pair, *state, &stock);
        assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], UE_KIND_VOICE, 1, &opened), UE_OK);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &(struct ue_outgoing){.channel = 1}, 'a', 10), UE_OK);
        pair_run(&pair, is_acked ? 3 : 0);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'b', 10), is_acked ? UE_E_CONFLICT : UE_OK);
        close.reliable = true;
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 'b', 10), is_acked ? UE_OK : UE_E_CONFLICT);
        pair_run(&pair, 4);
        pair_assert_received(&pair, PAIR_CLIENT, 1, "ab");
        assert_false(has_channel(&pair, 1));
        pair_free(&pair);
    }
}

/* endpoint.md 20.5. */
static void nothing_is_unreliable_on_the_control_channel(void **state) {
    static struct conn_pair pair;
    pair_init(&pair, *state, &stock);
    for (unsigned side = 0; side < 2; side++) {
        struct ue_outgoing message = {.channel = 0};
        assert_int_equal(pair_send(&pair, side, &message, 'a', 10), UE_E_CONFLICT);
        message.close = true;
        assert_int_equal(pair_send(&pair, side, &message, 'b', 10), UE_E_CONFLICT);
        assert_int_equal(pair_send_short(&pair, side, 0, 'c'), UE_OK);
    }
    pair_run(&pair, 3);
    pair_assert_received(&pair, PAIR_SERVER, 0, "c");
    pair_assert_received(&pair, PAIR_CLIENT, 0, "c");
    pair_free(&pair);
}

/* Each fragment that is not an export has the must-be-mapped flag (protocol.md 10.1). */
static void every_fragment_with_content_has_the_must_be_mapped_flag(void **state) {
    static struct conn_pair pair;
    const struct ue_view exports = {(const uint8_t *)"exports", 0, 50};
    struct ue_outgoing bunch = bunch_on_2;
    struct ue_item items[8];
    struct ue_datagram d = {.items = items, .item_capacity = 8};
    struct ue_decode_result result;
    struct ue_bytes datagram;
    unsigned exported = 0, mapped = 0;
    pair_init(&pair, "5.4", &stock);
    pair_open_channel(&pair, 2);
    bunch.has_mapped = true;
    bunch.exports = &exports;
    bunch.export_count = 1;
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'm', 2500), UE_OK);
    ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
    while (ue_conn_next_datagram(pair.conns[PAIR_SERVER], &datagram)) {
        const struct ue_context *x = ue_conn_context(pair.conns[PAIR_SERVER]);
        assert_int_equal(ue_datagram_decode(x, datagram.bytes, datagram.size_bytes, &d, NULL, &result), UE_OK);
        for (size_t i = 0; i < d.item_count; i++) {
            assert_true(items[i].bunch.has_exports != items[i].bunch.has_mapped);
            exported += items[i].bunch.has_exports;
            mapped += items[i].bunch.has_mapped;
        }
    }
    assert_int_equal(exported, 1);
    assert_int_equal(mapped, 3);
    pair_free(&pair);
}

/* Up to 4.21 the only close reason on the wire is dormancy. */
static void legacy_closes_carry_dormancy_only(void **state) {
    static struct conn_pair pair;
    for (uint8_t reason = 0; reason < 4; reason++) {
        const struct ue_outgoing close = {.channel = 2, .reliable = true, .close = true, .close_reason = reason};
        pair_init(&pair, "4.20", &stock);
        pair_open_channel(&pair, 2);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &close, 0, 0), UE_OK);
        pair_run(&pair, 3);
        assert_null(ue_channel_find(&pair.conns[PAIR_CLIENT]->channels, 2));
        assert_int_equal(pair.close_reason[PAIR_CLIENT], reason == 1);
        pair_free(&pair);
    }
}

/* From 4.20 on acks carry the server's frame time to clients that request it, as packets do later. */
static void legacy_acks_carry_the_frame_time(void **state) {
    static struct conn_pair pair;
    struct ue_item items[8];
    struct ue_datagram d = {.items = items, .item_capacity = 8};
    struct ue_decode_result result;
    struct ue_bytes datagram;
    bool has_frame_time = strcmp(*state, "4.20") == 0;
    unsigned acks = 0;
    const struct ue_conn_config config = {.want_frame_time = true};
    pair_init(&pair, *state, &config);
    pair_run(&pair, 5);
    struct ue_conn *server = pair.conns[PAIR_SERVER];
    pair_send_short(&pair, PAIR_CLIENT, 0, 'a');
    ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
    pair_deliver(&pair, PAIR_CLIENT);
    pair.now_ns += PAIR_TICK_NS;
    ue_conn_tick(server, pair.now_ns);
    while (ue_conn_next_datagram(server, &datagram)) {
        const struct ue_context *x = ue_conn_context(server);
        assert_int_equal(ue_datagram_decode(x, datagram.bytes, datagram.size_bytes, &d, NULL, &result), UE_OK);
        for (size_t i = 0; i < d.item_count; i++) {
            assert_int_equal(items[i].ack.has_frame_time, has_frame_time);
            assert_int_equal(items[i].ack.frame_time_ms, has_frame_time ? 33 : 0);
            acks += items[i].is_ack;
        }
    }
    assert_true(acks > 0);
    pair_free(&pair);
}

/* The budget does not count wrappers (endpoint.md 30: the bits in the send buffer). */
static void wrappers_do_not_count_against_the_budget(void **state) {
    static struct conn_pair pair;
    const struct ue_conn_config config = {.settings = {.skip_bytes = 100}};
    pair_init(&pair, "5.4", &config);
    pair_open_channel(&pair, 2);
    struct ue_conn *server = pair.conns[PAIR_SERVER];
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch_on_2, 'a', 20), UE_OK);
    int32_t written_bits = (int32_t)(server->sender.send_buffer.bit - server->common.limits.prefix_bits);
    assert_true(written_bits > 0);
    server->sender.budget.queued_bits = -written_bits;
    assert_true(ue_conn_is_ready(server));
    server->sender.budget.queued_bits++;
    assert_false(ue_conn_is_ready(server));
    pair_free(&pair);
}

/* Replays have no sequences or acks on the wire: each bunch is written once, of any size. */
static void replays_write_each_bunch_once(void **state) {
    static struct conn_pair pair;
    static const enum ue_channel_kind kinds[] = {UE_KIND_CONTROL, UE_KIND_VOICE, UE_KIND_ACTOR, UE_KIND_OTHER};
    const struct ue_conn_config config = {
        .driver = UE_DRIVER_DEMO,
        .memory_limit_bytes = (size_t)16 << 20,
        .options = {.repeat_reliable = true, .tail_probe_data = true, .resend_close = true},
    };
    pair_init(&pair, "5.4", &config);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t opened;
        assert_int_equal(ue_conn_open(pair.conns[PAIR_SERVER], kinds[i], i, &opened), UE_OK);
        for (int value = 'a'; value < 'h'; value++) {
            assert_int_equal(pair_send_short(&pair, PAIR_SERVER, i, (uint8_t)value), UE_OK);
            ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        }
    }
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch_on_2, 'h', 1000000), UE_OK);
    pair_run(&pair, 5);
    for (uint32_t i = 0; i < 4; i++) {
        pair_assert_received(&pair, PAIR_CLIENT, i, i == 2 ? "abcdefgh" : "abcdefg");
    }
    pair_free(&pair);
}

/* Datagrams of the two ticks after the one that sends a reliable message of 500 bytes, with copies in both. */
static uint32_t datagrams_with_copies(uint32_t net_speed) {
    static struct conn_pair pair;
    const struct ue_conn_config config = {.keep_alive_ns = 100 * PAIR_TICK_NS,
                                          .net_speed = net_speed,
                                          .options = {.repeat_reliable = true, .repeat_ticks = 2, .quiet = true}};
    const struct ue_outgoing message = {.channel = 2, .reliable = true};
    pair_init(&pair, "5.4", &config);
    pair_open_channel(&pair, 2);
    pair_run(&pair, 20);
    assert_int_equal(pair_send(&pair, PAIR_SERVER, &message, 'a', 500), UE_OK);
    uint32_t datagrams = 0;
    for (unsigned tick = 0; tick < 3; tick++) {
        pair.now_ns += PAIR_TICK_NS;
        ue_conn_tick(pair.conns[PAIR_SERVER], pair.now_ns);
        datagrams += (uint32_t)pair_drop(&pair, PAIR_SERVER);
    }
    pair_free(&pair);
    return datagrams - 1;
}

/* Copies do not exceed the budget: on a slow link they would delay what they repeat. */
static void copies_wait_for_the_budget(void **state) {
    assert_int_equal(datagrams_with_copies(100000), 2);
    assert_int_equal(datagrams_with_copies(2000), 0);
}

/* A program that sleeps until the deadline sends the copies of a lone bunch in the next ticks, then asks for the report
   of a round trip, and nothing more once there is one. */
static void the_deadline_covers_copies_and_probes(void **state) {
    static struct conn_pair pair;
    const struct ue_conn_config config = {
        .keep_alive_ns = 100 * PAIR_TICK_NS,
        .options = {.repeat_reliable = true, .repeat_ticks = 2, .tail_probe = true, .quiet = true}};
    pair_init(&pair, "5.4", &config);
    pair_open_channel(&pair, 2);
    pair_run(&pair, 20);
    pair_clear_received(&pair);
    struct ue_conn *server = pair.conns[PAIR_SERVER];
    assert_true(ue_conn_deadline(server) > pair.now_ns + 10 * PAIR_TICK_NS);
    assert_int_equal(pair_send_short(&pair, PAIR_SERVER, 2, 'a'), UE_OK);
    for (unsigned tick = 0; tick < 3; tick++) {
        assert_true(ue_conn_deadline(server) <= pair.now_ns);
        pair.now_ns += PAIR_TICK_NS;
        ue_conn_tick(server, pair.now_ns);
        assert_int_equal(pair_drop(&pair, PAIR_SERVER), 1);
    }
    uint64_t probe_ns = ue_conn_deadline(server);
    assert_true(probe_ns < pair.now_ns + 4 * PAIR_TICK_NS);
    assert_true(probe_ns > pair.now_ns);
    pair.now_ns = probe_ns;
    ue_conn_tick(server, pair.now_ns);
    assert_int_equal(pair_deliver(&pair, PAIR_SERVER), 1);
    pair_run(&pair, 5);
    pair_assert_received(&pair, PAIR_CLIENT, 2, "a");
    assert_int_equal(ue_conn_unacked(server, 2), 0);
    assert_true(ue_conn_deadline(server) > pair.now_ns + 10 * PAIR_TICK_NS);
    pair_free(&pair);
}

/* A program that sleeps until the deadline sends the first messages again after a second, although it sends keep-alives
   less often (endpoint.md 21.1). */
static void the_deadline_covers_the_first_messages(void **state) {
    const uint64_t second_ns = UINT64_C(1000000000);
    const struct ue_conn_config config = {.profile = ue_profile_find("5.4"), .keep_alive_ns = 30 * second_ns};
    struct ue_conn *client = ue_conn_new(NULL, &config);
    struct ue_bytes datagram;
    ue_conn_adopt(client, second_ns, 1, 2);
    const struct ue_outgoing bunch = {.reliable = true, .data = {(const uint8_t *)"h", 0, 8}};
    assert_int_equal(ue_conn_send(client, second_ns, &bunch, NULL), UE_OK);
    ue_conn_tick(client, second_ns);
    assert_true(ue_conn_next_datagram(client, &datagram));
    assert_int_equal(ue_conn_deadline(client), 2 * second_ns + 1);
    ue_conn_tick(client, 2 * second_ns);
    assert_false(ue_conn_next_datagram(client, &datagram));
    ue_conn_tick(client, 2 * second_ns + 1);
    assert_true(ue_conn_next_datagram(client, &datagram));
    assert_int_equal(ue_conn_deadline(client), 3 * second_ns + 2);
    ue_conn_free(client);
}

/* Runs a case for each form of acknowledgements. */
#define EACH_RELEASE(function)                                                                                         \
    cmocka_unit_test_prestate(function, releases[1]), cmocka_unit_test_prestate(function, releases[2]),                \
        cmocka_unit_test_prestate(function, releases[3]), cmocka_unit_test_prestate(function, releases[4])

static char releases[][8] = {"4.18", "4.20", "4.25", "5.4", "5.8"};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bunch_without_memory_is_sent_completely_or_not_at_all),
        cmocka_unit_test(pending_sequences_are_flushed_completely_or_not_at_all),
        cmocka_unit_test(pending_sequences_are_flushed_by_the_tick),
        cmocka_unit_test(long_control_messages_wait_for_space_in_the_reliable_buffer),
        cmocka_unit_test(one_more_queued_control_message_closes_the_connection),
        cmocka_unit_test(a_queued_message_without_memory_stays_queued),
        EACH_RELEASE(a_restarting_client_sends_full_packets_only),
        cmocka_unit_test(bunches_that_fit_no_packet_are_refused),
        cmocka_unit_test(the_deadline_covers_copies_and_probes),
        cmocka_unit_test(the_deadline_covers_the_first_messages),
        cmocka_unit_test(copies_wait_for_the_budget),
        cmocka_unit_test(only_the_side_that_opened_a_channel_closes_it),
        EACH_RELEASE(an_unreliable_open_must_also_close),
        EACH_RELEASE(an_unreliable_bunch_closes_only_the_channel_that_it_opens),
        EACH_RELEASE(voice_closes_unreliably_until_its_open_is_acknowledged),
        EACH_RELEASE(nothing_is_unreliable_on_the_control_channel),
        cmocka_unit_test(every_fragment_with_content_has_the_must_be_mapped_flag),
        cmocka_unit_test(legacy_closes_carry_dormancy_only),
        cmocka_unit_test_prestate(legacy_acks_carry_the_frame_time, releases[0]),
        cmocka_unit_test_prestate(legacy_acks_carry_the_frame_time, releases[1]),
        cmocka_unit_test(wrappers_do_not_count_against_the_budget),
        cmocka_unit_test(replays_write_each_bunch_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

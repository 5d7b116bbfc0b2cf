/* SPDX-License-Identifier: MIT */
/* Receiving: a connection delivers each bunch once and in order, whatever its memory limit, and hostile input does no
   more than close it (endpoint.md 7 to 9, 16 to 19). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/conn_pair.h"
#include "tests/support/within.h"

static const struct ue_conn_config stock;

/* Bunches that wait for an earlier one find no memory when they could be delivered. Their packets are already
   acknowledged, so the peer does not retransmit them. */
static void waiting_bunches_are_delivered_when_memory_is_available(void **state) {
    static struct conn_pair pair;
    unsigned waited = 0;
    for (size_t spare_bytes = 0; spare_bytes < 800; spare_bytes += 16) {
        pair_init(&pair, "5.4", &stock);
        pair_open_channel(&pair, 2);
        pair_send_short(&pair, PAIR_SERVER, 2, 'a');
        ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_drop(&pair, PAIR_SERVER);
        pair_send_short(&pair, PAIR_SERVER, 2, 'b');
        pair_send_short(&pair, PAIR_SERVER, 2, 'c');
        ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_deliver(&pair, PAIR_SERVER);
        ue_conn_tick(pair.conns[PAIR_CLIENT], pair.now_ns);
        pair_deliver(&pair, PAIR_CLIENT);
        ue_conn_tick(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_limit_memory(&pair, PAIR_CLIENT, spare_bytes);
        pair_deliver(&pair, PAIR_SERVER);
        waited += pair.received_count[PAIR_CLIENT] == 1;
        pair_restore_memory(&pair, PAIR_CLIENT);
        pair_run(&pair, 10);
        pair_assert_received(&pair, PAIR_CLIENT, 2, "abc");
        pair_free(&pair);
    }
    assert_true(waited > 0);
}

/* The first fragment finds no memory; its retransmission does not count as a second first fragment. */
static void an_initial_fragment_without_memory_is_received_again(void **state) {
    static struct conn_pair pair;
    for (size_t spare_bytes = 0; spare_bytes < 2400; spare_bytes += 32) {
        pair_init(&pair, "5.4", &stock);
        pair_open_channel(&pair, 2);
        pair_send(&pair, PAIR_CLIENT, &(struct ue_outgoing){.channel = 2, .reliable = true}, 'a', 2500);
        ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
        pair_limit_memory(&pair, PAIR_SERVER, spare_bytes);
        pair_deliver(&pair, PAIR_CLIENT);
        pair_restore_memory(&pair, PAIR_SERVER);
        pair_run(&pair, 10);
        assert_int_equal(ue_conn_state(pair.conns[PAIR_SERVER]), UE_CONN_OPEN);
        pair_assert_received(&pair, PAIR_SERVER, 2, "a");
        pair_free(&pair);
    }
}

/* A fault in the packet handlers' part is a handler error, not an error of the packet header after it. */
static void handler_faults_close_with_a_handler_error(void **state) {
    static struct conn_pair pair;
    static const uint8_t no_flag[] = {0x02}; /* handshake bit 0, then the terminator */
    const struct ue_conn_config config = {.settings = {.handlers = {UE_HANDLER_OODLE}}};
    pair_init(&pair, "4.25", &config);
    ue_conn_receive(pair.conns[PAIR_SERVER], pair.now_ns, no_flag, sizeof no_flag);
    pair_clear_received(&pair);
    assert_int_equal(pair.conns[PAIR_SERVER]->common.life.closed_for, UE_CLOSE_PACKET_HANDLER_INCOMING_ERROR);
    pair_free(&pair);
}

/* A connection that had no handshake cannot be reset by one (endpoint.md 10). */
static void a_handshake_does_not_reset_an_adopted_connection(void **state) {
    static struct conn_pair pair;
    struct ue_random random;
    uint8_t bytes[UE_HANDSHAKE_DATAGRAM_BYTES];
    ue_random_init(&random, NULL);
    pair_init(&pair, *state, &stock);
    struct ue_conn *client = pair.conns[PAIR_CLIENT];
    struct ue_context context = *ue_conn_context(pair.conns[PAIR_SERVER]);
    for (enum ue_handshake_type type = UE_HANDSHAKE_CHALLENGE; type <= UE_HANDSHAKE_ACK; type++) {
        struct ue_datagram message = {.handshake = {.type = type,
                                                    .has_body = true,
                                                    .version = UE_HANDSHAKE_VERSION_WITH_IDS,
                                                    .min_version = UE_HANDSHAKE_VERSION_WITH_IDS}};
        double time = type == UE_HANDSHAKE_ACK ? -1.0 : 5.0;
        memcpy(&message.handshake.timestamp, &time, sizeof time);
        memset(message.handshake.cookie, 0x55, sizeof message.handshake.cookie);
        size_t size_bytes = ue_handshake_datagram_write(&context, &message, &random, bytes, sizeof bytes);
        assert_true(size_bytes > 0);
        ue_conn_receive(client, pair.now_ns, bytes, size_bytes);
    }
    assert_int_equal(pair_drop(&pair, PAIR_CLIENT), 0);
    assert_int_equal(pair_send_short(&pair, PAIR_CLIENT, 0, 'a'), UE_OK);
    pair_run(&pair, 3);
    pair_assert_received(&pair, PAIR_SERVER, 0, "a");
    pair_free(&pair);
}

/* Before the sequences are known no channel can be opened. */
static void channels_open_on_open_connections_only(void **state) {
    uint32_t opened;
    struct counting_allocator memory;
    counting_allocator_init(&memory, SIZE_MAX);
    const struct ue_conn_config config = {.profile = ue_profile_find("5.4"), .role = UE_ROLE_SERVER};
    struct ue_conn *c = ue_conn_new(&memory.allocator, &config);
    assert_int_equal(ue_conn_open(c, UE_KIND_ACTOR, -1, &opened), UE_E_CONFLICT);
    ue_conn_adopt(c, 0, 1, 2);
    assert_int_equal(ue_conn_open(c, UE_KIND_ACTOR, -1, &opened), UE_OK);
    ue_conn_close(c, 0, UE_CLOSE_CLEANUP);
    assert_int_equal(ue_conn_open(c, UE_KIND_ACTOR, -1, &opened), UE_E_CONFLICT);
    ue_conn_free(c);
    assert_int_equal(memory.used_bytes, 0);
}

/* Exports in front of a bunch that is not yet complete are delivered once, whatever the memory limit. */
static void exports_are_delivered_once(void **state) {
    static struct conn_pair pair;
    const struct ue_view exports = {(const uint8_t *)"exports", 0, 50};
    const struct ue_outgoing bunch = {.channel = 2, .reliable = true, .exports = &exports, .export_count = 1};
    for (size_t spare_bytes = 0; spare_bytes < 1600; spare_bytes += 16) {
        pair_init(&pair, "5.4", &stock);
        pair_open_channel(&pair, 2);
        assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'a', 20), UE_OK);
        ue_conn_flush(pair.conns[PAIR_SERVER], pair.now_ns);
        pair_limit_memory(&pair, PAIR_CLIENT, spare_bytes);
        pair_deliver(&pair, PAIR_SERVER);
        pair_restore_memory(&pair, PAIR_CLIENT);
        pair_run(&pair, 10);
        pair_assert_received(&pair, PAIR_CLIENT, 2, "a");
        assert_int_equal(pair.exports[PAIR_CLIENT], 1);
        pair_free(&pair);
    }
}

/* The name of a channel is repeated in each bunch: a name that leaves no space for data is refused. */
static void channel_names_too_long_to_repeat_are_refused(void **state) {
    static struct conn_pair pair;
    static const uint8_t letters[800] = "Mesh";
    for (size_t length = 1; length < sizeof letters; length += length < 32 ? 1 : 100) {
        uint8_t bytes[1024];
        const struct ue_conn_config config = {.any_channel = true};
        const struct ue_item item = {.bunch = {.control = true,
                                               .open = true,
                                               .reliable = true,
                                               .channel = 9,
                                               .ch_seq = 501 + 1,
                                               .has_name = true,
                                               .name = {.text = {.units = {letters, 0, length * 8}}},
                                               .data = {letters, 0, 8}}};
        pair_init(&pair, "5.4", &config);
        struct ue_conn *client = pair.conns[PAIR_CLIENT];
        size_t size_bytes = pair_encode_packet(&pair, PAIR_SERVER, &item, 1, bytes, sizeof bytes);
        ue_conn_receive(client, pair.now_ns, bytes, size_bytes);
        pair_run(&pair, 1);
        bool is_accepted = ue_channel_find(&client->channels, 9) != NULL;
        assert_int_equal(is_accepted, length <= 13);
        if (is_accepted) {
            const struct ue_outgoing answer = {.channel = 9, .reliable = true};
            assert_int_equal(pair_send(&pair, PAIR_CLIENT, &answer, 'x', client->common.limits.single_bits / 8), UE_OK);
            ue_conn_flush(client, pair.now_ns);
            assert_false(client->channels.has_pending_out_rec);
        } else {
            assert_int_equal(client->common.life.closed_for, UE_CLOSE_UNKNOWN_CHANNEL_TYPE);
        }
        pair_free(&pair);
    }
}

/* A client that sends nothing on channel 0 does not keep a server's loop busy: the server's next tick is due at the
   timeout. */
static void a_server_waits_for_the_first_bunch_of_the_client(void **state) {
    struct ue_conn *conns[2];
    struct ue_bytes datagram;
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_conn_config config = {.profile = ue_profile_find("5.4"),
                                              .role = side == PAIR_CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER};
        conns[side] = ue_conn_new(NULL, &config);
        ue_conn_adopt(conns[side], 0, side == PAIR_CLIENT ? 2 : 1, side == PAIR_CLIENT ? 1 : 2);
        ue_conn_tick(conns[side], 0);
    }
    ue_conn_tick(conns[PAIR_CLIENT], 300 * PAIR_TICK_NS);
    assert_true(ue_conn_next_datagram(conns[PAIR_CLIENT], &datagram));
    ue_conn_receive(conns[PAIR_SERVER], 300 * PAIR_TICK_NS, datagram.bytes, datagram.size_bytes);
    ue_conn_end_receive(conns[PAIR_SERVER], 300 * PAIR_TICK_NS);
    ue_conn_tick(conns[PAIR_SERVER], 300 * PAIR_TICK_NS);
    assert_false(ue_conn_next_datagram(conns[PAIR_SERVER], &datagram));
    assert_int_equal(ue_conn_deadline(conns[PAIR_SERVER]), 300 * PAIR_TICK_NS + UINT64_C(60000000001));
    assert_true(ue_conn_deadline(conns[PAIR_CLIENT]) > 300 * PAIR_TICK_NS);
    for (unsigned side = 0; side < 2; side++) {
        ue_conn_free(conns[side]);
    }
}

/* A packet whose bunches were not all processed is not acknowledged, even if it closes the connection (endpoint.md
   39). */
static void a_packet_that_ends_the_connection_is_not_delivered(void **state) {
    static struct conn_pair pair;
    const struct ue_conn_config config = {.options = {.resend_close = true}};
    pair_init(&pair, "5.4", &config);
    struct ue_conn *server = pair.conns[PAIR_SERVER];
    const struct ue_outgoing mapped = {.channel = 0, .reliable = true, .has_mapped = true};
    assert_int_equal(pair_send(&pair, PAIR_CLIENT, &mapped, 'a', 10), UE_OK);
    assert_int_equal(pair_send_short(&pair, PAIR_CLIENT, 0, 'b'), UE_OK);
    ue_conn_flush(pair.conns[PAIR_CLIENT], pair.now_ns);
    pair_deliver(&pair, PAIR_CLIENT);
    assert_int_equal(server->common.life.closed_for, UE_CLOSE_CLIENT_HAS_MUST_BE_MAPPED_GUIDS);
    assert_int_equal(server->sender.packet_notify.in_ack_seq, server->sender.packet_notify.in_seq);
    assert_int_equal(server->sender.packet_notify.history[0] & 1, 0);
    pair_free(&pair);
}

/* Layout A0 has no Ack. The client resends its Response until the server sends something or the cookie is too old. */
static void an_unanswered_response_is_resent(void **state) {
    uint8_t bytes[UE_HANDSHAKE_DATAGRAM_BYTES];
    struct ue_random random;
    struct ue_bytes datagram;
    struct ue_context context;
    const struct ue_conn_config config = {.profile = ue_profile_find("4.13")};
    struct ue_conn *c = ue_conn_new(NULL, &config);
    ue_random_init(&random, NULL);
    ue_context_init(&context, config.profile, NULL);
    context.direction = UE_SERVER_TO_CLIENT;
    struct ue_datagram challenge = {.handshake = {.type = UE_HANDSHAKE_CHALLENGE,
                                                  .has_body = true,
                                                  .timestamp = ue_handshake_timestamp_bits(&context, 5),
                                                  .cookie = {1, 2, 3, 4}}};
    uint64_t second_ns = UINT64_C(1000000000), responses = 0;
    ue_conn_connect(c, 0);
    assert_true(ue_conn_next_datagram(c, &datagram));
    size_t size_bytes = ue_handshake_datagram_write(&context, &challenge, &random, bytes, sizeof bytes);
    ue_conn_receive(c, 0, bytes, size_bytes);
    assert_int_equal(ue_conn_state(c), UE_CONN_PENDING);
    for (uint64_t now_ns = 0; now_ns < 30 * second_ns; now_ns += second_ns / 2 + 1) {
        ue_conn_tick(c, now_ns);
        while (ue_conn_next_datagram(c, &datagram)) {
            struct ue_datagram d = {0};
            struct ue_decode_result result;
            struct ue_item items[4];
            d.items = items;
            d.item_capacity = 4;
            assert_int_equal(
                ue_datagram_decode(ue_conn_context(c), datagram.bytes, datagram.size_bytes, &d, NULL, &result), UE_OK);
            responses += result.is_handshake;
        }
    }
    assert_true(is_within(responses, 14, 16)); /* once a second, until the cookie expires */
    ue_conn_free(c);
}

static char releases[][8] = {"5.1", "5.8"};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_bunches_are_delivered_when_memory_is_available),
        cmocka_unit_test(an_initial_fragment_without_memory_is_received_again),
        cmocka_unit_test(handler_faults_close_with_a_handler_error),
        cmocka_unit_test_prestate(a_handshake_does_not_reset_an_adopted_connection, releases[0]),
        cmocka_unit_test_prestate(a_handshake_does_not_reset_an_adopted_connection, releases[1]),
        cmocka_unit_test(channels_open_on_open_connections_only),
        cmocka_unit_test(exports_are_delivered_once),
        cmocka_unit_test(channel_names_too_long_to_repeat_are_refused),
        cmocka_unit_test(a_server_waits_for_the_first_bunch_of_the_client),
        cmocka_unit_test(a_packet_that_ends_the_connection_is_not_delivered),
        cmocka_unit_test(an_unanswered_response_is_resent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Messages that are unexpected at all or at the current state of the login, at both sides (endpoint.md 21, 6, 32). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/login/login_fixture.h"
#include "tests/support/rng.h"

/* ---- messages out of order, and malformed ones ---- */

/* Bytes of 4.26 messages: Hello 42, Login, Netspeed 100, Join. */
#define HELLO "\0\1\x2a\0\0\0\0\0\0\0"
#define LOGIN "\5\2\0\0\0000\0\0\0\0\0\3\0\0\0\0"
#define NETSPEED "\4\x64\0\0\0"
#define JOIN "\x9"
#define DEBUG "\x11\0\0\0\0"
#define STEP(text) {text, sizeof text - 1}

static size_t count_control_events(const struct login_side *side) {
    struct ue_event event;
    size_t count = 0;
    while (ue_conn_next_event(side->conn, &event)) {
        count += event.type == UE_EVENT_BUNCH && event.channel == 0;
    }
    return count;
}

static void messages_out_of_order_or_malformed_close_the_connection(void **state) {
    static const struct {
        struct {
            const char *bytes;
            size_t size_bytes;
        } steps[4];
        enum ue_close_reason reason; /* NONE: stays open */
    } cases[] = {
        {{STEP(HELLO), STEP(LOGIN), STEP(NETSPEED), STEP(JOIN)}, UE_CLOSE_NONE},
        {{STEP(HELLO), STEP(LOGIN NETSPEED JOIN)}, UE_CLOSE_NONE},
        {{STEP(HELLO), STEP(LOGIN), STEP(JOIN), STEP(JOIN)}, UE_CLOSE_NONE},
        {{STEP(HELLO), STEP(LOGIN), STEP(DEBUG), STEP(JOIN)}, UE_CLOSE_NONE},
        {{STEP(LOGIN)}, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK},
        {{STEP("\0")}, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK},
        {{STEP("\0\0\x2a\0\0\0\0\0\0\0")}, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK},
        {{STEP("\0\2\x2a\0\0\0\0\0\0\0")}, UE_CLOSE_CONTROL_CHANNEL_ENDIAN_CHECK},
        {{STEP(HELLO), STEP(HELLO)}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO), STEP(NETSPEED)}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO), STEP(JOIN)}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO), STEP(DEBUG)}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO HELLO)}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO), STEP(LOGIN), STEP(HELLO)}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO), STEP(LOGIN), STEP(JOIN), STEP(LOGIN)}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO), STEP("\x63")}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_UNKNOWN},
        {{STEP(HELLO), STEP(LOGIN), STEP("\x7")}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_UNKNOWN},
        {{STEP(HELLO), STEP("\5\x10\0\0\0abc")}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP(HELLO), STEP(LOGIN), STEP("\4\1\2")}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
        {{STEP("\0\1\x2a\0")}, UE_CLOSE_CONTROL_CHANNEL_MESSAGE_FAIL},
    };
    struct ue_conn_config config = login_conn_config("4.26");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        login_fixture_init(&config, NULL, &login_server_config);
        for (size_t j = 0; j < 4 && cases[i].steps[j].bytes != NULL; j++) {
            assert_int_equal(ue_conn_state(login_server->conn), UE_CONN_OPEN);
            login_send_bytes(UE_ROLE_CLIENT, cases[i].steps[j].bytes, cases[i].steps[j].size_bytes);
            login_tick(1);
        }
        if (cases[i].reason == UE_CLOSE_NONE) {
            assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
        } else {
            login_assert_closed(login_server, cases[i].reason);
        }
        assert_int_equal(count_control_events(login_server), 0);
        login_fixture_free();
    }
}

static void log_in(void) {
    login_send_bytes(UE_ROLE_CLIENT, HELLO, sizeof HELLO - 1);
    login_tick(1);
    login_send_bytes(UE_ROLE_CLIENT, LOGIN, sizeof LOGIN - 1);
    login_tick(1);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_WELCOMED);
}

/* {server's maximum, Netspeed of the client, result}; 0: the default maximum (endpoint.md 30). */
static void net_speeds_are_clamped(void **state) {
    static const int32_t cases[][3] = {{15000, 0, 1800},       {15000, 100, 1800}, {15000, 10000, 10000},
                                       {15000, 200000, 15000}, {15000, -5, 1800},  {0, 200000, 100000}};
    struct ue_conn_config config = login_conn_config("4.26");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_login_config limited = login_server_config;
        limited.max_client_rate = cases[i][0];
        login_fixture_init(&config, NULL, &limited);
        log_in();
        struct ue_message m = {.type = UE_MESSAGE_NETSPEED, .param_count = 1};
        m.params[0].number = (uint32_t)cases[i][1];
        login_send_message(UE_ROLE_CLIENT, &m);
        login_tick(1);
        assert_int_equal(login_server->conn->sender.budget.net_speed, cases[i][2]);
        login_fixture_free();
    }
}

static void send_close_reason(const char *text) {
    struct ue_message m = login_text_message(UE_MESSAGE_CLOSE_REASON, text);
    login_send_message(UE_ROLE_CLIENT, &m);
    login_tick(1);
}

static void only_the_first_valid_close_reason_is_kept(void **state) {
    static char names[127 * 2 + 2];
    struct ue_conn_config config = login_conn_config("4.26");
    login_fixture_init(&config, NULL, &login_server_config);
    log_in();
    send_close_reason("AZ,az_09");
    send_close_reason("Other");
    assert_string_equal(login_server->login.status.close_reason, "AZ,az_09");
    login_fixture_free();
    for (size_t count = 127; count <= 128; count++) {
        for (size_t i = 0; i < count; i++) {
            memcpy(names + 2 * i, "a,", 2);
        }
        names[2 * count - 1] = 0;
        login_fixture_init(&config, NULL, &login_server_config);
        log_in();
        send_close_reason(names);
        assert_string_equal(login_server->login.status.close_reason, count < 128 ? names : "");
        login_fixture_free();
    }
    login_fixture_init(&config, NULL, &login_server_config);
    log_in();
    send_close_reason("Close<b>");
    assert_string_equal(login_server->login.status.close_reason, "");
    assert_int_equal(ue_conn_state(login_server->conn), UE_CONN_OPEN);
    login_fixture_free();
}

static void a_close_sends_its_reason(void **state) {
    struct ue_conn_config config = login_conn_config("5.4");
    login_fixture_init(&config, &login_client_config, &login_server_config);
    login_tick(10);
    ue_conn_close(login_server->conn, login_fixture.now_ns, UE_CLOSE_HOST_CLOSED);
    login_tick(2);
    assert_string_equal(login_client->login.status.close_reason, "HostClosedConnection");
    login_assert_closed(login_client, UE_CLOSE_CONTROL_CHANNEL_CLOSE);
    login_fixture_free();
}

/* ---- hostile servers ---- */

static void clients_answer_repeated_messages_once(void **state) {
    struct ue_conn_config config = login_conn_config("4.26");
    login_fixture_init(&config, &login_client_config, NULL);
    login_tick(2);
    struct ue_message challenge = login_text_message(UE_MESSAGE_CHALLENGE, "00000000");
    struct ue_message welcome = {.type = UE_MESSAGE_WELCOME, .param_count = 3};
    for (int i = 0; i < 20; i++) {
        login_send_message(UE_ROLE_SERVER, &challenge);
        login_tick(1);
    }
    for (int i = 0; i < 20; i++) {
        login_send_message(UE_ROLE_SERVER, &welcome);
        login_tick(1);
    }
    assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN), 1);
    assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_NETSPEED), 1);
    assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_JOIN), 1);
    login_fixture_free();
}

/* A client ignores what only the host of the other driver sends, and answers its own (endpoint.md 6.7). */
static void clients_ignore_messages_of_the_other_driver(void **state) {
    const struct ue_message welcome = {.type = UE_MESSAGE_WELCOME, .param_count = 3};
    const struct ue_message beacon_welcome = {.type = UE_MESSAGE_BEACON_WELCOME};
    struct ue_message guid = {.type = UE_MESSAGE_BEACON_ASSIGN_GUID, .param_count = 1};
    guid.params[UE_BEACON_ASSIGN_GUID_GUID].number = 77;
    for (unsigned is_beacon = 0; is_beacon <= 1; is_beacon++) {
        struct ue_conn_config config = login_conn_config("4.26");
        config.driver = is_beacon ? UE_DRIVER_BEACON : UE_DRIVER_GAME;
        login_fixture_init(&config, &login_client_config, NULL);
        login_tick(2);
        enum ue_login_state before = login_client->login.status.state;
        login_send_message(UE_ROLE_SERVER, is_beacon ? &welcome : &beacon_welcome);
        login_tick(2);
        if (!is_beacon) {
            login_send_message(UE_ROLE_SERVER, &guid);
            login_tick(2);
        }
        assert_int_equal(login_client->login.status.state, before);
        assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_NETSPEED), 0);
        assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_JOIN), 0);
        assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_BEACON_JOIN), 0);
        assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_BEACON_NET_GUID_ACK), 0);
        assert_int_equal(ue_conn_state(login_client->conn), UE_CONN_PENDING);

        login_send_message(UE_ROLE_SERVER, is_beacon ? &beacon_welcome : &welcome);
        login_tick(2);
        assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_NETSPEED), 1);
        assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_BEACON_JOIN), is_beacon);
        login_fixture_free();
    }
}

static void an_encryption_ack_without_a_key_closes_the_connection(void **state) {
    struct ue_conn_config config = login_conn_config("4.26");
    login_fixture_init(&config, &login_client_config, NULL);
    login_tick(2);
    login_send_bytes(UE_ROLE_SERVER, "\x15", 1);
    login_tick(1);
    login_assert_closed(login_client, UE_CLOSE_PENDING_CONNECTION_FAILURE);
    login_fixture_free();
}

/* Random messages and random bytes on channel 0 close at most their connection. */
static void random_messages_crash_neither_side(void **state) {
    struct rng rng = rng_seeded("login noise");
    for (uint64_t round = rng_rounds(300); round > 0; round--) {
        enum ue_role from = rng_chance(&rng, 50) ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        struct ue_conn_config config = login_conn_config(ue_profile_at(rng_below(&rng, UE_PROFILE_COUNT))->name);
        login_fixture_init(&config, &login_client_config, &login_server_config);
        login_tick((unsigned)rng_below(&rng, 8));
        for (int i = 0; i < 8 && ue_channel_find(&login_fixture.sides[from].conn->channels, 0) != NULL; i++) {
            uint8_t bytes[64];
            size_t size_bytes = 1 + rng_below(&rng, sizeof bytes);
            rng_fill(&rng, bytes, size_bytes);
            bytes[0] = (uint8_t)rng_below(&rng, 40);
            struct ue_outgoing bunch = {.reliable = true, .data = {bytes, 0, size_bytes * 8 - rng_below(&rng, 8)}};
            ue_conn_send(login_fixture.sides[from].conn, login_fixture.now_ns, &bunch, NULL);
            login_tick(1);
        }
        login_fixture_free();
    }
}

/* ---- messages of the game ---- */

static void registered_messages_reach_the_game(void **state) {
    struct ue_conn_config config = login_conn_config("4.26");
    struct ue_login_config with_game_messages = login_server_config;
    with_game_messages.game_messages[UE_MESSAGE_DEBUG_TEXT / 64] |= UINT64_C(1) << UE_MESSAGE_DEBUG_TEXT % 64;
    with_game_messages.game_messages[200 / 64] |= UINT64_C(1) << 200 % 64;
    login_fixture_init(&config, NULL, &with_game_messages);
    log_in();
    assert_int_equal(count_control_events(login_server), 0);
    login_send_bytes(UE_ROLE_CLIENT, DEBUG JOIN, sizeof DEBUG JOIN - 1); /* the Join after it is still handled */
    login_tick(1);
    assert_int_equal(count_control_events(login_server), 1);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
    login_send_bytes(UE_ROLE_CLIENT, "\xc8\xff\xff", 3);
    login_tick(1);
    assert_int_equal(count_control_events(login_server), 1);
    assert_int_equal(ue_conn_state(login_server->conn), UE_CONN_OPEN);
    login_fixture_free();
}

static void beacon_servers_answer_messages_out_of_order_with_failure(void **state) {
    struct ue_conn_config config = login_conn_config("4.26");
    config.driver = UE_DRIVER_BEACON;
    for (int has_joined = 0; has_joined < 2; has_joined++) {
        login_fixture_init(&config, NULL, &login_server_config);
        login_send_bytes(UE_ROLE_CLIENT, HELLO, sizeof HELLO - 1);
        login_tick(1);
        struct ue_message join = login_text_message(UE_MESSAGE_BEACON_JOIN, "TestBeacon");
        join.param_count = 2;
        if (has_joined) {
            login_send_message(UE_ROLE_CLIENT, &join);
            login_tick(1);
            assert_int_equal(login_server->login.status.state, UE_LOGIN_JOINING);
        }
        struct ue_message ack = login_text_message(UE_MESSAGE_BEACON_NET_GUID_ACK, "OtherBeacon");
        login_send_message(UE_ROLE_CLIENT, &ack);
        login_tick(1);
        login_assert_closed(login_server, UE_CLOSE_JOIN_FAILURE);
        assert_int_equal(login_count_messages(UE_ROLE_SERVER, UE_MESSAGE_FAILURE), 0);
        login_deliver(UE_ROLE_SERVER);
        assert_int_equal(login_count_messages(UE_ROLE_SERVER, UE_MESSAGE_FAILURE), 1);
        login_fixture_free();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_out_of_order_or_malformed_close_the_connection),
        cmocka_unit_test(net_speeds_are_clamped),
        cmocka_unit_test(only_the_first_valid_close_reason_is_kept),
        cmocka_unit_test(a_close_sends_its_reason),
        cmocka_unit_test(clients_answer_repeated_messages_once),
        cmocka_unit_test(clients_ignore_messages_of_the_other_driver),
        cmocka_unit_test(an_encryption_ack_without_a_key_closes_the_connection),
        cmocka_unit_test(random_messages_crash_neither_side),
        cmocka_unit_test(registered_messages_reach_the_game),
        cmocka_unit_test(beacon_servers_answer_messages_out_of_order_with_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

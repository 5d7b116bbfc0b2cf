/* SPDX-License-Identifier: MIT */
/* What either side makes of messages that should not come, or not now (endpoint.md 20.3, 22.1, 24.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/login_stage.h"
#include "tests/support/rng.h"

/* ---- the order, and what is malformed ---- */

/* Bytes of 4.26 messages: Hello 42, Login, Netspeed 100, Join. */
#define HELLO "\0\1\x2a\0\0\0\0\0\0\0"
#define LOGIN "\5\2\0\0\0000\0\0\0\0\0\3\0\0\0\0"
#define NETSPEED "\4\x64\0\0\0"
#define JOIN "\x9"
#define DEBUG "\x11\0\0\0\0"
#define STEP(text) {text, sizeof text - 1}

static size_t take_control_events(const struct end *end) {
    struct ue_event event;
    size_t count = 0;
    while (ue_conn_next_event(end->conn, &event)) {
        count += event.type == UE_EVENT_BUNCH && event.channel == 0;
    }
    return count;
}

static void servers_keep_the_order(void **state) {
    (void)state;
    static const struct {
        struct {
            const char *bytes;
            size_t size_bytes;
        } steps[4];
        enum ue_close_reason reason; /* NONE: stays */
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
    struct ue_conn_config config = conn_config("4.26");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&config, NULL, &server_config);
        for (size_t j = 0; j < 4 && cases[i].steps[j].bytes != NULL; j++) {
            assert_int_equal(ue_conn_state(server->conn), UE_CONN_OPEN);
            send_raw(UE_ROLE_CLIENT, cases[i].steps[j].bytes, cases[i].steps[j].size_bytes);
            tick(1);
        }
        if (cases[i].reason == UE_CLOSE_NONE) {
            assert_int_equal(server->login.state, UE_LOGIN_DONE);
        } else {
            assert_closed(server, cases[i].reason);
        }
        assert_int_equal(take_control_events(server), 0);
        end_stage();
    }
}

static void greet(void) {
    send_raw(UE_ROLE_CLIENT, HELLO, sizeof HELLO - 1);
    tick(1);
    send_raw(UE_ROLE_CLIENT, LOGIN, sizeof LOGIN - 1);
    tick(1);
    assert_int_equal(server->login.state, UE_LOGIN_WELCOMED);
}

/* {server's maximum, Netspeed of the client, result}; 0: the default maximum (endpoint.md 23.1). */
static void net_speeds_are_clamped(void **state) {
    (void)state;
    static const int32_t cases[][3] = {{15000, 0, 1800},       {15000, 100, 1800}, {15000, 10000, 10000},
                                       {15000, 200000, 15000}, {15000, -5, 1800},  {0, 200000, 100000}};
    struct ue_conn_config config = conn_config("4.26");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_login_config limited = server_config;
        limited.max_client_rate = cases[i][0];
        begin(&config, NULL, &limited);
        greet();
        struct ue_message m = {.type = UE_MESSAGE_NETSPEED, .param_count = 1};
        m.params[0].number = (uint32_t)cases[i][1];
        send_message(UE_ROLE_CLIENT, &m);
        tick(1);
        assert_int_equal(server->conn->budget.net_speed, cases[i][2]);
        end_stage();
    }
}

static void say_reason(const char *text) {
    struct ue_message m = text_message(UE_MESSAGE_CLOSE_REASON, text);
    send_message(UE_ROLE_CLIENT, &m);
    tick(1);
}

static void only_the_first_sound_close_reason_counts(void **state) {
    (void)state;
    static char names[127 * 2 + 2];
    struct ue_conn_config config = conn_config("4.26");
    begin(&config, NULL, &server_config);
    greet();
    say_reason("AZ,az_09");
    say_reason("Other");
    assert_string_equal(server->login.close_reason, "AZ,az_09");
    end_stage();
    for (size_t count = 127; count <= 128; count++) {
        for (size_t i = 0; i < count; i++) {
            memcpy(names + 2 * i, "a,", 2);
        }
        names[2 * count - 1] = 0;
        begin(&config, NULL, &server_config);
        greet();
        say_reason(names);
        assert_string_equal(server->login.close_reason, count < 128 ? names : "");
        end_stage();
    }
    begin(&config, NULL, &server_config);
    greet();
    say_reason("Close<b>");
    assert_string_equal(server->login.close_reason, "");
    assert_int_equal(ue_conn_state(server->conn), UE_CONN_OPEN);
    end_stage();
}

static void whoever_leaves_says_why(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("5.4");
    begin(&config, &client_config, &server_config);
    tick(10);
    ue_conn_close(server->conn, stage.now_ns, UE_CLOSE_HOST_CLOSED);
    tick(2);
    assert_string_equal(client->login.close_reason, "HostClosedConnection");
    assert_closed(client, UE_CLOSE_CONTROL_CHANNEL_CLOSE);
    end_stage();
}

/* ---- hostile servers ---- */

static void clients_answer_once(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("4.26");
    begin(&config, &client_config, NULL);
    tick(2);
    struct ue_message challenge = text_message(UE_MESSAGE_CHALLENGE, "00000000");
    struct ue_message welcome = {.type = UE_MESSAGE_WELCOME, .param_count = 3};
    for (int i = 0; i < 20; i++) {
        send_message(UE_ROLE_SERVER, &challenge);
        tick(1);
    }
    for (int i = 0; i < 20; i++) {
        send_message(UE_ROLE_SERVER, &welcome);
        tick(1);
    }
    assert_int_equal(count_seen(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN), 1);
    assert_int_equal(count_seen(UE_ROLE_CLIENT, UE_MESSAGE_NETSPEED), 1);
    assert_int_equal(count_seen(UE_ROLE_CLIENT, UE_MESSAGE_JOIN), 1);
    end_stage();
}

static void an_encryption_ack_without_key_ends_it(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("4.26");
    begin(&config, &client_config, NULL);
    tick(2);
    send_raw(UE_ROLE_SERVER, "\x15", 1);
    tick(1);
    assert_closed(client, UE_CLOSE_PENDING_CONNECTION_FAILURE);
    end_stage();
}

/* Whole random messages and random bytes: nothing but this connection may suffer. */
static void noise_does_no_harm(void **state) {
    (void)state;
    struct rng rng = rng_seeded("login noise");
    for (uint64_t round = rng_rounds(300); round > 0; round--) {
        enum ue_role from = rng_chance(&rng, 50) ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        struct ue_conn_config config = conn_config(ue_profile_at(rng_below(&rng, UE_PROFILE_COUNT))->name);
        begin(&config, &client_config, &server_config);
        tick((unsigned)rng_below(&rng, 8));
        for (int i = 0; i < 8 && ue_conn_channel(stage.ends[from].conn, 0) != NULL; i++) {
            uint8_t bytes[64];
            size_t size_bytes = 1 + rng_below(&rng, sizeof bytes);
            rng_fill(&rng, bytes, size_bytes);
            bytes[0] = (uint8_t)rng_below(&rng, 40);
            struct ue_outgoing bunch = {.reliable = true, .data = {bytes, 0, size_bytes * 8 - rng_below(&rng, 8)}};
            ue_conn_send(stage.ends[from].conn, stage.now_ns, &bunch, NULL);
            tick(1);
        }
        end_stage();
    }
}

/* ---- the game's own messages ---- */

static void a_game_sees_the_messages_it_asked_for(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("4.26");
    struct ue_login_config with_own = server_config;
    with_own.game_messages[UE_MESSAGE_DEBUG_TEXT / 64] |= UINT64_C(1) << UE_MESSAGE_DEBUG_TEXT % 64;
    with_own.game_messages[200 / 64] |= UINT64_C(1) << 200 % 64;
    begin(&config, NULL, &with_own);
    greet();
    assert_int_equal(take_control_events(server), 0);
    send_raw(UE_ROLE_CLIENT, DEBUG JOIN, sizeof DEBUG JOIN - 1); /* what follows it still counts */
    tick(1);
    assert_int_equal(take_control_events(server), 1);
    assert_int_equal(server->login.state, UE_LOGIN_DONE);
    send_raw(UE_ROLE_CLIENT, "\xc8\xff\xff", 3);
    tick(1);
    assert_int_equal(take_control_events(server), 1);
    assert_int_equal(ue_conn_state(server->conn), UE_CONN_OPEN);
    end_stage();
}

static void beacons_answer_disorder_with_failure(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("4.26");
    config.driver = UE_DRIVER_BEACON;
    for (int has_joined = 0; has_joined < 2; has_joined++) {
        begin(&config, NULL, &server_config);
        send_raw(UE_ROLE_CLIENT, HELLO, sizeof HELLO - 1);
        tick(1);
        struct ue_message join = text_message(UE_MESSAGE_BEACON_JOIN, "TestBeacon");
        join.param_count = 2;
        if (has_joined) {
            send_message(UE_ROLE_CLIENT, &join);
            tick(1);
            assert_int_equal(server->login.state, UE_LOGIN_JOINING);
        }
        struct ue_message ack = text_message(UE_MESSAGE_BEACON_NET_GUID_ACK, "OtherBeacon");
        send_message(UE_ROLE_CLIENT, &ack);
        tick(1);
        assert_closed(server, UE_CLOSE_JOIN_FAILURE);
        assert_int_equal(count_seen(UE_ROLE_SERVER, UE_MESSAGE_FAILURE), 0);
        carry(UE_ROLE_SERVER);
        assert_int_equal(count_seen(UE_ROLE_SERVER, UE_MESSAGE_FAILURE), 1);
        end_stage();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_keep_the_order),
        cmocka_unit_test(net_speeds_are_clamped),
        cmocka_unit_test(only_the_first_sound_close_reason_counts),
        cmocka_unit_test(whoever_leaves_says_why),
        cmocka_unit_test(clients_answer_once),
        cmocka_unit_test(an_encryption_ack_without_key_ends_it),
        cmocka_unit_test(noise_does_no_harm),
        cmocka_unit_test(a_game_sees_the_messages_it_asked_for),
        cmocka_unit_test(beacons_answer_disorder_with_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

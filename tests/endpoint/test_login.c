/* SPDX-License-Identifier: MIT */
/* Joining, in both roles, through two real connections (endpoint.md 22). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/login_stage.h"
#include "tests/support/within.h"
#include "tools/endpoint/login_text.h"

/* ---- joining ---- */

static void everyone_joins_in_every_generation(void **state) {
    (void)state;
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        const struct ue_profile *profile = ue_profile_at(i);
        struct ue_conn_config config = conn_config(profile->name);
        begin(&config, &client_config, &server_config);
        tick(10);
        uint32_t player;
        assert_int_equal(server->login.state, UE_LOGIN_DONE);
        assert_int_equal(client->login.state, UE_LOGIN_JOINING);
        assert_int_equal(ue_conn_state(client->conn), UE_CONN_PENDING);
        assert_string_equal(client->login.map, "/Game/Maps/Arena");
        assert_string_equal(client->login.game, "/Script/Engine.GameMode");
        assert_string_equal(server->login.url, "?Name=Ada?class=7");
        assert_string_equal(server->login.unique_id, "id-1");
        assert_string_equal(server->login.platform, profile->hello >= 1 ? "NULL" : "");
        assert_int_equal(server->login.peer_version, 42);
        assert_int_equal(ue_conn_open(server->conn, UE_KIND_ACTOR, -1, &player), UE_OK);
        struct ue_outgoing actor = {.channel = player, .reliable = true, .data = {(const uint8_t *)"p", 0, 8}};
        assert_int_equal(ue_conn_send(server->conn, stage.now_ns, &actor, NULL), UE_OK);
        tick(2);
        assert_int_equal(client->login.state, UE_LOGIN_DONE);
        assert_int_equal(ue_conn_state(client->conn), UE_CONN_OPEN);
        end_stage();
    }
}

static void hello_waits_for_no_tick(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("5.4");
    struct ue_bytes bytes;
    begin(&config, &client_config, &server_config);
    assert_true(ue_login_deadline(&client->login) == 0);
    ue_login_tick(&client->login, stage.now_ns);
    assert_true(ue_conn_next_datagram(client->conn, &bytes));
    assert_true(ue_login_deadline(&client->login) == UINT64_MAX);
    assert_true(ue_login_deadline(&server->login) == UINT64_MAX);
    end_stage();
    begin(&config, &client_config, &server_config);
    ue_conn_close(client->conn, stage.now_ns, UE_CLOSE_DISCONNECT);
    assert_true(ue_login_deadline(&client->login) == UINT64_MAX);
    end_stage();
}

/* The client's first reliable bunch is R4 in packet 1027 with Ack 512; its Login leaves from inside the handler,
   so its header does not acknowledge the Challenge's packet yet; Netspeed 100000 is R6, in a later packet that
   acknowledges Welcome's. */
static void answers_leave_before_their_question_is_acknowledged(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("4.26");
    begin(&config, &client_config, &server_config);
    tick(10);
    const struct seen *hello = find_seen(UE_ROLE_CLIENT, UE_MESSAGE_HELLO);
    const struct seen *challenge = find_seen(UE_ROLE_SERVER, UE_MESSAGE_CHALLENGE);
    const struct seen *login = find_seen(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN);
    const struct seen *welcome = find_seen(UE_ROLE_SERVER, UE_MESSAGE_WELCOME);
    const struct seen *speed = find_seen(UE_ROLE_CLIENT, UE_MESSAGE_NETSPEED);
    assert_int_equal(hello->seq, 1027);
    assert_int_equal(hello->ack, 512);
    assert_int_equal(hello->ch_seq, 4);
    assert_int_equal(challenge->ch_seq, 514);
    assert_string_equal(challenge->text, "02FAF080"); /* 5 s in units of 100 ns */
    assert_int_equal(challenge->ack, hello->seq - 1);
    assert_int_equal(login->ch_seq, 5);
    assert_int_equal(login->ack, challenge->seq - 1);
    assert_int_equal(welcome->ack, login->seq - 1);
    assert_int_equal(speed->ch_seq, 6);
    assert_int_equal(speed->number, 100000);
    assert_true(is_within(speed->ack, welcome->seq, welcome->seq + 1)); /* the end of the tick sent one more packet */
    end_stage();
}

static void the_map_takes_its_time(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("5.4");
    struct ue_login_config slow = client_config;
    slow.load_ns = 30 * TICK_NS;
    begin(&config, &slow, &server_config);
    tick(10);
    assert_int_equal(client->login.state, UE_LOGIN_WELCOMED);
    assert_int_equal(server->login.state, UE_LOGIN_WELCOMED);
    assert_false(server->conn->is_admitted);
    assert_true(ue_login_deadline(&client->login) == client->login.welcomed_ns + 30 * TICK_NS);
    tick(40);
    assert_int_equal(server->login.state, UE_LOGIN_DONE);
    assert_true(server->conn->is_admitted);
    end_stage();
}

static void names_beyond_ascii_arrive(void **state) {
    (void)state;
    static const char name[] = "Zo\xc3\xab \xe6\x9d\xb1 \xf0\x9f\x99\x82";
    struct ue_conn_config config = conn_config("5.1");
    struct ue_login_config wide = client_config;
    wide.player = name;
    wide.url = NULL;
    wide.unique_id = NULL;
    begin(&config, &wide, &server_config);
    tick(10);
    char expected[64] = "?Name=";
    assert_string_equal(server->login.url, strcat(expected, name));
    assert_string_equal(server->login.unique_id, "");
    end_stage();
}

/* What was captured is said again, whatever the other members are. */
static void whole_messages_are_said_as_they_are(void **state) {
    (void)state;
    uint8_t units[4][64];
    struct ue_conn_config config = conn_config("5.1");
    struct ue_login_config recorded = client_config;
    const struct ue_message hello = {.type = UE_MESSAGE_HELLO,
                                     .param_count = UE_HELLO_ENCRYPTION_TOKEN + 1,
                                     .params = {{.number = 1}, {.number = 42}}};
    const struct ue_message said = {.type = UE_MESSAGE_LOGIN,
                                    .param_count = UE_LOGIN_PLATFORM + 1,
                                    .params = {{.text = ue_text_from_utf8("7", units[0])},
                                               {.text = ue_text_from_utf8("?Name=Eve", units[1])},
                                               {0},
                                               {.text = ue_text_from_utf8("STEAM", units[2])}},
                                    .unique_id = {.flags = 5u << 3, .text = ue_text_from_utf8("id-9", units[3])}};
    recorded.hello = &hello;
    recorded.login = &said;
    begin(&config, &recorded, &server_config);
    tick(10);
    assert_int_equal(server->login.state, UE_LOGIN_DONE);
    assert_string_equal(server->login.url, "?Name=Eve");
    assert_string_equal(server->login.unique_id, "id-9");
    assert_string_equal(server->login.platform, "STEAM");
    assert_string_equal(find_seen(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN)->text, "7");
    end_stage();
}

static void whoever_says_nothing_is_nobody(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("5.1");
    struct ue_login_config silent = {.unique_id = ""};
    begin(&config, &silent, &(struct ue_login_config){0});
    tick(10);
    assert_int_equal(server->login.state, UE_LOGIN_DONE);
    assert_string_equal(server->login.url, "");
    assert_string_equal(server->login.unique_id, "");
    assert_string_equal(server->login.platform, "");
    assert_string_equal(client->login.map, "");
    end_stage();
}

static void a_program_may_decide(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("5.4");
    struct ue_login_config asks = server_config;
    asks.decides = true;
    begin(&config, &client_config, &asks);
    tick(10);
    assert_int_equal(server->login.state, UE_LOGIN_ASKED);
    assert_int_equal(client->login.state, UE_LOGIN_ASKED);
    ue_login_welcome(&server->login, stage.now_ns);
    tick(5);
    assert_int_equal(server->login.state, UE_LOGIN_DONE);
    end_stage();

    begin(&config, &client_config, &asks);
    tick(10);
    ue_login_refuse(&server->login, stage.now_ns, "Server full.");
    assert_closed(server, UE_CLOSE_PRE_LOGIN_FAILURE);
    tick(5);
    assert_int_equal(client->login.state, UE_LOGIN_FAILED);
    assert_string_equal(client->login.failure, "Server full.");
    assert_closed(client, UE_CLOSE_FAILURE_RECEIVED);
    end_stage();

    char text[UE_LOGIN_TEXT_BYTES + 10] = {0};
    memset(text, 'x', sizeof text - 1);
    begin(&config, &client_config, &asks);
    tick(10);
    ue_login_refuse(&server->login, stage.now_ns, text);
    tick(5);
    assert_int_equal(strlen(client->login.failure), UE_LOGIN_TEXT_BYTES - 1);
    end_stage();
}

static void texts_that_fit_no_message_are_refused(void **state) {
    (void)state;
    static char longest[UE_LOGIN_TEXT_BYTES + 1];
    struct ue_conn_config config = conn_config("5.4");
    begin(&config, NULL, NULL);
    memset(longest, 'x', UE_LOGIN_TEXT_BYTES);
    struct ue_login_config bad = {.player = longest};
    assert_int_equal(ue_login_init(&client->login, client->conn, &bad), UE_E_LENGTH);
    longest[UE_LOGIN_TEXT_BYTES - 1] = 0;
    assert_int_equal(ue_login_init(&client->login, client->conn, &bad), UE_OK);
    end_stage();
}

/* ---- versions and keys ---- */

static void other_versions_are_sent_away(void **state) {
    (void)state;
    struct ue_conn_config config = conn_config("5.4");
    for (int by_features = 0; by_features < 2; by_features++) {
        begin(&config, &client_config, &server_config);
        server->conn->config.network_version += !by_features;
        server->conn->config.network_features = by_features ? 2 : 1;
        client->conn->config.network_features = 1;
        tick(5);
        assert_closed(server, UE_CLOSE_OUTDATED_CLIENT);
        assert_closed(client, UE_CLOSE_UPGRADE);
        assert_int_equal(client->login.state, UE_LOGIN_FAILED);
        assert_int_equal(client->login.peer_version, by_features ? 42 : 43);
        assert_int_equal(client->login.peer_features, by_features ? 2 : 1);
        assert_int_equal(server->login.peer_version, 42);
        assert_int_equal(server->login.peer_features, 1);
        end_stage();
    }
}

static struct ue_conn_config sealed_config(void) {
    static const uint8_t key[UE_KEY_BYTES] = {9};
    struct ue_conn_config config = conn_config("5.1");
    config.settings.handlers[0] = UE_HANDLER_AESGCM;
    config.key = key;
    return config;
}

static void a_token_turns_encryption_on(void **state) {
    (void)state;
    struct ue_conn_config config = sealed_config();
    struct ue_login_config with_token = client_config;
    with_token.encryption_token = "key-1";
    begin(&config, &with_token, &server_config);
    tick(10);
    assert_int_equal(server->login.state, UE_LOGIN_DONE);
    assert_string_equal(server->login.token, "key-1");
    assert_true(client->conn->is_encrypting && server->conn->is_encrypting && stage.encrypts);
    assert_int_equal(count_seen(UE_ROLE_SERVER, UE_MESSAGE_ENCRYPTION_ACK), 1); /* in clear */
    assert_int_equal(count_seen(UE_ROLE_SERVER, UE_MESSAGE_CHALLENGE), 0);
    assert_int_equal(count_seen(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN), 0);
    end_stage();

    begin(&config, &client_config, &server_config);
    tick(10);
    assert_int_equal(server->login.state, UE_LOGIN_DONE);
    assert_false(client->conn->is_encrypting || server->conn->is_encrypting || stage.encrypts);
    end_stage();
}

static void tokens_that_lead_nowhere_fail(void **state) {
    (void)state;
    static const struct {
        const char *said;
        const char *expected;
        bool required;
        bool has_key;
    } cases[] = {{"a", NULL, false, false}, {"a", "b", false, true}, {"", NULL, true, true}, {NULL, "b", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_conn_config config = cases[i].has_key ? sealed_config() : conn_config("5.1");
        struct ue_login_config from = client_config;
        struct ue_login_config to = server_config;
        from.encryption_token = cases[i].said;
        to.encryption_token = cases[i].expected;
        to.encryption_required = cases[i].required;
        begin(&config, &from, &to);
        tick(5);
        assert_closed(server, UE_CLOSE_PRE_LOGIN_FAILURE);
        assert_closed(client, UE_CLOSE_FAILURE_RECEIVED);
        assert_string_equal(client->login.failure, "Encryption failure");
        end_stage();
    }
}

/* ---- beacons ---- */

static void beacons_join_with_and_without_login(void **state) {
    (void)state;
    for (int login = 0; login < 2; login++) {
        struct ue_conn_config config = conn_config("5.1");
        struct ue_login_config host = server_config;
        config.driver = UE_DRIVER_BEACON;
        host.beacon_login = login;
        begin(&config, &client_config, &host);
        tick(10);
        assert_int_equal(client->login.state, UE_LOGIN_DONE);
        assert_int_equal(server->login.state, UE_LOGIN_DONE);
        assert_string_equal(server->login.beacon_type, "TestBeacon");
        assert_string_equal(server->login.unique_id, "id-1");
        assert_int_equal(client->login.peer_guid, 77);
        assert_int_equal(count_seen(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN), login);
        assert_int_equal(ue_conn_state(client->conn), UE_CONN_OPEN);
        const struct seen *welcome = find_seen(UE_ROLE_SERVER, UE_MESSAGE_BEACON_WELCOME);
        const struct seen *join = find_seen(UE_ROLE_CLIENT, UE_MESSAGE_BEACON_JOIN);
        const struct seen *guid = find_seen(UE_ROLE_SERVER, UE_MESSAGE_BEACON_ASSIGN_GUID);
        const struct seen *last = find_seen(UE_ROLE_CLIENT, UE_MESSAGE_BEACON_NET_GUID_ACK);
        assert_int_equal(join->ack, welcome->seq - 1); /* each left from inside the handler */
        assert_int_equal(guid->ack, join->seq - 1);
        assert_int_equal(last->ack, guid->seq - 1);
        end_stage();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_joins_in_every_generation),
        cmocka_unit_test(hello_waits_for_no_tick),
        cmocka_unit_test(answers_leave_before_their_question_is_acknowledged),
        cmocka_unit_test(the_map_takes_its_time),
        cmocka_unit_test(names_beyond_ascii_arrive),
        cmocka_unit_test(whole_messages_are_said_as_they_are),
        cmocka_unit_test(whoever_says_nothing_is_nobody),
        cmocka_unit_test(a_program_may_decide),
        cmocka_unit_test(texts_that_fit_no_message_are_refused),
        cmocka_unit_test(other_versions_are_sent_away),
        cmocka_unit_test(a_token_turns_encryption_on),
        cmocka_unit_test(tokens_that_lead_nowhere_fail),
        cmocka_unit_test(beacons_join_with_and_without_login),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

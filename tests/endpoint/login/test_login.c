/* SPDX-License-Identifier: MIT */
/* Login in both roles over two connections (endpoint.md 6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/endpoint/login/login_fixture.h"
#include "tests/support/within.h"
#include "tools/endpoint/login/login_text.h"

/* ---- login ---- */

static void a_client_joins_in_every_generation(void **state) {
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        const struct ue_profile *profile = ue_profile_at(i);
        struct ue_conn_config config = login_conn_config(profile->name);
        login_fixture_init(&config, &login_client_config, &login_server_config);
        login_tick(10);
        uint32_t player;
        assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
        assert_int_equal(login_client->login.status.state, UE_LOGIN_JOINING);
        assert_int_equal(ue_conn_state(login_client->conn), UE_CONN_PENDING);
        assert_string_equal(login_client->login.status.map, "/Game/Maps/Arena");
        assert_string_equal(login_client->login.status.game, "/Script/Engine.GameMode");
        assert_string_equal(login_server->login.status.url, "?Name=Ada?class=7");
        assert_string_equal(login_server->login.status.unique_id, "id-1");
        assert_string_equal(login_server->login.status.platform, profile->hello >= 1 ? "NULL" : "");
        assert_int_equal(login_server->login.status.peer_version, 42);
        assert_int_equal(ue_conn_open(login_server->conn, UE_KIND_ACTOR, -1, &player), UE_OK);
        struct ue_outgoing actor = {.channel = player, .reliable = true, .data = {(const uint8_t *)"p", 0, 8}};
        assert_int_equal(ue_conn_send(login_server->conn, login_fixture.now_ns, &actor, NULL), UE_OK);
        login_tick(2);
        assert_int_equal(login_client->login.status.state, UE_LOGIN_DONE);
        assert_int_equal(ue_conn_state(login_client->conn), UE_CONN_OPEN);
        login_fixture_free();
    }
}

static void hello_is_due_at_once(void **state) {
    struct ue_conn_config config = login_conn_config("5.4");
    struct ue_bytes bytes;
    login_fixture_init(&config, &login_client_config, &login_server_config);
    assert_true(ue_login_deadline(&login_client->login) == 0);
    ue_login_tick(&login_client->login, login_fixture.now_ns);
    assert_true(ue_conn_next_datagram(login_client->conn, &bytes));
    assert_true(ue_login_deadline(&login_client->login) == UINT64_MAX);
    assert_true(ue_login_deadline(&login_server->login) == UINT64_MAX);
    login_fixture_free();
    login_fixture_init(&config, &login_client_config, &login_server_config);
    ue_conn_close(login_client->conn, login_fixture.now_ns, UE_CLOSE_DISCONNECT);
    assert_true(ue_login_deadline(&login_client->login) == UINT64_MAX);
    login_fixture_free();
}

/* The client's first reliable bunch is R4 in packet 1027 with Ack 512. Its Login is sent from inside the receive hook,
   so its header does not yet acknowledge the packet with the Challenge; Netspeed 100000 is R6, in a later packet that
   acknowledges the one with Welcome. */
static void replies_are_sent_before_the_request_is_acknowledged(void **state) {
    struct ue_conn_config config = login_conn_config("4.26");
    login_fixture_init(&config, &login_client_config, &login_server_config);
    login_tick(10);
    const struct login_message *hello = login_find_message(UE_ROLE_CLIENT, UE_MESSAGE_HELLO);
    const struct login_message *challenge = login_find_message(UE_ROLE_SERVER, UE_MESSAGE_CHALLENGE);
    const struct login_message *login = login_find_message(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN);
    const struct login_message *welcome = login_find_message(UE_ROLE_SERVER, UE_MESSAGE_WELCOME);
    const struct login_message *speed = login_find_message(UE_ROLE_CLIENT, UE_MESSAGE_NETSPEED);
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
    assert_true(is_within(speed->ack, welcome->seq, welcome->seq + 1)); /* the tick sent one more packet */
    login_fixture_free();
}

static void a_client_joins_after_its_load_time(void **state) {
    struct ue_conn_config config = login_conn_config("5.4");
    struct ue_login_config slow = login_client_config;
    slow.load_ns = 30 * TICK_NS;
    login_fixture_init(&config, &slow, &login_server_config);
    login_tick(10);
    assert_int_equal(login_client->login.status.state, UE_LOGIN_WELCOMED);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_WELCOMED);
    assert_false(login_server->conn->common.life.is_admitted);
    assert_true(ue_login_deadline(&login_client->login) == login_client->login.welcomed_ns + 30 * TICK_NS);
    login_tick(40);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
    assert_true(login_server->conn->common.life.is_admitted);
    login_fixture_free();
}

static void player_names_outside_ascii_arrive(void **state) {
    static const char name[] = "Zo\xc3\xab \xe6\x9d\xb1 \xf0\x9f\x99\x82";
    struct ue_conn_config config = login_conn_config("5.1");
    struct ue_login_config wide = login_client_config;
    wide.player = name;
    wide.url = NULL;
    wide.unique_id = NULL;
    login_fixture_init(&config, &wide, &login_server_config);
    login_tick(10);
    char expected[64] = "?Name=";
    assert_string_equal(login_server->login.status.url, strcat(expected, name));
    assert_string_equal(login_server->login.status.unique_id, "");
    login_fixture_free();
}

/* Messages configured as a whole, for example from a capture, are sent as they are, whatever the other members
   contain. */
static void configured_messages_are_sent_unchanged(void **state) {
    uint8_t units[4][64];
    struct ue_conn_config config = login_conn_config("5.1");
    struct ue_login_config configured = login_client_config;
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
    configured.hello = &hello;
    configured.login = &said;
    login_fixture_init(&config, &configured, &login_server_config);
    login_tick(10);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
    assert_string_equal(login_server->login.status.url, "?Name=Eve");
    assert_string_equal(login_server->login.status.unique_id, "id-9");
    assert_string_equal(login_server->login.status.platform, "STEAM");
    assert_string_equal(login_find_message(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN)->text, "7");
    login_fixture_free();
}

static void a_client_without_a_name_joins_with_empty_texts(void **state) {
    struct ue_conn_config config = login_conn_config("5.1");
    struct ue_login_config without_name = {.unique_id = ""};
    login_fixture_init(&config, &without_name, &(struct ue_login_config){0});
    login_tick(10);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
    assert_string_equal(login_server->login.status.url, "");
    assert_string_equal(login_server->login.status.unique_id, "");
    assert_string_equal(login_server->login.status.platform, "");
    assert_string_equal(login_client->login.status.map, "");
    login_fixture_free();
}

static void a_program_may_accept_or_refuse_a_login(void **state) {
    struct ue_conn_config config = login_conn_config("5.4");
    struct ue_login_config deciding = login_server_config;
    deciding.decides = true;
    login_fixture_init(&config, &login_client_config, &deciding);
    login_tick(10);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_ASKED);
    assert_int_equal(login_client->login.status.state, UE_LOGIN_ASKED);
    ue_login_welcome(&login_server->login, login_fixture.now_ns);
    login_tick(5);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
    login_fixture_free();

    login_fixture_init(&config, &login_client_config, &deciding);
    login_tick(10);
    ue_login_refuse(&login_server->login, login_fixture.now_ns, "Server full.");
    login_assert_closed(login_server, UE_CLOSE_PRE_LOGIN_FAILURE);
    login_tick(5);
    assert_int_equal(login_client->login.status.state, UE_LOGIN_FAILED);
    assert_string_equal(login_client->login.status.failure, "Server full.");
    login_assert_closed(login_client, UE_CLOSE_FAILURE_RECEIVED);
    login_fixture_free();

    char text[UE_LOGIN_TEXT_BYTES + 10] = {0};
    memset(text, 'x', sizeof text - 1);
    login_fixture_init(&config, &login_client_config, &deciding);
    login_tick(10);
    ue_login_refuse(&login_server->login, login_fixture.now_ns, text);
    login_tick(5);
    assert_int_equal(strlen(login_client->login.status.failure), UE_LOGIN_TEXT_BYTES - 1);
    login_fixture_free();
}

static void texts_too_long_for_a_message_are_refused(void **state) {
    static char longest[UE_LOGIN_TEXT_BYTES + 1];
    struct ue_conn_config config = login_conn_config("5.4");
    login_fixture_init(&config, NULL, NULL);
    memset(longest, 'x', UE_LOGIN_TEXT_BYTES);
    struct ue_login_config too_long = {.player = longest};
    assert_int_equal(ue_login_init(&login_client->login, login_client->conn, &too_long), UE_E_LENGTH);
    longest[UE_LOGIN_TEXT_BYTES - 1] = 0;
    assert_int_equal(ue_login_init(&login_client->login, login_client->conn, &too_long), UE_OK);
    login_fixture_free();
}

/* The form of BeaconAssignGUID is not known in 5.8; a game, and an older beacon, are. */
static void beacons_of_an_unknown_form_are_refused(void **state) {
    const struct ue_login_config login = {.beacon_type = "PartyBeaconClient"};
    struct ue_server_config server = {.conn = login_conn_config("5.8"), .login = login};
    server.conn.role = UE_ROLE_SERVER;
    struct ue_server *game = ue_server_new(NULL, &server, 1);
    assert_non_null(game);
    ue_server_free(game);
    assert_int_equal(ue_login_check(&server.conn, &login), UE_OK);
    server.conn.driver = UE_DRIVER_BEACON;
    assert_int_equal(ue_login_check(&server.conn, &login), UE_E_CONFLICT);
    assert_null(ue_server_new(NULL, &server, 1));
    struct ue_conn *conn = ue_conn_new(NULL, &server.conn);
    assert_null(ue_login_new(conn, &login));
    ue_conn_free(conn);
    server.conn.profile = ue_profile_find("5.7");
    struct ue_server *beacon = ue_server_new(NULL, &server, 1);
    assert_non_null(beacon);
    ue_server_free(beacon);
}

/* ---- versions and keys ---- */

static void other_versions_and_features_are_refused(void **state) {
    struct ue_conn_config config = login_conn_config("5.4");
    for (int by_features = 0; by_features < 2; by_features++) {
        login_fixture_init(&config, &login_client_config, &login_server_config);
        login_server->conn->common.config.network_version += !by_features;
        login_server->conn->common.config.network_features = by_features ? 2 : 1;
        login_client->conn->common.config.network_features = 1;
        login_tick(5);
        login_assert_closed(login_server, UE_CLOSE_OUTDATED_CLIENT);
        login_assert_closed(login_client, UE_CLOSE_UPGRADE);
        assert_int_equal(login_client->login.status.state, UE_LOGIN_FAILED);
        assert_int_equal(login_client->login.status.peer_version, by_features ? 42 : 43);
        assert_int_equal(login_client->login.status.peer_features, by_features ? 2 : 1);
        assert_int_equal(login_server->login.status.peer_version, 42);
        assert_int_equal(login_server->login.status.peer_features, 1);
        login_fixture_free();
    }
}

static struct ue_conn_config encrypted_config(void) {
    static const uint8_t key[UE_KEY_BYTES] = {9};
    struct ue_conn_config config = login_conn_config("5.1");
    config.settings.handlers[0] = UE_HANDLER_AESGCM;
    config.key = key;
    return config;
}

static void an_encryption_token_enables_encryption(void **state) {
    struct ue_conn_config config = encrypted_config();
    struct ue_login_config with_token = login_client_config;
    with_token.encryption_token = "key-1";
    login_fixture_init(&config, &with_token, &login_server_config);
    login_tick(10);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
    assert_string_equal(login_server->login.status.token, "key-1");
    assert_true(login_client->conn->sender.is_encrypting && login_server->conn->sender.is_encrypting &&
                login_fixture.has_opaque);
    assert_int_equal(login_count_messages(UE_ROLE_SERVER, UE_MESSAGE_ENCRYPTION_ACK), 1); /* sent in clear */
    assert_int_equal(login_count_messages(UE_ROLE_SERVER, UE_MESSAGE_CHALLENGE), 0);
    assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN), 0);
    login_fixture_free();

    login_fixture_init(&config, &login_client_config, &login_server_config);
    login_tick(10);
    assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
    assert_false(login_client->conn->sender.is_encrypting || login_server->conn->sender.is_encrypting ||
                 login_fixture.has_opaque);
    login_fixture_free();
}

static void login_fails_without_the_required_token_or_key(void **state) {
    static const struct {
        const char *said;
        const char *expected;
        bool required;
        bool has_key;
    } cases[] = {{"a", NULL, false, false}, {"a", "b", false, true}, {"", NULL, true, true}, {NULL, "b", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ue_conn_config config = cases[i].has_key ? encrypted_config() : login_conn_config("5.1");
        struct ue_login_config from = login_client_config;
        struct ue_login_config to = login_server_config;
        from.encryption_token = cases[i].said;
        to.encryption_token = cases[i].expected;
        to.encryption_required = cases[i].required;
        login_fixture_init(&config, &from, &to);
        login_tick(5);
        login_assert_closed(login_server, UE_CLOSE_PRE_LOGIN_FAILURE);
        login_assert_closed(login_client, UE_CLOSE_FAILURE_RECEIVED);
        assert_string_equal(login_client->login.status.failure, "Encryption failure");
        login_fixture_free();
    }
}

/* ---- beacons ---- */

static void beacon_clients_join_with_and_without_login(void **state) {
    for (int login = 0; login < 2; login++) {
        struct ue_conn_config config = login_conn_config("5.1");
        struct ue_login_config host = login_server_config;
        config.driver = UE_DRIVER_BEACON;
        host.beacon_login = login;
        login_fixture_init(&config, &login_client_config, &host);
        login_tick(10);
        assert_int_equal(login_client->login.status.state, UE_LOGIN_DONE);
        assert_int_equal(login_server->login.status.state, UE_LOGIN_DONE);
        assert_string_equal(login_server->login.status.beacon_type, "TestBeacon");
        assert_string_equal(login_server->login.status.unique_id, "id-1");
        assert_int_equal(login_client->login.status.peer_guid, 77);
        assert_int_equal(login_count_messages(UE_ROLE_CLIENT, UE_MESSAGE_LOGIN), login);
        assert_int_equal(ue_conn_state(login_client->conn), UE_CONN_OPEN);
        const struct login_message *welcome = login_find_message(UE_ROLE_SERVER, UE_MESSAGE_BEACON_WELCOME);
        const struct login_message *join = login_find_message(UE_ROLE_CLIENT, UE_MESSAGE_BEACON_JOIN);
        const struct login_message *guid = login_find_message(UE_ROLE_SERVER, UE_MESSAGE_BEACON_ASSIGN_GUID);
        const struct login_message *last = login_find_message(UE_ROLE_CLIENT, UE_MESSAGE_BEACON_NET_GUID_ACK);
        assert_int_equal(join->ack, welcome->seq - 1); /* each was sent from inside the receive hook */
        assert_int_equal(guid->ack, join->seq - 1);
        assert_int_equal(last->ack, guid->seq - 1);
        login_fixture_free();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_joins_in_every_generation),
        cmocka_unit_test(hello_is_due_at_once),
        cmocka_unit_test(replies_are_sent_before_the_request_is_acknowledged),
        cmocka_unit_test(a_client_joins_after_its_load_time),
        cmocka_unit_test(player_names_outside_ascii_arrive),
        cmocka_unit_test(configured_messages_are_sent_unchanged),
        cmocka_unit_test(a_client_without_a_name_joins_with_empty_texts),
        cmocka_unit_test(a_program_may_accept_or_refuse_a_login),
        cmocka_unit_test(texts_too_long_for_a_message_are_refused),
        cmocka_unit_test(beacons_of_an_unknown_form_are_refused),
        cmocka_unit_test(other_versions_and_features_are_refused),
        cmocka_unit_test(an_encryption_token_enables_encryption),
        cmocka_unit_test(login_fails_without_the_required_token_or_key),
        cmocka_unit_test(beacon_clients_join_with_and_without_login),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

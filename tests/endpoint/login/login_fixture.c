/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/login/login_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tools/endpoint/login/login_text.h"

struct login_fixture login_fixture;
struct login_side *const login_client = &login_fixture.sides[UE_ROLE_CLIENT];
struct login_side *const login_server = &login_fixture.sides[UE_ROLE_SERVER];

struct ue_conn_config login_conn_config(const char *release) {
    static const uint8_t seed[UE_SEED_BYTES] = {1};
    return (struct ue_conn_config){.profile = ue_profile_find(release), .seed = seed, .network_version = 42};
}

const struct ue_login_config login_client_config = {
    .player = "Ada", .url = "?class=7", .platform = "NULL", .unique_id = "id-1", .beacon_type = "TestBeacon"};
const struct ue_login_config login_server_config = {
    .map = "/Game/Maps/Arena", .game = "/Script/Engine.GameMode", .redirect_url = "", .beacon_guid = 77};

static void init_side(enum ue_role role, struct ue_conn_config config, const struct ue_login_config *login) {
    struct login_side *side = &login_fixture.sides[role];
    config.role = role;
    side->conn = ue_conn_new(&login_fixture.memory.allocator, &config);
    assert_non_null(side->conn);
    if (login != NULL) {
        assert_int_equal(ue_login_init(&side->login, side->conn, login), UE_OK);
    }
    bool is_client = role == UE_ROLE_CLIENT;
    ue_conn_adopt(side->conn, login_fixture.now_ns, is_client ? SERVER_SEQ : CLIENT_SEQ,
                  is_client ? CLIENT_SEQ : SERVER_SEQ);
}

void login_fixture_init(const struct ue_conn_config *config, const struct ue_login_config *client_login,
                        const struct ue_login_config *server_login) {
    memset(&login_fixture, 0, sizeof login_fixture);
    login_fixture.now_ns = UINT64_C(5000000000);
    counting_allocator_init(&login_fixture.memory, SIZE_MAX);
    init_side(UE_ROLE_CLIENT, *config, client_login);
    init_side(UE_ROLE_SERVER, *config, server_login);
}

void login_fixture_free(void) {
    for (size_t i = 0; i < 2; i++) {
        ue_conn_free(login_fixture.sides[i].conn);
    }
    assert_int_equal(login_fixture.memory.used_bytes, 0);
}

static void record_messages(enum ue_role from, const struct ue_context *x, const struct ue_datagram *d,
                            const struct ue_bunch *bunch) {
    for (size_t bit = 0; bunch->channel == 0 && bit < bunch->data.bits;) {
        struct ue_message m;
        struct ue_fault fault;
        if (ue_message_decode(x, bunch->data, &bit, &m, &fault) != UE_OK ||
            login_fixture.message_count == MESSAGES_MAX) {
            return;
        }
        struct login_message *message = &login_fixture.messages[login_fixture.message_count++];
        *message =
            (struct login_message){from, d->packet.seq, d->packet.ack, bunch->ch_seq, m.type, m.params[0].number, ""};
        ue_text_to_utf8(m.params[0].text, message->text, sizeof message->text);
    }
}

static void record_datagram(enum ue_role from, struct ue_bytes bytes) {
    struct ue_item items[16];
    struct ue_datagram d = {.items = items, .item_capacity = 16};
    struct ue_decode_result result;
    const struct ue_context *x = ue_conn_context(login_fixture.sides[from].conn);
    assert_int_equal(ue_datagram_decode(x, bytes.bytes, bytes.size_bytes, &d, NULL, &result), UE_OK);
    login_fixture.has_opaque |= result.is_opaque;
    for (size_t i = 0; i < result.item_count; i++) {
        if (!items[i].is_ack) {
            record_messages(from, x, &d, &items[i].bunch);
        }
    }
}

void login_deliver(enum ue_role from) {
    struct ue_bytes bytes;
    while (ue_conn_next_datagram(login_fixture.sides[from].conn, &bytes)) {
        record_datagram(from, bytes);
        ue_conn_receive(login_fixture.sides[!from].conn, login_fixture.now_ns, bytes.bytes, bytes.size_bytes);
    }
    ue_conn_end_receive(login_fixture.sides[!from].conn, login_fixture.now_ns);
}

void login_tick(unsigned times) {
    for (; times > 0; times--) {
        login_deliver(UE_ROLE_SERVER);
        if (login_client->login.conn != NULL) {
            ue_login_tick(&login_client->login, login_fixture.now_ns);
        }
        ue_conn_tick(login_client->conn, login_fixture.now_ns);
        login_deliver(UE_ROLE_CLIENT);
        ue_conn_tick(login_server->conn, login_fixture.now_ns);
        login_fixture.now_ns += TICK_NS;
    }
}

const struct login_message *login_find_message(enum ue_role from, uint8_t type) {
    for (size_t i = 0; i < login_fixture.message_count; i++) {
        if (login_fixture.messages[i].from == from && login_fixture.messages[i].type == type) {
            return &login_fixture.messages[i];
        }
    }
    fail_msg("message %d was not sent", type);
    return NULL;
}

size_t login_count_messages(enum ue_role from, uint8_t type) {
    size_t count = 0;
    for (size_t i = 0; i < login_fixture.message_count; i++) {
        count += login_fixture.messages[i].from == from && login_fixture.messages[i].type == type;
    }
    return count;
}

void login_send_bytes(enum ue_role from, const void *bytes, size_t size_bytes) {
    struct ue_outgoing bunch = {.reliable = true, .data = {bytes, 0, size_bytes * 8}};
    assert_int_equal(ue_conn_send(login_fixture.sides[from].conn, login_fixture.now_ns, &bunch, NULL), UE_OK);
    ue_conn_flush(login_fixture.sides[from].conn, login_fixture.now_ns);
}

void login_send_message(enum ue_role from, const struct ue_message *message) {
    assert_int_equal(ue_conn_send_message(login_fixture.sides[from].conn, login_fixture.now_ns, message), UE_OK);
    ue_conn_flush(login_fixture.sides[from].conn, login_fixture.now_ns);
}

struct ue_message login_text_message(uint8_t type, const char *text) {
    struct ue_message m = {.type = type, .param_count = 1};
    m.params[0].text.units = (struct ue_view){(const uint8_t *)text, 0, strlen(text) * 8};
    return m;
}

void login_assert_closed(const struct login_side *side, enum ue_close_reason reason) {
    assert_int_equal(ue_conn_state(side->conn), UE_CONN_CLOSED);
    assert_string_equal(ue_close_reason_name(side->conn->common.life.closed_for), ue_close_reason_name(reason));
}

/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/login_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tools/endpoint/login_text.h"

struct login_stage stage;
struct end *const client = &stage.ends[UE_ROLE_CLIENT];
struct end *const server = &stage.ends[UE_ROLE_SERVER];

struct ue_conn_config conn_config(const char *release) {
    static const uint8_t seed[UE_SEED_BYTES] = {1};
    return (struct ue_conn_config){.profile = ue_profile_find(release), .seed = seed, .network_version = 42};
}

const struct ue_login_config client_config = {
    .player = "Ada", .url = "?class=7", .platform = "NULL", .unique_id = "id-1", .beacon_type = "TestBeacon"};
const struct ue_login_config server_config = {
    .map = "/Game/Maps/Arena", .game = "/Script/Engine.GameMode", .redirect_url = "", .beacon_guid = 77};

static void begin_end(enum ue_role role, struct ue_conn_config config, const struct ue_login_config *login) {
    struct end *end = &stage.ends[role];
    config.role = role;
    end->conn = ue_conn_new(stage.pool, &config);
    assert_non_null(end->conn);
    if (login != NULL) {
        assert_int_equal(ue_login_init(&end->login, end->conn, login), UE_OK);
    }
    bool is_client = role == UE_ROLE_CLIENT;
    ue_conn_adopt(end->conn, stage.now_ns, is_client ? SERVER_SEQ : CLIENT_SEQ, is_client ? CLIENT_SEQ : SERVER_SEQ);
}

void begin(const struct ue_conn_config *config, const struct ue_login_config *of_client,
           const struct ue_login_config *of_server) {
    memset(&stage, 0, sizeof stage);
    stage.now_ns = UINT64_C(5000000000);
    stage.pool = ue_pool_init(stage.region, sizeof stage.region);
    begin_end(UE_ROLE_CLIENT, *config, of_client);
    begin_end(UE_ROLE_SERVER, *config, of_server);
}

void end_stage(void) {
    for (size_t i = 0; i < 2; i++) {
        ue_conn_free(stage.ends[i].conn);
    }
    assert_int_equal(ue_pool_used_bytes(stage.pool), 0);
}

static void note_bunch(enum ue_role from, const struct ue_context *x, const struct ue_datagram *d,
                       const struct ue_bunch *bunch) {
    for (size_t bit = 0; bunch->channel == 0 && bit < bunch->data.bits;) {
        struct ue_message m;
        struct ue_fault fault;
        if (ue_message_decode(x, bunch->data, &bit, &m, &fault) != UE_OK || stage.seen_count == MESSAGES_MAX) {
            return;
        }
        struct seen *seen = &stage.seen[stage.seen_count++];
        *seen = (struct seen){from, d->packet.seq, d->packet.ack, bunch->ch_seq, m.type, m.params[0].number, ""};
        ue_text_to_utf8(m.params[0].text, seen->text, sizeof seen->text);
    }
}

static void note_datagram(enum ue_role from, struct ue_bytes bytes) {
    struct ue_item items[16];
    struct ue_datagram d = {.items = items, .item_capacity = 16};
    struct ue_decode_result verdict;
    const struct ue_context *x = ue_conn_context(stage.ends[from].conn);
    assert_int_equal(ue_datagram_decode(x, bytes.bytes, bytes.size_bytes, &d, &verdict), UE_OK);
    stage.encrypts |= verdict.is_opaque;
    for (size_t i = 0; i < verdict.item_count; i++) {
        if (!items[i].is_ack) {
            note_bunch(from, x, &d, &items[i].bunch);
        }
    }
}

void carry(enum ue_role from) {
    struct ue_bytes bytes;
    while (ue_conn_next_datagram(stage.ends[from].conn, &bytes)) {
        note_datagram(from, bytes);
        ue_conn_receive(stage.ends[!from].conn, stage.now_ns, bytes.bytes, bytes.size_bytes);
    }
    ue_conn_end_receive(stage.ends[!from].conn, stage.now_ns);
}

void tick(unsigned times) {
    for (; times > 0; times--) {
        carry(UE_ROLE_SERVER);
        if (client->login.conn != NULL) {
            ue_login_tick(&client->login, stage.now_ns);
        }
        ue_conn_tick(client->conn, stage.now_ns);
        carry(UE_ROLE_CLIENT);
        ue_conn_tick(server->conn, stage.now_ns);
        stage.now_ns += TICK_NS;
    }
}

const struct seen *find_seen(enum ue_role from, uint8_t type) {
    for (size_t i = 0; i < stage.seen_count; i++) {
        if (stage.seen[i].from == from && stage.seen[i].type == type) {
            return &stage.seen[i];
        }
    }
    fail_msg("message %d did not travel", type);
    return NULL;
}

size_t count_seen(enum ue_role from, uint8_t type) {
    size_t count = 0;
    for (size_t i = 0; i < stage.seen_count; i++) {
        count += stage.seen[i].from == from && stage.seen[i].type == type;
    }
    return count;
}

void send_raw(enum ue_role from, const void *bytes, size_t size_bytes) {
    struct ue_outgoing bunch = {.reliable = true, .data = {bytes, 0, size_bytes * 8}};
    assert_int_equal(ue_conn_send(stage.ends[from].conn, stage.now_ns, &bunch, NULL), UE_OK);
    ue_conn_flush(stage.ends[from].conn, stage.now_ns);
}

void send_message(enum ue_role from, const struct ue_message *message) {
    assert_int_equal(ue_control_send(stage.ends[from].conn, stage.now_ns, message), UE_OK);
    ue_conn_flush(stage.ends[from].conn, stage.now_ns);
}

struct ue_message text_message(uint8_t type, const char *text) {
    struct ue_message m = {.type = type, .param_count = 1};
    m.params[0].text.units = (struct ue_view){(const uint8_t *)text, 0, strlen(text) * 8};
    return m;
}

void assert_closed(const struct end *end, enum ue_close_reason reason) {
    assert_int_equal(ue_conn_state(end->conn), UE_CONN_CLOSED);
    assert_string_equal(ue_close_reason_name(end->conn->closed_for), ue_close_reason_name(reason));
}

/* SPDX-License-Identifier: MIT */
/* What a program that embeds the endpoint uses, by installed headers only (embedding.md): peers without a login,
   names, handshake versions of the configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/server.h>

#define TICK_NS UINT64_C(33333333)
#define SIDES 2

static const struct ue_host client_address = {.size_bytes = 14, .text = "127.0.0.1:9999"};

static struct {
    struct ue_listener *listener;
    struct ue_conn *conns[SIDES]; /* by enum ue_role */
    uint64_t now_ns;
    struct ue_accepted accepted;
    char received[SIDES][64]; /* by receiver, since the last check */
} peers;

static void init_peers(const char *release, uint8_t max_client_version) {
    static const uint8_t seed[UE_SEED_BYTES] = {1};
    struct ue_conn_config config = {.profile = ue_profile_find(release), .seed = seed, .no_login = true};
    const struct ue_listener_config listener = {.profile = config.profile, .seed = seed};
    memset(&peers, 0, sizeof peers);
    peers.now_ns = UINT64_C(5000000000);
    peers.listener = ue_listener_new(NULL, &listener, peers.now_ns);
    assert_non_null(peers.listener);
    for (int role = 0; role < SIDES; role++) {
        config.role = (enum ue_role)role;
        config.max_handshake_version = role == UE_ROLE_CLIENT ? max_client_version : 0;
        peers.conns[role] = ue_conn_new(NULL, &config);
        assert_non_null(peers.conns[role]);
    }
}

static void free_peers(void) {
    ue_listener_free(peers.listener);
    ue_conn_free(peers.conns[0]);
    ue_conn_free(peers.conns[1]);
}

/* A datagram of the client: the listener accepts it, then the connection receives what follows. */
static void receive_at_server(const struct ue_bytes *datagram) {
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    size_t reply_bytes = 0;
    if (ue_conn_state(peers.conns[UE_ROLE_SERVER]) != UE_CONN_INVALID) {
        ue_conn_receive(peers.conns[UE_ROLE_SERVER], peers.now_ns, datagram->bytes, datagram->size_bytes);
        return;
    }
    enum ue_listener_result result =
        ue_listener_receive(peers.listener, peers.now_ns, &client_address, true, datagram->bytes, datagram->size_bytes,
                            reply, &reply_bytes, &peers.accepted);
    if (result == UE_LISTENER_ACCEPT) {
        ue_conn_accept(peers.conns[UE_ROLE_SERVER], peers.now_ns, &peers.accepted);
    }
    peers.now_ns += 1000000; /* the cookies of 4.13 are not accepted at the time of their creation */
    if (reply_bytes != 0) {
        ue_conn_receive(peers.conns[UE_ROLE_CLIENT], peers.now_ns, reply, reply_bytes);
    }
}

static void read_events(int role) {
    struct ue_event event;
    while (ue_conn_next_event(peers.conns[role], &event)) {
        assert_int_not_equal(event.type, UE_EVENT_FAULT);
        size_t length = strlen(peers.received[role]);
        if (event.type == UE_EVENT_BUNCH && event.data.bits != 0) {
            assert_true(length + event.data.bits / 8 < sizeof peers.received[role]);
            ue_view_copy(event.data, (uint8_t *)peers.received[role] + length);
        }
    }
}

static void run_peers(unsigned ticks) {
    struct ue_bytes datagram;
    for (; ticks > 0; ticks--) {
        while (ue_conn_next_datagram(peers.conns[UE_ROLE_CLIENT], &datagram)) {
            receive_at_server(&datagram);
        }
        while (ue_conn_next_datagram(peers.conns[UE_ROLE_SERVER], &datagram)) {
            ue_conn_receive(peers.conns[UE_ROLE_CLIENT], peers.now_ns, datagram.bytes, datagram.size_bytes);
        }
        for (int role = 0; role < SIDES; role++) {
            ue_conn_end_receive(peers.conns[role], peers.now_ns);
            read_events(role);
            ue_conn_tick(peers.conns[role], peers.now_ns);
        }
        peers.now_ns += TICK_NS;
    }
}

static void send_text(enum ue_role from, uint32_t channel, const char *text) {
    const struct ue_outgoing bunch = {
        .channel = channel, .reliable = true, .data = {(const uint8_t *)text, 0, strlen(text) * 8}};
    assert_int_equal(ue_conn_send(peers.conns[from], peers.now_ns, &bunch, NULL), UE_OK);
}

static void assert_received(enum ue_role role, const char *text) {
    assert_string_equal(peers.received[role], text);
    memset(peers.received[role], 0, sizeof peers.received[role]);
}

/* Either side opens a channel, of whatever kind, and both use both; the close ends both connections. */
static void talk(void) {
    uint32_t opened;
    for (int role = 0; role < SIDES; role++) {
        assert_int_equal(ue_conn_state(peers.conns[role]), UE_CONN_OPEN);
    }
    assert_int_equal(ue_conn_open(peers.conns[UE_ROLE_CLIENT], UE_KIND_ACTOR, 3, &opened), UE_OK);
    assert_int_equal(ue_conn_open(peers.conns[UE_ROLE_SERVER], UE_KIND_ACTOR, 4, &opened), UE_OK);
    send_text(UE_ROLE_CLIENT, 3, "a");
    send_text(UE_ROLE_SERVER, 4, "b");
    run_peers(3);
    assert_received(UE_ROLE_SERVER, "a");
    assert_received(UE_ROLE_CLIENT, "b");
    send_text(UE_ROLE_CLIENT, 4, "c");
    send_text(UE_ROLE_SERVER, 3, "d");
    run_peers(3);
    assert_received(UE_ROLE_SERVER, "c");
    assert_received(UE_ROLE_CLIENT, "d");
    ue_conn_close(peers.conns[UE_ROLE_SERVER], peers.now_ns, UE_CLOSE_DISCONNECT);
    run_peers(3);
    for (int role = 0; role < SIDES; role++) {
        assert_int_equal(ue_conn_state(peers.conns[role]), UE_CONN_CLOSED);
    }
}

static void peers_without_login_shake_hands_and_talk(void **state) {
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        init_peers(ue_profile_at(i)->name, 0);
        ue_conn_connect(peers.conns[UE_ROLE_CLIENT], peers.now_ns);
        run_peers(8);
        talk();
        free_peers();
    }
}

static void peers_without_login_and_handshake_talk(void **state) {
    for (size_t i = 0; i < UE_PROFILE_COUNT; i++) {
        init_peers(ue_profile_at(i)->name, 0);
        ue_conn_adopt(peers.conns[UE_ROLE_CLIENT], peers.now_ns, 500, 100);
        ue_conn_adopt(peers.conns[UE_ROLE_SERVER], peers.now_ns, 100, 500);
        run_peers(2);
        talk();
        free_peers();
    }
}

/* The newest version of the generation unless the configuration says otherwise. */
static void the_configuration_has_the_handshake_versions(void **state) {
    static const struct {
        char release[8];
        uint8_t max;
        uint8_t spoken;
    } rows[] = {{"5.1", 0, 3}, {"5.5", 0, 4}, {"5.5", 3, 3}, {"5.8", 0, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        init_peers(rows[i].release, rows[i].max);
        ue_conn_connect(peers.conns[UE_ROLE_CLIENT], peers.now_ns);
        run_peers(8);
        assert_int_equal(peers.accepted.version, rows[i].spoken);
        talk();
        free_peers();
    }
}

/* ---- names ---- */

static const char *state_name(int value) {
    return ue_conn_state_name((enum ue_conn_state)value);
}

static const char *event_name(int value) {
    return ue_event_name((enum ue_event_type)value);
}

static const char *kind_name(int value) {
    return ue_channel_kind_name((enum ue_channel_kind)value);
}

static const char *login_name(int value) {
    return ue_login_state_name((enum ue_login_state)value);
}

static void every_value_has_a_name_of_its_own(void **state) {
    static const struct {
        const char *(*name)(int value);
        int last;
    } tables[] = {{state_name, UE_CONN_CLOSED},
                  {event_name, UE_EVENT_FAULT},
                  {kind_name, UE_KIND_OTHER},
                  {login_name, UE_LOGIN_FAILED}};
    for (size_t table = 0; table < sizeof tables / sizeof *tables; table++) {
        for (int value = 0; value <= tables[table].last; value++) {
            assert_non_null(tables[table].name(value));
            for (int other = 0; other < value; other++) {
                assert_string_not_equal(tables[table].name(value), tables[table].name(other));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_without_login_shake_hands_and_talk),
        cmocka_unit_test(peers_without_login_and_handshake_talk),
        cmocka_unit_test(the_configuration_has_the_handshake_versions),
        cmocka_unit_test(every_value_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

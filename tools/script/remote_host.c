/* SPDX-License-Identifier: MIT */
#include "tools/script/remote_host.h"

#include <string.h>

#include <uerudp/inspect.h>
#include <uerudp/server.h>
#include <uerudp/time_ns.h>
#include "tools/cli/command_line.h"
#include "tools/cli/progress_line.h"
#include "tools/cli/wire_options.h"
#include "tools/live/endpoint_options.h"
#include "tools/net/event_loop.h"

#define HANDSHAKE_NS UINT64_C(5000000000) /* longest handshake */
#define REFUSED_NS UINT64_C(1000000000)   /* how long it is tried while the host reports that no program listens */
#define PATIENCE_NS UINT64_C(60000000000) /* longest wait for a client */
#define STEP_NS UINT64_C(10000000)
#define DATAGRAM_BYTES 65536

struct script_remote_host {
    struct net_socket *socket;
    struct script_testbed *testbed;
    struct ue_conn *conn;          /* of the endpoint here */
    unsigned side;                 /* of the remote one */
    struct progress_line progress; /* of the handshake */
    bool is_shaking;
    bool is_unreachable;          /* the host reported that no program listens */
    struct ue_listener *listener; /* server: until a client was accepted */
    struct net_address client;    /* server: its address */
    uint8_t bytes[DATAGRAM_BYTES];
};

/* ---- datagrams ---- */

static void send_bytes(void *user, const uint8_t *bytes, size_t size_bytes) {
    struct script_remote_host *r = user;
    net_socket_send(r->socket, &r->client, bytes, size_bytes);
}

static void send_all(struct script_remote_host *r) {
    struct ue_bytes datagram;
    while (ue_conn_next_datagram(r->conn, &datagram)) {
        send_bytes(r, datagram.bytes, datagram.size_bytes);
    }
}

/* A datagram of an address that was not accepted yet. */
static void handle_unknown_datagram(struct script_remote_host *r, const struct net_address *from, size_t size_bytes) {
    struct ue_host address;
    struct ue_accepted accepted;
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    size_t reply_bytes = 0;
    char text[NET_ADDRESS_TEXT_BYTES];
    net_address_format(from, text);
    address.size_bytes = (uint8_t)strnlen(text, sizeof address.text);
    memcpy(address.text, text, address.size_bytes);
    enum ue_listener_result result = ue_listener_receive(r->listener, r->testbed->now_ns, &address, false, r->bytes,
                                                         size_bytes, reply, &reply_bytes, &accepted);
    if (result != UE_LISTENER_NOTHING && reply_bytes != 0) {
        net_socket_send(r->socket, from, reply, reply_bytes);
    }
    if (result == UE_LISTENER_ACCEPT && !accepted.restarted) {
        ue_conn_accept(r->conn, r->testbed->now_ns, &accepted);
        r->client = *from;
        r->is_shaking = false;
    }
}

static void receive_datagram(struct script_remote_host *r, const struct net_address *from, size_t size_bytes) {
    bool is_stranger = r->side == 0 && !r->is_shaking && !net_address_equal(from, &r->client);
    if (is_stranger) {
        return;
    }
    if (!r->is_shaking) {
        script_testbed_receive_remote(r->testbed, r->side, r->bytes, size_bytes);
    } else if (r->side == 0) {
        handle_unknown_datagram(r, from, size_bytes);
    } else {
        ue_conn_receive(r->conn, r->testbed->now_ns, r->bytes, size_bytes);
    }
}

/* Handles everything that waits. False: nothing did. */
static bool drain(struct script_remote_host *r) {
    struct net_address from;
    size_t size_bytes;
    bool has_received = false;
    enum net_socket_result result = NET_SOCKET_DONE;
    while (result == NET_SOCKET_DONE && !script_testbed_is_exhausted(r->testbed)) {
        result = net_socket_receive(r->socket, &from, r->bytes, DATAGRAM_BYTES, &size_bytes);
        r->testbed->now_ns = event_loop_now_ns();
        r->is_unreachable |= result == NET_SOCKET_UNREACHABLE;
        if (result == NET_SOCKET_DONE) {
            has_received = true;
            receive_datagram(r, &from, size_bytes);
        }
    }
    return has_received;
}

static void wait_until(void *user, uint64_t until_ns, bool is_eager) {
    struct script_remote_host *r = user;
    bool is_over = false;
    while (!is_over) {
        bool has_received = drain(r);
        uint64_t now_ns = r->testbed->now_ns = event_loop_now_ns();
        is_over = now_ns >= until_ns || (is_eager && has_received) || script_testbed_is_exhausted(r->testbed);
        if (!is_over) {
            gint64 wait_us = (gint64)((until_ns - now_ns) / UE_NS_PER_US + 1);
            g_socket_condition_timed_wait(net_socket_gio(r->socket), G_IO_IN, wait_us, NULL, NULL);
        }
    }
}

/* ---- handshake ---- */

static void wait_for_handshake(struct script_remote_host *r, const char *whom, const char *where) {
    if (progress_line_is_due(&r->progress)) {
        char *text = g_strdup_printf("waiting for %s %s", whom, where);
        progress_line_show_text(&r->progress, text);
        g_free(text);
    }
    wait_until(r, r->testbed->now_ns + STEP_NS, true);
}

static bool handshake_as_client(struct script_remote_host *r, const char *host, char **problem) {
    struct script_testbed *testbed = r->testbed;
    uint64_t begun_ns = testbed->now_ns = event_loop_now_ns();
    ue_conn_connect(r->conn, begun_ns);
    while (ue_conn_state(r->conn) == UE_CONN_HANDSHAKE &&
           testbed->now_ns - begun_ns < (r->is_unreachable ? REFUSED_NS : HANDSHAKE_NS)) {
        send_all(r);
        wait_for_handshake(r, "the server at", host);
        ue_conn_tick(r->conn, testbed->now_ns);
    }
    send_all(r); /* up to 4.17 the client sends last */
    r->is_shaking = false;
    if (ue_conn_state(r->conn) == UE_CONN_PENDING) {
        return true;
    }
    *problem =
        g_strdup_printf("no handshake with %s%s", host,
                        r->is_unreachable ? ": no program listens there" : " (does it use the same --generation?)");
    return false;
}

static bool handshake_as_server(struct script_remote_host *r, const char *port, char **problem) {
    struct script_testbed *testbed = r->testbed;
    const struct ue_conn_config *own = &testbed->config.ends[1];
    const struct ue_listener_config config = {
        .profile = own->profile,
        .settings = own->settings,
        .seed = own->seed,
        .network_version = own->network_version,
    };
    uint64_t begun_ns = testbed->now_ns = event_loop_now_ns();
    r->listener = ue_listener_new(&testbed->allocator, &config, begun_ns);
    while (r->listener != NULL && r->is_shaking && testbed->now_ns - begun_ns < PATIENCE_NS) {
        wait_for_handshake(r, "a client at port", port);
    }
    g_clear_pointer(&r->listener, ue_listener_free);
    if (r->is_shaking) {
        *problem = g_strdup_printf("no client connected to port %s", port);
    }
    return !r->is_shaking;
}

static uint32_t fact(const struct ue_conn *c, const char *name) {
    int64_t value = 0;
    ue_conn_inspect(c, ue_fact_find(name, strlen(name)), 0, &value);
    return (uint32_t)value;
}

/* From here on the transcript shows the script's numbers instead of those of the handshake. */
static void number(const struct script_remote_host *r) {
    struct script_testbed *testbed = r->testbed;
    uint32_t mask = ue_conn_context(r->conn)->ch_seq_bound - 1;
    uint32_t real[2];
    real[!r->side] = fact(r->conn, "OutPacketId");
    real[r->side] = fact(r->conn, "InPacketId") + 1;
    for (unsigned side = 0; side < 2; side++) {
        testbed->numbers.seq[side] = testbed->config.first[side] - real[side];
        testbed->numbers.ch_seq[side] = (testbed->config.first[side] & mask) - (real[side] & mask);
    }
}

/* ---- start and end ---- */

static bool open_socket(struct script_remote_host *r, const struct script_remote_target *target, char **problem) {
    GError *error = NULL;
    uint64_t port = 0;
    if (target->host != NULL) {
        r->socket = net_socket_connect(target->host, WIRE_OPTIONS_SERVER_PORT, &error);
    } else if (cli_parse_number(target->listen, UINT16_MAX, &port)) {
        r->socket = net_socket_listen(NULL, (uint16_t)port, &error);
    }
    if (r->socket == NULL) {
        *problem = error != NULL ? g_strdup(error->message) : g_strdup_printf("%s is not a port", target->listen);
        g_clear_error(&error);
    }
    return r->socket != NULL;
}

bool script_remote_host_start(struct script_remote_host **remote, struct script_testbed *testbed,
                              const struct script_testbed_config *config, const struct script_remote_target *target,
                              char **problem) {
    script_remote_host_free(*remote);
    struct script_remote_host *r = *remote = g_new0(struct script_remote_host, 1);
    const struct script_testbed_transport transport = {r, send_bytes, wait_until};
    r->testbed = testbed;
    r->side = target->host != NULL ? 1 : 0;
    r->is_shaking = true;
    if (!script_testbed_start_alone(testbed, config, !r->side, &transport)) {
        *problem = g_strdup("no connection can be created with this configuration");
        return false;
    }
    r->conn = testbed->sides[!r->side].conn;
    if (!open_socket(r, target, problem)) {
        return false;
    }
    progress_line_begin(&r->progress);
    bool good = target->host != NULL ? handshake_as_client(r, target->host, problem)
                                     : handshake_as_server(r, target->listen, problem);
    progress_line_erase(&r->progress);
    if (good) {
        number(r);
        testbed->zero_ns = testbed->now_ns;
    }
    return good;
}

void script_remote_host_close(struct script_remote_host *r, struct script_testbed *testbed) {
    struct ue_conn *conn = testbed->sides[!r->side].conn;
    if (r->socket != NULL && conn != NULL && !r->is_shaking && ue_conn_state(conn) != UE_CONN_CLOSED) {
        ue_conn_close(conn, event_loop_now_ns(), UE_CLOSE_DISCONNECT);
        send_all(r);
    }
}

void script_remote_host_free(struct script_remote_host *r) {
    if (r != NULL && r->socket != NULL) {
        net_socket_free(r->socket);
    }
    g_free(r);
}

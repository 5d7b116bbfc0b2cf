/* SPDX-License-Identifier: MIT */
#include "tools/live/client.h"

#include "tools/cli/command_line.h"

/* leaves time for ticks during a flood */
#define DATAGRAMS_PER_CALL 1024

static void on_sent(void *user, const struct net_address *to, enum net_socket_result result) {
    struct live_client *client = user;
    (void)to;
    live_error_timer_update(&client->sending, g_get_monotonic_time() * UINT64_C(1000), result);
}

bool live_client_init(struct live_client *client, struct live_transport *transport, const struct live_options *options,
                      const struct ue_login_config *login, uint64_t now_ns) {
    struct ue_conn_config config = {.role = UE_ROLE_CLIENT};
    *client = (struct live_client){.transport = transport};
    live_options_configure(options, &config);
    client->conn = ue_conn_new(NULL, &config);
    if (client->conn == NULL) {
        cli_error("no connection can be created with these settings");
        live_client_clear(client);
        return false;
    }
    client->login = options->no_login ? NULL : ue_login_new(client->conn, login);
    if (!options->no_login && client->login == NULL) {
        cli_error(ue_login_check(&config, login) == UE_E_LENGTH ? "a name or URL is too long"
                                                                : "no login can be created with these settings");
        live_client_clear(client);
        return false;
    }
    live_transport_set_sent_callback(transport, on_sent, client);
    ue_conn_connect(client->conn, now_ns);
    live_client_send(client, now_ns);
    return true;
}

void live_client_clear(struct live_client *client) {
    if (client->conn != NULL) {
        live_transport_set_sent_callback(client->transport, NULL, NULL);
        ue_login_free(client->login);
        ue_conn_free(client->conn);
    }
    client->conn = NULL;
}

void live_client_receive(struct live_client *client, uint64_t now_ns, void (*handle)(void *user), void *user) {
    struct net_address from;
    uint8_t bytes[LIVE_TRANSPORT_DATAGRAM_BYTES];
    size_t size_bytes;
    enum net_socket_result result = NET_SOCKET_DONE;
    for (size_t i = 0; i < DATAGRAMS_PER_CALL && result != NET_SOCKET_WOULD_BLOCK; i++) {
        result = live_transport_receive(client->transport, &from, bytes, &size_bytes);
        live_error_timer_update(&client->receiving, now_ns, result);
        if (result == NET_SOCKET_DONE) {
            ue_conn_receive(client->conn, now_ns, bytes, size_bytes);
            handle(user);
            live_client_send(client, now_ns);
        }
    }
}

void live_client_send(struct live_client *client, uint64_t now_ns) {
    struct ue_bytes datagram;
    while (ue_conn_next_datagram(client->conn, &datagram)) {
        live_transport_send(client->transport, now_ns, net_socket_peer(live_transport_socket(client->transport)),
                            datagram.bytes, datagram.size_bytes);
    }
}

/* Only errors that last close a connection (endpoint.md 33.2). */
static void check_socket(struct live_client *client, uint64_t now_ns) {
    if (ue_conn_state(client->conn) == UE_CONN_CLOSED) {
        return;
    }
    if (live_error_timer_is_expired(&client->receiving, now_ns)) {
        ue_conn_close(client->conn, now_ns, UE_CLOSE_SOCKET_RECV_FAILURE);
    } else if (live_error_timer_is_expired(&client->sending, now_ns)) {
        ue_conn_close(client->conn, now_ns, UE_CLOSE_SOCKET_SEND_FAILURE);
    }
}

void live_client_tick(struct live_client *client, uint64_t now_ns) {
    check_socket(client, now_ns);
    if (client->login != NULL) {
        ue_login_tick(client->login, now_ns);
    }
    ue_conn_tick(client->conn, now_ns);
    live_client_send(client, now_ns);
}

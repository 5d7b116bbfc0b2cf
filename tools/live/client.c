/* SPDX-License-Identifier: MIT */
#include "tools/live/client.h"

#include "tools/cli/command_line.h"

/* A flood leaves time for the ticks. */
#define DATAGRAMS_PER_CALL 1024

static void note_sent(void *user, const struct ue_net_address *to, enum ue_socket_result result) {
    struct ue_client *client = user;
    (void)to;
    ue_grace_note(&client->sending, g_get_monotonic_time() * UINT64_C(1000), result);
}

bool ue_client_init(struct ue_client *client, struct ue_port *port, const struct ue_live_options *options,
                    const struct ue_login_config *login, uint64_t now_ns) {
    struct ue_conn_config config = {.role = UE_ROLE_CLIENT};
    *client = (struct ue_client){
        .port = port, .region = g_malloc(UE_CLIENT_MEMORY_BYTES), .no_login = options->no_login != FALSE};
    ue_live_options_configure(options, &config);
    client->conn = ue_conn_new(ue_pool_init(client->region, UE_CLIENT_MEMORY_BYTES), &config);
    if (client->conn == NULL) {
        ue_complain("no connection is possible with these settings");
        ue_client_clear(client);
        return false;
    }
    if (!options->no_login && ue_login_init(&client->login, client->conn, login) != UE_OK) {
        ue_complain("a name or URL is too long");
        ue_client_clear(client);
        return false;
    }
    ue_port_set_sent(port, note_sent, client);
    ue_conn_connect(client->conn, now_ns);
    ue_client_send(client, now_ns);
    return true;
}

void ue_client_clear(struct ue_client *client) {
    if (client->conn != NULL) {
        ue_port_set_sent(client->port, NULL, NULL);
        ue_conn_free(client->conn);
    }
    g_free(client->region);
    client->conn = NULL;
    client->region = NULL;
}

void ue_client_receive(struct ue_client *client, uint64_t now_ns, void (*take)(void *user), void *user) {
    struct ue_net_address from;
    uint8_t bytes[UE_PORT_DATAGRAM_BYTES];
    size_t size_bytes;
    enum ue_socket_result result = UE_SOCKET_DONE;
    for (size_t i = 0; i < DATAGRAMS_PER_CALL && result != UE_SOCKET_WOULD_BLOCK; i++) {
        result = ue_port_receive(client->port, &from, bytes, &size_bytes);
        ue_grace_note(&client->receiving, now_ns, result);
        if (result == UE_SOCKET_DONE) {
            ue_conn_receive(client->conn, now_ns, bytes, size_bytes);
            take(user);
            ue_client_send(client, now_ns);
        }
    }
}

void ue_client_send(struct ue_client *client, uint64_t now_ns) {
    struct ue_bytes datagram;
    while (ue_conn_next_datagram(client->conn, &datagram)) {
        ue_port_send(client->port, now_ns, ue_socket_peer(ue_port_socket(client->port)), datagram.bytes,
                     datagram.size_bytes);
    }
}

/* Only what lasts ends a connection. */
static void check_socket(struct ue_client *client, uint64_t now_ns) {
    if (ue_conn_state(client->conn) == UE_CONN_CLOSED) {
        return;
    }
    if (ue_grace_is_over(&client->receiving, now_ns)) {
        ue_conn_close(client->conn, now_ns, UE_CLOSE_SOCKET_RECV_FAILURE);
    } else if (ue_grace_is_over(&client->sending, now_ns)) {
        ue_conn_close(client->conn, now_ns, UE_CLOSE_SOCKET_SEND_FAILURE);
    }
}

void ue_client_tick(struct ue_client *client, uint64_t now_ns) {
    check_socket(client, now_ns);
    if (!client->no_login) {
        ue_login_tick(&client->login, now_ns);
    }
    ue_conn_tick(client->conn, now_ns);
    ue_client_send(client, now_ns);
}

/* SPDX-License-Identifier: MIT */
/* Clients that log in and then fill the memory of their server, until standard input is closed. Prints how many
   joined. usage: hostile_clients PORT CLIENTS */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/hostile.h"
#include "tools/cli/wire_options.h"
#include "tools/live/client.h"
#include "tools/net/event_loop.h"

#define TICK_MS 33
#define BUNCHES_PER_TICK 60
#define BUNCHES_MAX 3000 /* of 900 bytes: 2.7 MB for each */
#define KINDS 3

struct intruder {
    struct live_client client;
    struct live_transport *port;
    uint32_t sent;
    bool has_joined;
};

static void on_receive(void *user) {
    struct intruder *intruder = user;
    struct ue_event event;
    while (ue_conn_next_event(intruder->client.conn, &event)) {
        intruder->has_joined |= event.type == UE_EVENT_CHANNEL_OPENED && event.kind == UE_KIND_ACTOR;
    }
}

static void tick(struct intruder *intruder, enum hostile_traffic traffic, uint64_t now_ns) {
    struct ue_conn *conn = intruder->client.conn;
    live_client_receive(&intruder->client, now_ns, on_receive, intruder);
    ue_conn_end_receive(conn, now_ns);
    on_receive(intruder);
    for (uint32_t i = 0; intruder->has_joined && i < BUNCHES_PER_TICK && intruder->sent < BUNCHES_MAX; i++) {
        hostile_send(conn, now_ns, traffic, intruder->sent++, true);
    }
    live_client_tick(&intruder->client, now_ns);
}

static bool start(struct intruder *intruder, const struct live_options *options, const char *target) {
    static const struct ue_login_config login = {.player = "intruder", .platform = "NULL"};
    struct net_socket *socket = net_socket_connect(target, WIRE_OPTIONS_SERVER_PORT, NULL);
    intruder->port = socket != NULL ? live_transport_new(socket, options) : NULL;
    return intruder->port != NULL &&
           live_client_init(&intruder->client, intruder->port, options, &login, event_loop_now_ns());
}

static void run(struct intruder *intruders, uint32_t count) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, TICK_MS) == 0) {
        for (uint32_t i = 0; i < count; i++) {
            tick(&intruders[i], (enum hostile_traffic)(i % KINDS), event_loop_now_ns());
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: hostile_clients PORT CLIENTS\n", stderr);
        return 2;
    }
    struct live_options options;
    uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10), joined = 0;
    char *target = g_strconcat("127.0.0.1:", argv[1], NULL);
    struct intruder *intruders = g_new0(struct intruder, count);
    live_options_init(&options);
    bool good = live_options_resolve(&options);
    for (uint32_t i = 0; good && i < count; i++) {
        good = start(&intruders[i], &options, target);
    }
    if (good) {
        run(intruders, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        joined += intruders[i].has_joined;
        live_client_clear(&intruders[i].client);
        live_transport_free(intruders[i].port);
    }
    printf("%" PRIu32 "\n", joined);
    g_free(intruders);
    g_free(target);
    return good ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Debian's ENet with its own sockets. */
#include <stddef.h>

#include "tests/bench/endpoint/loop.h"

#ifndef BENCH_HAVE_ENET

const struct loop_candidate *const loop_enet = NULL;

#else

#include <stdlib.h>

#include <enet/enet.h>

#define CONNECT_ROUNDS 1000
#define DELIVER_ROUNDS 1000
#define CHANNELS 1

struct hosts {
    ENetHost *server;
    ENetHost *client;
    ENetPeer *peer; /* the client, as the server sees it */
    uint64_t messages;
};

static void service(struct hosts *hosts, ENetHost *host) {
    ENetEvent event;
    while (enet_host_service(host, &event, 0) > 0) {
        if (event.type == ENET_EVENT_TYPE_CONNECT && host == hosts->server) {
            hosts->peer = event.peer;
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            hosts->messages += event.packet->dataLength == LOOP_MESSAGE_BYTES;
            enet_packet_destroy(event.packet);
        }
    }
}

static void close_hosts(void *pair) {
    struct hosts *hosts = pair;
    if (hosts->client != NULL) {
        enet_host_destroy(hosts->client);
    }
    if (hosts->server != NULL) {
        enet_host_destroy(hosts->server);
    }
    free(hosts);
}

static bool connect_hosts(struct hosts *hosts) {
    ENetAddress address = {.host = ENET_HOST_TO_NET_32(0x7f000001u), .port = 0};
    hosts->server = enet_host_create(&address, 1, CHANNELS, 0, 0);
    hosts->client = enet_host_create(NULL, 1, CHANNELS, 0, 0);
    if (hosts->server == NULL || hosts->client == NULL ||
        enet_socket_get_address(hosts->server->socket, &address) != 0) {
        return false;
    }
    enet_host_connect(hosts->client, &address, CHANNELS, 0);
    for (uint32_t i = 0; i < CONNECT_ROUNDS && hosts->peer == NULL; i++) {
        service(hosts, hosts->client);
        service(hosts, hosts->server);
    }
    return hosts->peer != NULL;
}

static void *open_hosts(void) {
    struct hosts *hosts = calloc(1, sizeof *hosts);
    if (hosts != NULL && !connect_hosts(hosts)) {
        close_hosts(hosts);
        return NULL;
    }
    return hosts;
}

static bool step(void *pair, uint32_t messages) {
    static const uint8_t message[LOOP_MESSAGE_BYTES];
    struct hosts *hosts = pair;
    uint64_t wanted = hosts->messages + messages;
    for (uint32_t i = 0; i < messages; i++) {
        ENetPacket *packet = enet_packet_create(message, sizeof message, ENET_PACKET_FLAG_RELIABLE);
        if (packet == NULL || enet_peer_send(hosts->peer, 0, packet) != 0) {
            return false;
        }
    }
    enet_host_flush(hosts->server);
    for (uint32_t i = 0; i < DELIVER_ROUNDS && hosts->messages < wanted; i++) {
        service(hosts, hosts->client);
        service(hosts, hosts->server);
    }
    return hosts->messages == wanted;
}

static struct loop_counts counts(const void *pair) {
    const struct hosts *hosts = pair;
    return (struct loop_counts){hosts->messages,
                                hosts->server->totalSentPackets + (uint64_t)hosts->client->totalSentPackets};
}

static const struct loop_candidate candidate = {"ENet", open_hosts, step, counts, close_hosts};
const struct loop_candidate *const loop_enet = &candidate;

#endif

/* SPDX-License-Identifier: MIT */
/* Debian's ENet in virtual time: the functions of its socket layer and its clock are defined here, and the library
   finds these before its own. One pair at a time. */
#include "tests/bench/endpoint/soak.h"

#ifndef BENCH_HAVE_ENET

const struct rival *const rival_enet = NULL;
const struct rival *const rival_enet_stub = NULL;

#else

#include <stdlib.h>
#include <string.h>

#include <enet/enet.h>

#define REPLACES __attribute__((visibility("default")))
#define NS_PER_MS UINT64_C(1000000)
#define WAITING_MAX 1024
#define COPIES 64
#define PORT 7777
#define CHANNELS 2
#define HANDSHAKE_STEPS 100
#define BACKLOG_MAX 2048

struct waiting {
    size_t size_bytes;
    const uint8_t *bytes;
};

struct enet_end {
    ENetHost *host;
    ENetPeer *peer;
    struct waiting waiting[WAITING_MAX]; /* datagrams that arrived and were not yet read */
    uint32_t begin;
    uint32_t count;
    uint8_t copies[COPIES][ENET_PROTOCOL_MAXIMUM_MTU];
    uint32_t copy_count;
};

struct enet_pair {
    struct rival_host host;
    struct enet_end ends[2];
    bool is_connecting; /* the network is a direct line */
    uint64_t now_ns;
    ENetSocket next_socket;
    /* Of the stub, by sender: */
    double due[2]; /* datagrams */
    ENetBuffer buffers[2][ENET_BUFFER_MAXIMUM];
    size_t buffer_count[2];
};

static struct enet_pair *current;
static uint64_t datagrams_sent[2], buffers_sent[2]; /* by the last pair, by sender */

static void put_waiting(struct enet_end *end, const uint8_t *bytes, size_t size_bytes) {
    if (end->count < WAITING_MAX) {
        end->waiting[(end->begin + end->count++) % WAITING_MAX] = (struct waiting){size_bytes, bytes};
    }
}

/* A datagram of the handshake, on a direct line. */
static void put_copy(struct enet_end *end, const uint8_t *bytes, size_t size_bytes) {
    uint8_t *copy = end->copies[end->copy_count++ % COPIES];
    memcpy(copy, bytes, size_bytes);
    put_waiting(end, copy, size_bytes);
}

/* ---- the socket layer: a socket's number is its side ---- */

REPLACES enet_uint32 enet_time_get(void) {
    return (enet_uint32)(current->now_ns / NS_PER_MS);
}

REPLACES ENetSocket enet_socket_create(ENetSocketType type) {
    return current->next_socket;
}

REPLACES int enet_socket_bind(ENetSocket socket, const ENetAddress *address) {
    return 0;
}

static ENetAddress address_of(enum rival_side side) {
    return (ENetAddress){.host = 1 + (enet_uint32)side, .port = PORT};
}

REPLACES int enet_socket_get_address(ENetSocket socket, ENetAddress *address) {
    *address = address_of((enum rival_side)socket);
    return 0;
}

REPLACES int enet_socket_set_option(ENetSocket socket, ENetSocketOption option, int value) {
    return 0;
}

REPLACES void enet_socket_destroy(ENetSocket socket) {}

REPLACES int enet_socket_send(ENetSocket socket, const ENetAddress *address, const ENetBuffer *buffers,
                              size_t buffer_count) {
    uint8_t datagram[ENET_PROTOCOL_MAXIMUM_MTU];
    size_t size_bytes = 0;
    datagrams_sent[socket]++;
    buffers_sent[socket] += buffer_count;
    for (size_t i = 0; i < buffer_count && size_bytes + buffers[i].dataLength <= sizeof datagram; i++) {
        memcpy(datagram + size_bytes, buffers[i].data, buffers[i].dataLength);
        size_bytes += buffers[i].dataLength;
    }
    if (current->is_connecting) {
        put_copy(&current->ends[socket == RIVAL_CLIENT ? RIVAL_SERVER : RIVAL_CLIENT], datagram, size_bytes);
    } else {
        current->host.emit(current->host.user, (enum rival_side)socket, datagram, size_bytes);
    }
    return (int)size_bytes;
}

REPLACES int enet_socket_receive(ENetSocket socket, ENetAddress *address, ENetBuffer *buffers, size_t buffer_count) {
    struct enet_end *end = &current->ends[socket];
    if (end->count == 0 || buffer_count == 0) {
        return 0;
    }
    struct waiting w = end->waiting[end->begin];
    end->begin = (end->begin + 1) % WAITING_MAX;
    end->count--;
    size_t size_bytes = w.size_bytes < buffers[0].dataLength ? w.size_bytes : buffers[0].dataLength;
    memcpy(buffers[0].data, w.bytes, size_bytes);
    *address = address_of(socket == RIVAL_CLIENT ? RIVAL_SERVER : RIVAL_CLIENT);
    return (int)size_bytes;
}

/* ---- the pair ---- */

static void service(struct enet_pair *pair, enum rival_side at) {
    struct enet_end *end = &pair->ends[at];
    ENetEvent event;
    while (enet_host_service(end->host, &event, 0) > 0) {
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            end->peer = event.peer;
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            end->peer = NULL;
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            pair->host.deliver(pair->host.user, !at, event.packet->data, event.packet->dataLength);
            enet_packet_destroy(event.packet);
        }
    }
}

static void destroy(void *user) {
    struct enet_pair *pair = user;
    for (size_t side = 0; side < 2; side++) {
        struct enet_end *end = &pair->ends[side];
        if (end->host != NULL) {
            enet_host_destroy(end->host);
        }
    }
    current = NULL;
    free(pair);
}

static bool perform_handshake(struct enet_pair *pair, uint64_t now_ns) {
    const ENetAddress server = address_of(RIVAL_SERVER);
    pair->now_ns = now_ns - HANDSHAKE_STEPS * 10 * NS_PER_MS;
    pair->next_socket = RIVAL_SERVER;
    pair->ends[RIVAL_SERVER].host = enet_host_create(&server, 1, CHANNELS, 0, 0);
    pair->next_socket = RIVAL_CLIENT;
    pair->ends[RIVAL_CLIENT].host = enet_host_create(NULL, 1, CHANNELS, 0, 0);
    if (pair->ends[0].host == NULL || pair->ends[1].host == NULL ||
        enet_host_connect(pair->ends[RIVAL_CLIENT].host, &server, CHANNELS, 0) == NULL) {
        return false;
    }
    for (int step = 0; step < HANDSHAKE_STEPS; step++) {
        service(pair, RIVAL_CLIENT);
        service(pair, RIVAL_SERVER);
        pair->now_ns += 10 * NS_PER_MS;
    }
    pair->is_connecting = false;
    return pair->ends[0].peer != NULL && pair->ends[1].peer != NULL;
}

static void *create(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    struct enet_pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL) {
        return NULL;
    }
    pair->host = *host;
    pair->is_connecting = true;
    memset(datagrams_sent, 0, sizeof datagrams_sent);
    memset(buffers_sent, 0, sizeof buffers_sent);
    current = pair;
    if (!perform_handshake(pair, now_ns)) {
        destroy(pair);
        return NULL;
    }
    return pair;
}

/* Reliable and unreliable messages on channels of their own: on a common one ENet holds the latter back. */
static bool send_message(void *user, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                         size_t size_bytes) {
    struct enet_pair *pair = user;
    struct enet_end *end = &pair->ends[from];
    pair->now_ns = now_ns;
    if (end->peer == NULL || enet_list_size(&end->peer->outgoingCommands) >= BACKLOG_MAX) {
        return false;
    }
    ENetPacket *packet = enet_packet_create(message, size_bytes, reliable ? ENET_PACKET_FLAG_RELIABLE : 0);
    return packet != NULL && enet_peer_send(end->peer, reliable ? 0 : 1, packet) == 0;
}

static void receive(void *user, enum rival_side at, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct enet_pair *pair = user;
    pair->now_ns = now_ns;
    put_waiting(&pair->ends[at], bytes, size_bytes);
}

static void end_receive(void *user, enum rival_side at, uint64_t now_ns) {
    struct enet_pair *pair = user;
    pair->now_ns = now_ns;
    service(pair, at);
}

static void tick(void *user, enum rival_side at, uint64_t now_ns) {
    struct enet_pair *pair = user;
    pair->now_ns = now_ns;
    enet_host_flush(pair->ends[at].host);
}

static const struct rival enet = {"ENet", create, destroy, send_message, receive, end_receive, tick};
const struct rival *const rival_enet = &enet;

/* ---- the socket layer alone, with the load of the last pair: the share of its figures that is not ENet's work ---- */

static void *stub_create(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    static uint8_t bytes[ENET_PROTOCOL_MAXIMUM_MTU];
    struct enet_pair *pair = calloc(1, sizeof *pair);
    for (size_t side = 0; pair != NULL && side < 2; side++) {
        pair->host = *host;
        pair->buffer_count[side] = buffers_sent[side] / datagrams_sent[side];
        for (size_t i = 0; i < pair->buffer_count[side]; i++) {
            size_t size_bytes = (size_t)soak_echo_load.bytes[side] / pair->buffer_count[side];
            pair->buffers[side][i] = (ENetBuffer){.data = bytes, .dataLength = size_bytes};
        }
    }
    current = pair;
    return pair;
}

static bool stub_send(void *user, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                      size_t size_bytes) {
    return true;
}

static void stub_end_receive(void *user, enum rival_side at, uint64_t now_ns) {
    struct enet_pair *pair = user;
    uint8_t datagram[ENET_PROTOCOL_MAXIMUM_MTU];
    ENetBuffer buffer = {.data = datagram, .dataLength = sizeof datagram};
    ENetAddress address;
    pair->now_ns = now_ns;
    while (enet_socket_receive((ENetSocket)at, &address, &buffer, 1) > 0) {
    }
    for (uint32_t i = 0; at == RIVAL_CLIENT && i < soak_echo_load.messages; i++) {
        pair->host.deliver(pair->host.user, RIVAL_SERVER, datagram, SOAK_DOWN_BYTES);
    }
}

static void stub_tick(void *user, enum rival_side at, uint64_t now_ns) {
    struct enet_pair *pair = user;
    pair->now_ns = now_ns;
    for (pair->due[at] += soak_echo_load.datagrams[at]; pair->due[at] >= 1; pair->due[at]--) {
        enet_socket_send((ENetSocket)at, NULL, pair->buffers[at], pair->buffer_count[at]);
    }
}

static const struct rival stub = {"ENet-stub", stub_create, destroy, stub_send, receive, stub_end_receive, stub_tick};
const struct rival *const rival_enet_stub = &stub;

#endif

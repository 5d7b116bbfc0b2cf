/* SPDX-License-Identifier: MIT */
/* The reference endpoint on the sockets that serve and connect use. */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/endpoint/loop.h"
#include "tests/bench/endpoint/rival.h"
#include "tools/net/event_loop.h"

#define DATAGRAM_BYTES_MAX 2048

struct ends {
    void *pair;
    struct net_socket *sockets[2]; /* by side; the server's listens */
    struct net_address client;
    struct loop_counts counts;
    bool failed;
};

static void emit(void *user, enum rival_side from, const uint8_t *bytes, size_t size_bytes) {
    struct ends *ends = user;
    ends->counts.datagrams++;
    ends->failed |= net_socket_send(ends->sockets[from], &ends->client, bytes, size_bytes) != NET_SOCKET_DONE;
}

static void deliver(void *user, enum rival_side from, const uint8_t *message, size_t size_bytes) {
    ((struct ends *)user)->counts.messages += from == RIVAL_SERVER && size_bytes == LOOP_MESSAGE_BYTES;
}

static void receive(struct ends *ends, enum rival_side at, uint64_t now_ns) {
    struct net_address from;
    uint8_t bytes[DATAGRAM_BYTES_MAX];
    size_t size_bytes;
    while (net_socket_receive(ends->sockets[at], &from, bytes, sizeof bytes, &size_bytes) == NET_SOCKET_DONE) {
        rival_ue.receive(ends->pair, at, now_ns, bytes, size_bytes);
    }
    rival_ue.end_receive(ends->pair, at, now_ns);
}

static bool step(void *pair, uint32_t messages) {
    static const uint8_t message[LOOP_MESSAGE_BYTES];
    struct ends *ends = pair;
    uint64_t before = ends->counts.messages;
    uint64_t now_ns = event_loop_now_ns();
    receive(ends, RIVAL_SERVER, now_ns);
    for (uint32_t i = 0; i < messages; i++) {
        ends->failed |= !rival_ue.send(ends->pair, RIVAL_SERVER, now_ns, true, message, LOOP_MESSAGE_BYTES);
    }
    rival_ue.tick(ends->pair, RIVAL_SERVER, now_ns);
    now_ns = event_loop_now_ns();
    receive(ends, RIVAL_CLIENT, now_ns);
    rival_ue.tick(ends->pair, RIVAL_CLIENT, now_ns);
    return !ends->failed && ends->counts.messages - before == messages;
}

static struct loop_counts counts(const void *pair) {
    return ((const struct ends *)pair)->counts;
}

static void close_ends(void *pair) {
    struct ends *ends = pair;
    if (ends->pair != NULL) {
        rival_ue.destroy(ends->pair);
    }
    net_socket_free(ends->sockets[RIVAL_CLIENT]);
    net_socket_free(ends->sockets[RIVAL_SERVER]);
    free(ends);
}

static bool open_sockets(struct ends *ends) {
    char text[NET_ADDRESS_TEXT_BYTES];
    ends->sockets[RIVAL_SERVER] = net_socket_listen("127.0.0.1", 0, NULL);
    if (ends->sockets[RIVAL_SERVER] == NULL) {
        return false;
    }
    net_address_format(net_socket_local(ends->sockets[RIVAL_SERVER]), text);
    ends->sockets[RIVAL_CLIENT] = net_socket_connect(text, 0, NULL);
    if (ends->sockets[RIVAL_CLIENT] != NULL) {
        ends->client = *net_socket_local(ends->sockets[RIVAL_CLIENT]);
    }
    return ends->sockets[RIVAL_CLIENT] != NULL;
}

static void *open_ends(void) {
    struct ends *ends = calloc(1, sizeof *ends);
    if (ends == NULL) {
        return NULL;
    }
    const struct rival_host host = {emit, deliver, ends};
    if (!open_sockets(ends) || (ends->pair = rival_ue.create(&host, 1, event_loop_now_ns())) == NULL) {
        close_ends(ends);
        return NULL;
    }
    return ends;
}

const struct loop_candidate loop_ue = {"uerudp", open_ends, step, counts, close_ends};

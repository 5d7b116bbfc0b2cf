/* SPDX-License-Identifier: MIT */
/* Anchors: plain datagrams and TCP. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/endpoint/loop.h"

#define MESSAGES_MAX 64

struct plain {
    int ends[2];
    struct loop_counts counts;
    uint8_t bytes[MESSAGES_MAX * LOOP_MESSAGE_BYTES];
};

static int bound_socket(int type, struct sockaddr_in *address) {
    socklen_t size = sizeof *address;
    int made = socket(AF_INET, type, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (made >= 0 && (bind(made, (struct sockaddr *)address, size) != 0 ||
                      getsockname(made, (struct sockaddr *)address, &size) != 0)) {
        close(made);
        return -1;
    }
    return made;
}

static bool connect_to(int end, const struct sockaddr_in *address) {
    return connect(end, (const struct sockaddr *)address, sizeof *address) == 0;
}

static bool connect_streams(int ends[2], const struct sockaddr_in addresses[2]) {
    int listener = ends[0];
    int on = 1;
    bool good = listen(listener, 1) == 0 && connect_to(ends[1], &addresses[0]);
    ends[0] = good ? accept(listener, NULL, NULL) : -1;
    close(listener);
    return ends[0] >= 0 && setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
}

bool loop_sockets(int type, int ends[2]) {
    struct sockaddr_in addresses[2];
    for (size_t i = 0; i < 2; i++) {
        ends[i] = bound_socket(type, &addresses[i]);
    }
    bool good = ends[0] >= 0 && ends[1] >= 0 &&
                (type == SOCK_STREAM ? connect_streams(ends, addresses)
                                     : connect_to(ends[0], &addresses[1]) && connect_to(ends[1], &addresses[0]));
    for (size_t i = 0; i < 2 && !good; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    return good;
}

static void *open_plain(int type) {
    struct plain *plain = calloc(1, sizeof *plain);
    if (plain != NULL && !loop_sockets(type, plain->ends)) {
        free(plain);
        return NULL;
    }
    return plain;
}

static void *open_raw(void) {
    return open_plain(SOCK_DGRAM);
}

static void *open_tcp(void) {
    return open_plain(SOCK_STREAM);
}

static bool step_raw(void *pair, uint32_t messages) {
    struct plain *plain = pair;
    plain->counts.datagrams++;
    plain->counts.messages++;
    return send(plain->ends[0], plain->bytes, LOOP_DATAGRAM_BYTES, 0) == LOOP_DATAGRAM_BYTES &&
           recv(plain->ends[1], plain->bytes, sizeof plain->bytes, 0) == LOOP_DATAGRAM_BYTES;
}

static bool step_tcp(void *pair, uint32_t messages) {
    struct plain *plain = pair;
    size_t size = (size_t)messages * LOOP_MESSAGE_BYTES;
    plain->counts.messages += messages;
    return size <= sizeof plain->bytes && send(plain->ends[0], plain->bytes, size, 0) == (ssize_t)size &&
           recv(plain->ends[1], plain->bytes, size, MSG_WAITALL) == (ssize_t)size;
}

static struct loop_counts counts(const void *pair) {
    return ((const struct plain *)pair)->counts;
}

static void close_plain(void *pair) {
    struct plain *plain = pair;
    close(plain->ends[0]);
    close(plain->ends[1]);
    free(plain);
}

const struct loop_candidate loop_raw = {"send+recv", open_raw, step_raw, counts, close_plain};
const struct loop_candidate loop_tcp = {"TCP", open_tcp, step_tcp, counts, close_plain};

/* SPDX-License-Identifier: MIT */
/* A client in the handshake and a listener, in virtual time. The codec decodes every datagram between them to its last
   bit. */
#ifndef UERUDP_TESTS_ENDPOINT_HANDSHAKE_HANDSHAKE_FIXTURE_H
#define UERUDP_TESTS_ENDPOINT_HANDSHAKE_HANDSHAKE_FIXTURE_H

#include <uerudp/codec.h>
#include "tests/endpoint/handshake/handshake_datagram.h"
#include "tests/support/counting_allocator.h"

#define START (UINT64_C(5000) * SECOND)
#define CLIENT_ID 5
#define SESSION_ID 1
#define HANDSHAKE_NONE_LOST UINT32_MAX

/* Members that are zero select the defaults. */
struct handshake_setup {
    const char *release;        /* of the client */
    const char *server_release; /* NULL: as the client */
    struct ue_handshake_versions client;
    struct ue_handshake_versions server;
    struct ue_settings settings;
};

struct handshake_fixture {
    struct counting_allocator memory;
    struct ue_listener *listener;
    struct ue_random random;
    struct ue_client_handshake client;
    struct ue_host peer;
    uint64_t now_ns;
    struct ue_accepted accepted;
    bool is_accepted; /* the server has a connection with this peer */
};

void handshake_fixture_init(struct handshake_fixture *s, const struct handshake_setup *setup);
void handshake_fixture_free(struct handshake_fixture *s);
bool handshake_is_versioned(const struct handshake_fixture *s);

/* Decodes the message in a datagram; profile matching must recognise its form. */
const struct ue_handshake *handshake_read(const struct handshake_fixture *s, enum ue_direction direction,
                                          const struct handshake_datagram *d);

/* Pops the client's pending datagram; 0 bytes: none. */
struct handshake_datagram handshake_client_send(struct handshake_fixture *s);
enum ue_client_handshake_result handshake_client_receive(struct handshake_fixture *s,
                                                         const struct handshake_datagram *d);

/* Delivers a datagram to the server, which may have a connection; returns its reply, 0 bytes: none. */
struct handshake_datagram handshake_server_receive(struct handshake_fixture *s, const struct handshake_datagram *d);

/* Delivers the client's pending datagram to the server and the reply to the client, each after a tick; drops the
   datagram with the number `lost`, counted from 0. */
enum ue_client_handshake_result handshake_exchange(struct handshake_fixture *s, unsigned *number, unsigned lost);

/* Runs until the client is connected or ten seconds have passed; checks that the client resends at its deadline and not
   before. */
enum ue_client_handshake_result handshake_connect_with_loss(struct handshake_fixture *s, unsigned lost);

/* Runs the whole handshake of a client, or up to its Challenge. */
void handshake_connect(struct handshake_fixture *s);
void handshake_stop_after_challenge(struct handshake_fixture *s, const char *release);

/* Asserts that client and server have the same cookie, sequences, version and ids. */
void handshake_assert_agreement(const struct handshake_fixture *s);

#endif

/* SPDX-License-Identifier: MIT */
/* A listener and a client whose messages are encoded by hand, in virtual time. */
#ifndef UERUDP_TESTS_ENDPOINT_HANDSHAKE_LISTENER_FIXTURE_H
#define UERUDP_TESTS_ENDPOINT_HANDSHAKE_LISTENER_FIXTURE_H

#include "tests/endpoint/handshake/handshake_datagram.h"
#include "tests/support/counting_allocator.h"

#define NETWORK_VERSION 0xdd56b00a
#define SESSION_ID 1
#define CLIENT_ID 6

struct listener_fixture {
    struct counting_allocator memory;
    struct ue_listener *listener;
    struct ue_context context; /* of the client */
    struct ue_random random;
    struct ue_host client_address;
    uint64_t now_ns;
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    size_t reply_bytes;
    struct ue_accepted accepted;
};

/* Fills in the members of the configuration that all tests share. */
void listener_fixture_init(struct listener_fixture *fixture, const char *release, struct ue_listener_config config);
void listener_fixture_free(struct listener_fixture *fixture);
const struct ue_listener_counters *listener_counters(const struct listener_fixture *fixture);

/* A message of the client; version, network version and ids have defaults. */
struct handshake_datagram listener_encode_message(struct listener_fixture *fixture, struct ue_handshake h);
struct handshake_datagram listener_encode_initial(struct listener_fixture *fixture);
/* Requests a Challenge and returns the Response to it; with an original cookie, the RestartResponse. */
struct handshake_datagram listener_encode_response(struct listener_fixture *fixture, const uint8_t *orig_cookie);

/* Delivers a datagram from an address, or from that of the client, and keeps the reply. */
enum ue_listener_result listener_receive_from(struct listener_fixture *fixture, const struct ue_host *from,
                                              const struct handshake_datagram *d);
enum ue_listener_result listener_receive(struct listener_fixture *fixture, const struct handshake_datagram *d);
struct ue_datagram listener_read_reply(const struct listener_fixture *fixture);

#endif

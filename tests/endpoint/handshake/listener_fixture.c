/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/handshake/listener_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/codec.h>

#define START (UINT64_C(300) * SECOND)

void listener_fixture_init(struct listener_fixture *fixture, const char *release, struct ue_listener_config config) {
    config.profile = ue_profile_find(release);
    config.network_version = NETWORK_VERSION;
    config.network_features = 1;
    config.session_id = SESSION_ID;
    memset(fixture, 0, sizeof *fixture);
    fixture->now_ns = START;
    fixture->client_address = host_from_text("198.51.100.7:7777");
    counting_allocator_init(&fixture->memory, SIZE_MAX);
    fixture->listener = ue_listener_new(&fixture->memory.allocator, &config, START - TICK);
    assert_non_null(fixture->listener);
    ue_context_init(&fixture->context, config.profile, &config.settings);
    fixture->context.direction = UE_CLIENT_TO_SERVER;
    ue_random_init(&fixture->random, NULL);
}

void listener_fixture_free(struct listener_fixture *fixture) {
    ue_listener_free(fixture->listener);
    assert_int_equal(fixture->memory.used_bytes, 0);
}

const struct ue_listener_counters *listener_counters(const struct listener_fixture *fixture) {
    return ue_listener_counters(fixture->listener);
}

struct handshake_datagram listener_encode_message(struct listener_fixture *fixture, struct ue_handshake h) {
    struct ue_datagram message = {.prefix = {.session_id = SESSION_ID, .client_id = CLIENT_ID}, .handshake = h};
    struct handshake_datagram d;
    if (h.version == 0) {
        message.handshake.version = fixture->context.features ? 4 : 3;
        message.handshake.min_version = 3;
        message.handshake.network_version = NETWORK_VERSION;
    }
    d.size = ue_handshake_datagram_write(&fixture->context, &message, &fixture->random, d.bytes, sizeof d.bytes);
    assert_int_not_equal(d.size, 0);
    return d;
}

struct handshake_datagram listener_encode_initial(struct listener_fixture *fixture) {
    return listener_encode_message(fixture, (struct ue_handshake){.type = UE_HANDSHAKE_INITIAL, .has_body = true});
}

enum ue_listener_result listener_receive_from(struct listener_fixture *fixture, const struct ue_host *from,
                                              const struct handshake_datagram *d) {
    return ue_listener_receive(fixture->listener, fixture->now_ns, from, true, d->bytes, d->size, fixture->reply,
                               &fixture->reply_bytes, &fixture->accepted);
}

enum ue_listener_result listener_receive(struct listener_fixture *fixture, const struct handshake_datagram *d) {
    return listener_receive_from(fixture, &fixture->client_address, d);
}

struct ue_datagram listener_read_reply(const struct listener_fixture *fixture) {
    struct ue_datagram message;
    struct ue_context x = fixture->context;
    x.direction = UE_SERVER_TO_CLIENT;
    assert_true(ue_handshake_datagram_read(&x, fixture->reply, fixture->reply_bytes, &message));
    return message;
}

struct handshake_datagram listener_encode_response(struct listener_fixture *fixture, const uint8_t *orig_cookie) {
    struct handshake_datagram initial = listener_encode_initial(fixture);
    assert_int_equal(listener_receive(fixture, &initial), UE_LISTENER_REPLY);
    struct ue_handshake challenge = listener_read_reply(fixture).handshake;
    struct ue_handshake h = {.type = UE_HANDSHAKE_RESPONSE, .has_body = true};
    assert_int_equal(challenge.type, UE_HANDSHAKE_CHALLENGE);
    h.secret_id = challenge.secret_id;
    h.timestamp = challenge.timestamp;
    memcpy(h.cookie, challenge.cookie, sizeof h.cookie);
    if (orig_cookie != NULL) {
        h.type = UE_HANDSHAKE_RESTART_RESPONSE;
        h.restart = true;
        h.has_orig_cookie = true;
        memcpy(h.orig_cookie, orig_cookie, sizeof h.orig_cookie);
    }
    return listener_encode_message(fixture, h);
}

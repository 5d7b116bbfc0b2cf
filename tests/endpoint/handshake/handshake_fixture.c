/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/handshake/handshake_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/profile_match.h>
#include "tests/support/within.h"

#define NETWORK_VERSION 0x641fc930
#define NETWORK_FEATURES 1

static const uint8_t client_seed[UE_SEED_BYTES] = {1, 2, 3};
static const uint8_t server_seed[UE_SEED_BYTES] = {9, 8, 7};

void handshake_fixture_init(struct handshake_fixture *s, const struct handshake_setup *setup) {
    const char *server_release = setup->server_release != NULL ? setup->server_release : setup->release;
    struct ue_listener_config listener = {
        .profile = ue_profile_find(server_release),
        .settings = setup->settings,
        .seed = server_seed,
        .network_version = NETWORK_VERSION,
        .network_features = NETWORK_FEATURES,
        .min_version = setup->server.min,
        .max_version = setup->server.max,
        .session_id = SESSION_ID,
    };
    struct ue_conn_config client = {
        .network_version = NETWORK_VERSION,
        .network_features = NETWORK_FEATURES,
        .min_handshake_version = setup->client.min,
        .max_handshake_version = setup->client.max,
        .client_id = 8 + CLIENT_ID,
    };
    struct ue_context context;
    memset(s, 0, sizeof *s);
    s->now_ns = START;
    s->peer = host_from_text("192.0.2.1:50000");
    counting_allocator_init(&s->memory, SIZE_MAX);
    s->listener = ue_listener_new(&s->memory.allocator, &listener, START - TICK);
    assert_non_null(s->listener);
    ue_context_init(&context, ue_profile_find(setup->release), &setup->settings);
    ue_random_init(&s->random, client_seed);
    ue_client_handshake_init(&s->client, &context, &client, &s->random);
}

void handshake_fixture_free(struct handshake_fixture *s) {
    ue_listener_free(s->listener);
    assert_int_equal(s->memory.used_bytes, 0);
}

bool handshake_is_versioned(const struct handshake_fixture *s) {
    return s->client.context.profile.handshake == UE_HANDSHAKE_V;
}

const struct ue_handshake *handshake_read(const struct handshake_fixture *s, enum ue_direction direction,
                                          const struct handshake_datagram *d) {
    static struct ue_datagram message;
    struct ue_decode_result result;
    struct ue_handshake_match shape;
    struct ue_context x = s->client.context;
    x.direction = direction;
    message = (struct ue_datagram){0};
    assert_int_equal(ue_datagram_decode(&x, d->bytes, d->size, &message, NULL, &result), UE_OK);
    assert_true(result.is_handshake && result.canonical);
    const struct ue_handshake *h = &message.handshake;
    assert_true(ue_profile_match_handshake(&x.settings, d->bytes, d->size, &shape));
    assert_true(shape.type == h->type || shape.type == UE_HANDSHAKE_TYPE_UNKNOWN);
    assert_int_equal(shape.ids, x.ids);
    if (!handshake_is_versioned(s)) {
        assert_true(shape.profiles >> ue_profile_index(&x.profile) & 1);
    } else if (h->version != 1 && h->has_body) {
        assert_int_equal(shape.features, x.features ? UE_FEATURES_PRESENT : UE_FEATURES_ABSENT);
    }
    assert_true(is_within(h->random.bits, handshake_is_versioned(s) ? (h->version < 3 ? 56 : 64) : 0,
                          handshake_is_versioned(s) ? 128 : 0));
    for (size_t at = 0; at < h->random.bits; at += 8) {
        assert_int_not_equal(ue_view_load(h->random, at, 8), 255);
    }
    return h;
}

struct handshake_datagram handshake_client_send(struct handshake_fixture *s) {
    struct handshake_datagram d;
    d.size = ue_client_handshake_pop(&s->client, d.bytes);
    if (d.size != 0) {
        handshake_read(s, UE_CLIENT_TO_SERVER, &d);
    }
    return d;
}

struct handshake_datagram handshake_server_receive(struct handshake_fixture *s, const struct handshake_datagram *d) {
    struct handshake_datagram answer;
    if (s->is_accepted) {
        answer.size = ue_listener_ack(&s->client.context, &s->accepted, answer.bytes);
    } else {
        s->is_accepted = ue_listener_receive(s->listener, s->now_ns, &s->peer, true, d->bytes, d->size, answer.bytes,
                                             &answer.size, &s->accepted) == UE_LISTENER_ACCEPT;
    }
    if (answer.size != 0) {
        handshake_read(s, UE_SERVER_TO_CLIENT, &answer);
    }
    return answer;
}

enum ue_client_handshake_result handshake_client_receive(struct handshake_fixture *s,
                                                         const struct handshake_datagram *d) {
    return ue_client_handshake_receive(&s->client, s->now_ns, d->bytes, d->size, s->now_ns);
}

enum ue_client_handshake_result handshake_exchange(struct handshake_fixture *s, unsigned *number, unsigned lost) {
    struct handshake_datagram sent = handshake_client_send(s);
    s->now_ns += TICK;
    if (sent.size == 0 || (*number)++ == lost) {
        return UE_CLIENT_HANDSHAKE_NOTHING;
    }
    struct handshake_datagram answer = handshake_server_receive(s, &sent);
    s->now_ns += TICK;
    if (answer.size == 0 || (*number)++ == lost) {
        return UE_CLIENT_HANDSHAKE_NOTHING;
    }
    return handshake_client_receive(s, &answer);
}

enum ue_client_handshake_result handshake_connect_with_loss(struct handshake_fixture *s, unsigned lost) {
    enum ue_client_handshake_result result = UE_CLIENT_HANDSHAKE_NOTHING;
    uint64_t give_up_ns = s->now_ns + 10 * SECOND;
    unsigned number = 0;
    while (result == UE_CLIENT_HANDSHAKE_NOTHING && s->now_ns < give_up_ns) {
        if (s->client.pending_bytes == 0) {
            s->now_ns = ue_client_handshake_deadline(&s->client) - 1;
            ue_client_handshake_tick(&s->client, s->now_ns);
            assert_int_equal(s->client.pending_bytes, 0);
            s->now_ns++;
            ue_client_handshake_tick(&s->client, s->now_ns);
        }
        result = handshake_exchange(s, &number, lost);
    }
    return result;
}

void handshake_connect(struct handshake_fixture *s) {
    ue_client_handshake_start(&s->client, s->now_ns);
    assert_int_equal(handshake_connect_with_loss(s, HANDSHAKE_NONE_LOST), UE_CLIENT_HANDSHAKE_CONNECTED);
    if (s->client.context.profile.handshake == UE_HANDSHAKE_A0) { /* the Response is still pending */
        unsigned number = 0;
        handshake_exchange(s, &number, HANDSHAKE_NONE_LOST);
    }
    assert_true(s->is_accepted);
    assert_int_equal(ue_client_handshake_deadline(&s->client) == UINT64_MAX, !s->client.unanswered);
}

void handshake_assert_agreement(const struct handshake_fixture *s) {
    struct ue_sequences first = ue_cookie_sequences(s->accepted.cookie);
    if (s->client.context.profile.handshake == UE_HANDSHAKE_A0) {
        first = (struct ue_sequences){0, 0};
    }
    assert_true(s->client.sequences.server == first.server && s->client.sequences.client == first.client);
    assert_true(s->accepted.sequences.server == first.server && s->accepted.sequences.client == first.client);
    assert_memory_equal(s->client.cookie, s->accepted.cookie, UE_COOKIE_BYTES);
    assert_true(s->client.has_cookie && !s->accepted.restarted);
    assert_int_equal(s->client.version, s->accepted.version);
    assert_int_equal(s->client.context.ids, s->client.version >= 3);
    assert_int_equal(s->accepted.session_id, s->client.context.ids ? SESSION_ID : 0);
    assert_int_equal(s->accepted.client_id, s->client.context.ids ? CLIENT_ID : 0);
    assert_int_equal(s->client.session_id, s->accepted.session_id);
}

void handshake_stop_after_challenge(struct handshake_fixture *s, const char *release) {
    unsigned number = 0;
    handshake_fixture_init(s, &(struct handshake_setup){.release = release});
    ue_client_handshake_start(&s->client, s->now_ns);
    handshake_exchange(s, &number, HANDSHAKE_NONE_LOST);
    assert_int_equal(s->client.state, UE_CLIENT_HANDSHAKE_LOCAL);
}

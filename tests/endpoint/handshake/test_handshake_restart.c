/* SPDX-License-Identifier: MIT */
/* Restarts of the handshake by a client whose address changed (protocol.md 5.1; endpoint.md 5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/endpoint/handshake/handshake_fixture.h"

/* The first bits of a packet of this client that is not a handshake message. */
static struct handshake_datagram packet_of(const struct handshake_fixture *s) {
    bool ids = s->client.context.ids;
    return (struct handshake_datagram){{ids ? (uint8_t)(SESSION_ID | CLIENT_ID << 2) : 0, 0x55, 0x01}, 3};
}

static void change_address(struct handshake_fixture *s, const char *address, unsigned lost) {
    const struct ue_sequences first = s->client.sequences;
    uint8_t cookie[UE_COOKIE_BYTES];
    memcpy(cookie, s->client.cookie, sizeof cookie);
    s->now_ns += 20 * SECOND;
    s->peer = host_from_text(address);
    s->is_accepted = false;
    struct handshake_datagram packet = packet_of(s);
    struct handshake_datagram request = handshake_server_receive(s, &packet);
    const struct ue_handshake *h = handshake_read(s, UE_SERVER_TO_CLIENT, &request);
    assert_true(h->type == UE_HANDSHAKE_RESTART_REQUEST && h->restart && !h->has_body);
    assert_int_equal(handshake_client_receive(s, &request), UE_CLIENT_HANDSHAKE_RESTARTING);
    assert_int_equal(handshake_client_receive(s, &request),
                     UE_CLIENT_HANDSHAKE_NOTHING); /* the client is restarting already */
    assert_int_equal(handshake_connect_with_loss(s, lost), UE_CLIENT_HANDSHAKE_RESUMED);
    assert_true(s->accepted.restarted && !s->client.restarting);
    assert_memory_equal(s->accepted.cookie, cookie, sizeof cookie);
    assert_memory_equal(s->client.cookie, cookie, sizeof cookie);
    assert_true(s->client.sequences.server == first.server && s->client.sequences.client == first.client);
    assert_int_equal(s->client.state, UE_CLIENT_HANDSHAKE_INITIALIZED);
}

static void a_client_can_change_its_address_repeatedly(void **state) {
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct handshake_fixture s;
        handshake_fixture_init(&s, &(struct handshake_setup){.release = ue_profile_at(row)->name});
        handshake_connect(&s);
        if (s.client.context.profile.handshake >= UE_HANDSHAKE_B) {
            for (unsigned lost = 0; lost < 4; lost++) {
                change_address(&s, "192.0.2.1:50001", lost);
            }
            change_address(&s, "[2001:db8::2]:50000", HANDSHAKE_NONE_LOST);
            assert_int_equal(ue_listener_counters(s.listener)->accepted, 6);
        } else {
            s.is_accepted = false;
            struct handshake_datagram packet = packet_of(&s);
            assert_int_equal(handshake_server_receive(&s, &packet).size, 0);
        }
        handshake_fixture_free(&s);
    }
}

/* endpoint.md 5: restart requests at `first_ns`, unless 0, and at `second_ns`, both since the last handshake
   message; the last other packet came `silence_ns` before the second. */
static void restart_requests_are_accepted_under_the_documented_conditions(void **state) {
    static const struct {
        const char *release;
        uint64_t first_ns;
        uint64_t second_ns;
        uint64_t silence_ns;
        bool is_accepted;
    } rows[] = {
        {"4.22", 0, 10 * SECOND, 0, false},
        {"4.22", 0, 10 * SECOND + 1, 0, true},
        {"4.22", 10 * SECOND, 10 * SECOND + 1, 0, true},
        {"4.25", 0, 10 * SECOND, 9 * SECOND, false},
        {"4.25", 0, 10 * SECOND + 1, 0, true},
        {"4.25", 9 * SECOND, 10 * SECOND + SECOND / 10, 0, false},
        {"4.25", 9 * SECOND, 10 * SECOND + SECOND / 10 + 1, 0, true},
        {"4.25", 10 * SECOND, 10 * SECOND + 1, SECOND, false},
        {"4.25", 10 * SECOND, 10 * SECOND + 1, SECOND + 1, true},
        {"5.8", 10 * SECOND, 10 * SECOND + 1, SECOND + 1, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct handshake_fixture s;
        handshake_fixture_init(&s, &(struct handshake_setup){.release = rows[i].release});
        handshake_connect(&s);
        s.is_accepted = false;
        struct handshake_datagram packet = packet_of(&s);
        struct handshake_datagram request = handshake_server_receive(&s, &packet);
        if (handshake_is_versioned(&s)) { /* dpull/utcp sends it with the type Challenge */
            request.bytes[2] ^= 1 << 7;
            request.bytes[3] ^= 1 << 1;
        }
        uint64_t sent_ns = s.client.last_sent_ns;
        if (rows[i].first_ns != 0) {
            s.now_ns = sent_ns + rows[i].first_ns;
            assert_int_equal(handshake_client_receive(&s, &request), UE_CLIENT_HANDSHAKE_NOTHING);
        }
        s.now_ns = sent_ns + rows[i].second_ns;
        enum ue_client_handshake_result result = ue_client_handshake_receive(
            &s.client, s.now_ns, request.bytes, request.size, s.now_ns - rows[i].silence_ns);
        assert_int_equal(result, rows[i].is_accepted ? UE_CLIENT_HANDSHAKE_RESTARTING : UE_CLIENT_HANDSHAKE_NOTHING);
        struct handshake_datagram ack =
            handshake_datagram_parse("05000000000080fff5e0d68bdd86eb2ad70993e7104492e09b21d2300d");
        if (rows[i].is_accepted &&
            s.client.context.profile.handshake == UE_HANDSHAKE_C) { /* an Ack with another cookie */
            assert_int_equal(handshake_client_receive(&s, &ack), UE_CLIENT_HANDSHAKE_RESUMED);
            handshake_assert_agreement(&s);
        }
        handshake_fixture_free(&s);
    }
}

static void a_client_without_a_cookie_does_not_restart(void **state) {
    struct handshake_fixture s;
    struct handshake_datagram request = handshake_datagram_parse("07");
    handshake_stop_after_challenge(&s, "4.25");
    s.now_ns += 20 * SECOND;
    assert_int_equal(handshake_client_receive(&s, &request),
                     UE_CLIENT_HANDSHAKE_NOTHING); /* the client is not connected */
    struct handshake_datagram ack =
        handshake_datagram_parse("05000000000080ff050000000000000000000000000000000000000008");
    assert_int_equal(handshake_client_receive(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
    assert_false(s.client.has_cookie);
    assert_int_equal(handshake_client_receive(&s, &request), UE_CLIENT_HANDSHAKE_NOTHING);
    handshake_fixture_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_can_change_its_address_repeatedly),
        cmocka_unit_test(restart_requests_are_accepted_under_the_documented_conditions),
        cmocka_unit_test(a_client_without_a_cookie_does_not_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

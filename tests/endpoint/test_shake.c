/* SPDX-License-Identifier: MIT */
/* The client's handshake against a listener, in every layout and version (protocol.md 5; endpoint.md 21). Every
   datagram on the way is read by the codec to its last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/codec.h>
#include <uerudp/listener.h>
#include <uerudp/profile_match.h>
#include "tests/support/guarded.h"
#include "tests/support/within.h"

#define SECOND UINT64_C(1000000000)
#define TICK (SECOND / 256) /* sums of it are exact as seconds, too */
#define START (UINT64_C(5000) * SECOND)
#define RESEND (SECOND + 1) /* more than a second */
#define NETWORK_VERSION 0x641fc930
#define NETWORK_FEATURES 1
#define CLIENT_ID 5
#define SESSION_ID 1

static const uint8_t client_seed[UE_SEED_BYTES] = {1, 2, 3};
static const uint8_t server_seed[UE_SEED_BYTES] = {9, 8, 7};

/* Zero members are stock. */
struct setup {
    const char *release; /* of the client */
    const char *server_release;
    struct ue_handshake_versions client;
    struct ue_handshake_versions server;
    struct ue_settings settings;
};

struct datagram {
    uint8_t bytes[UE_HANDSHAKE_DATAGRAM_BYTES];
    size_t size;
};

struct stage {
    _Alignas(8) uint8_t region[65536];
    struct ue_pool *pool;
    struct ue_listener *listener;
    struct ue_random random;
    struct ue_client_handshake client;
    struct ue_host peer;
    uint64_t now_ns;
    struct ue_accepted accepted;
    bool is_accepted; /* the server has a connection with this peer */
};

static struct ue_host peer_of(const char *text) {
    struct ue_host peer = {.size_bytes = (uint8_t)strlen(text)};
    memcpy(peer.text, text, peer.size_bytes);
    return peer;
}

static void open_stage(struct stage *s, const struct setup *setup) {
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
    s->peer = peer_of("192.0.2.1:50000");
    s->pool = ue_pool_init(s->region, sizeof s->region);
    s->listener = ue_listener_new(s->pool, &listener, START - TICK);
    assert_non_null(s->listener);
    ue_context_init(&context, ue_profile_find(setup->release), &setup->settings);
    ue_random_init(&s->random, client_seed);
    ue_client_handshake_init(&s->client, &context, &client, &s->random);
}

static void close_stage(struct stage *s) {
    ue_listener_free(s->listener);
    assert_int_equal(ue_pool_used_bytes(s->pool), 0);
}

static bool is_versioned(const struct stage *s) {
    return s->client.context.profile.handshake == UE_HANDSHAKE_V;
}

static struct datagram datagram_of(const char *hex) {
    struct datagram d;
    d.size = hex_read(hex, d.bytes, sizeof d.bytes);
    return d;
}

/* The message in a datagram, whose form any observer must recognise as what it is. */
static const struct ue_handshake *read(const struct stage *s, enum ue_direction direction, const struct datagram *d) {
    static struct ue_datagram message;
    struct ue_decode_result verdict;
    struct ue_handshake_match shape;
    struct ue_context x = s->client.context;
    x.direction = direction;
    message = (struct ue_datagram){0};
    assert_int_equal(ue_datagram_decode(&x, d->bytes, d->size, &message, &verdict), UE_OK);
    assert_true(verdict.is_handshake && verdict.canonical);
    const struct ue_handshake *h = &message.handshake;
    assert_true(ue_profile_match_handshake(&x.settings, d->bytes, d->size, &shape));
    assert_true(shape.type == h->type || shape.type == UE_HANDSHAKE_TYPE_UNKNOWN);
    assert_int_equal(shape.ids, x.ids);
    if (!is_versioned(s)) {
        assert_true(shape.profiles >> ue_profile_index(&x.profile) & 1);
    } else if (h->version != 1 && h->has_body) {
        assert_int_equal(shape.features, x.features ? UE_FEATURES_PRESENT : UE_FEATURES_ABSENT);
    }
    assert_true(is_within(h->random.bits, is_versioned(s) ? (h->version < 3 ? 56 : 64) : 0, is_versioned(s) ? 128 : 0));
    for (size_t at = 0; at < h->random.bits; at += 8) {
        assert_int_not_equal(ue_view_load(h->random, at, 8), 255);
    }
    return h;
}

static struct datagram client_says(struct stage *s) {
    struct datagram d;
    d.size = ue_client_handshake_pop(&s->client, d.bytes);
    if (d.size != 0) {
        read(s, UE_CLIENT_TO_SERVER, &d);
    }
    return d;
}

/* The answer of a server, with and without a connection; 0 bytes: none. */
static struct datagram server_hears(struct stage *s, const struct datagram *d) {
    struct datagram answer;
    if (s->is_accepted) {
        answer.size = ue_listener_ack(&s->client.context, &s->accepted, answer.bytes);
    } else {
        s->is_accepted = ue_listener_receive(s->listener, s->now_ns, &s->peer, true, d->bytes, d->size, answer.bytes,
                                             &answer.size, &s->accepted) == UE_LISTENER_ACCEPT;
    }
    if (answer.size != 0) {
        read(s, UE_SERVER_TO_CLIENT, &answer);
    }
    return answer;
}

static enum ue_client_handshake_result client_hears(struct stage *s, const struct datagram *d) {
    return ue_client_handshake_receive(&s->client, s->now_ns, d->bytes, d->size, s->now_ns);
}

/* What the client wants to say goes to the server and the answer back, each way in a tick; the datagram with the number
   `lost`, counted from 0, is lost. */
static enum ue_client_handshake_result exchange(struct stage *s, unsigned *number, unsigned lost) {
    struct datagram said = client_says(s);
    s->now_ns += TICK;
    if (said.size == 0 || (*number)++ == lost) {
        return UE_CLIENT_HANDSHAKE_NOTHING;
    }
    struct datagram answer = server_hears(s, &said);
    s->now_ns += TICK;
    if (answer.size == 0 || (*number)++ == lost) {
        return UE_CLIENT_HANDSHAKE_NOTHING;
    }
    return client_hears(s, &answer);
}

#define NONE_LOST UINT32_MAX

/* Until the client is connected or nothing happens for ten seconds. Checks that it resends at its time, not before. */
static enum ue_client_handshake_result connect_with_loss(struct stage *s, unsigned lost) {
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
        result = exchange(s, &number, lost);
    }
    return result;
}

static void connect_client(struct stage *s) {
    ue_client_handshake_start(&s->client, s->now_ns);
    assert_int_equal(connect_with_loss(s, NONE_LOST), UE_CLIENT_HANDSHAKE_CONNECTED);
    if (s->client.context.profile.handshake == UE_HANDSHAKE_A0) { /* its Response is still to come */
        unsigned number = 0;
        exchange(s, &number, NONE_LOST);
    }
    assert_true(s->is_accepted);
    assert_int_equal(ue_client_handshake_deadline(&s->client) == UINT64_MAX, !s->client.unanswered);
}

static void check_agreement(const struct stage *s) {
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

static void every_generation_connects(void **state) {
    (void)state;
    static const struct ue_settings settings[] = {
        {0}, {.magic_bits = 32, .magic = 0x500c7696}, {.skip_bytes = 8, .magic_bits = 3, .magic = 255}};
    for (size_t i = 0; i < UE_PROFILE_COUNT * 3; i++) {
        const struct ue_profile *profile = ue_profile_at(i / 3);
        struct stage s;
        open_stage(&s, &(struct setup){.release = profile->name, .settings = settings[i % 3]});
        connect_client(&s);
        check_agreement(&s);
        assert_int_equal(s.client.version, is_versioned(&s) ? 3 + profile->features : 0);
        const struct ue_listener_counters *counted = ue_listener_counters(s.listener);
        assert_true(counted->initials == 1 && counted->responses == 1 && counted->accepted == 1);
        close_stage(&s);
    }
}

/* Four messages, step by step (protocol.md 5.1). */
static void messages_say_what_they_should(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s, &(struct setup){.release = "5.4"});
    ue_client_handshake_start(&s.client, s.now_ns);
    struct datagram said = client_says(&s);
    struct datagram challenge = server_hears(&s, &said);
    struct ue_handshake h = *read(&s, UE_SERVER_TO_CLIENT, &challenge);
    assert_true(h.type == UE_HANDSHAKE_CHALLENGE && h.sent_count == 0 && h.min_version == 3 && h.version == 4);
    assert_true(ue_handshake_timestamp(&s.client.context, &h) == 1 + 1.0 / 256);
    struct ue_handshake asked = h;
    assert_int_equal(client_hears(&s, &challenge), UE_CLIENT_HANDSHAKE_NOTHING);
    said = client_says(&s);
    h = *read(&s, UE_CLIENT_TO_SERVER, &said);
    assert_true(h.type == UE_HANDSHAKE_RESPONSE && h.secret_id == asked.secret_id && h.timestamp == asked.timestamp);
    assert_memory_equal(h.cookie, asked.cookie, sizeof h.cookie);
    struct datagram ack = server_hears(&s, &said);
    h = *read(&s, UE_SERVER_TO_CLIENT, &ack);
    assert_true(h.type == UE_HANDSHAKE_ACK && h.sent_count == 1 && h.secret_id == 1);
    assert_true(ue_handshake_timestamp(&s.client.context, &h) == -1.0);
    assert_memory_equal(h.cookie, asked.cookie, sizeof h.cookie);
    assert_int_equal(client_hears(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
    const struct ue_client_handshake connected = s.client;
    s.now_ns += 20 * SECOND;
    assert_int_equal(client_hears(&s, &challenge), UE_CLIENT_HANDSHAKE_NOTHING); /* late: changes nothing */
    assert_int_equal(client_hears(&s, &ack), UE_CLIENT_HANDSHAKE_NOTHING);
    assert_memory_equal(&connected, &s.client, sizeof connected);
    assert_int_equal(s.client.sent_count, 0);
    close_stage(&s);
}

static enum ue_client_handshake_result client_hears_flipped(struct stage *s, struct datagram d, size_t bit) {
    d.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    return client_hears(s, &d);
}

/* Flipped bits of ids, restart bit, version, type and sign of the timestamp (protocol.md 5.4). */
static void replies_must_fit(void **state) {
    (void)state;
    static const size_t bits[] = {0, 1, 2, 3, 4, 6, 15, 16, 24, 151};
    struct stage s;
    open_stage(&s, &(struct setup){.release = "5.5"});
    ue_client_handshake_start(&s.client, s.now_ns);
    struct datagram said = client_says(&s);
    struct datagram answer = server_hears(&s, &said);
    for (size_t i = 2; i < 10; i++) { /* the session is the Challenge's to say */
        client_hears_flipped(&s, answer, bits[i]);
        assert_int_equal(s.client.state, UE_CLIENT_HANDSHAKE_UNINITIALIZED);
    }
    client_hears(&s, &answer);
    said = client_says(&s);
    answer = server_hears(&s, &said);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(client_hears_flipped(&s, answer, bits[i]), UE_CLIENT_HANDSHAKE_NOTHING);
    }
    struct datagram upgrade = datagram_of("b581010303a2199188008050ff5cee250fdfaa72dc7c5bc0f7");
    assert_int_equal(client_hears(&s, &upgrade), UE_CLIENT_HANDSHAKE_NOTHING); /* version 3 does not know it */
    upgrade = datagram_of("b501020303a2199188008050ff5cee250fdfaa72dc7c5bc0f7");
    assert_int_equal(client_hears(&s, &upgrade), UE_CLIENT_HANDSHAKE_OUTDATED);
    assert_int_equal(client_hears(&s, &answer), UE_CLIENT_HANDSHAKE_CONNECTED);
    close_stage(&s);
}

static void versions_agree_or_refuse(void **state) {
    (void)state;
    static const struct {
        struct ue_handshake_versions client;
        struct ue_handshake_versions server;
        uint8_t version; /* 0: none */
        bool is_told;    /* by VersionUpgrade */
    } rows[] = {
        {{3, 4}, {3, 4}, 4, false}, {{3, 4}, {3, 3}, 3, false}, {{3, 3}, {3, 4}, 3, false}, {{3, 3}, {3, 3}, 3, false},
        {{1, 2}, {1, 2}, 2, false}, {{1, 1}, {1, 2}, 1, false}, {{1, 2}, {1, 1}, 1, false}, {{1, 1}, {1, 1}, 1, false},
        {{2, 2}, {2, 2}, 2, false}, {{1, 2}, {1, 4}, 2, false}, {{1, 1}, {1, 3}, 1, false}, {{3, 4}, {1, 4}, 4, false},
        {{4, 4}, {3, 3}, 0, false}, {{3, 3}, {4, 4}, 0, false}, {{3, 4}, {4, 4}, 0, true},
    };
    static const char *const releases[] = {"5.1", "5.4", "5.8"};
    for (size_t i = 0; i < 3 * (sizeof rows / sizeof *rows); i++) {
        struct stage s;
        open_stage(&s, &(struct setup){
                           .release = releases[i % 3], .client = rows[i / 3].client, .server = rows[i / 3].server});
        ue_client_handshake_start(&s.client, s.now_ns);
        enum ue_client_handshake_result result = connect_with_loss(&s, NONE_LOST);
        if (rows[i / 3].version != 0) {
            assert_int_equal(result, UE_CLIENT_HANDSHAKE_CONNECTED);
            assert_int_equal(s.client.version, rows[i / 3].version);
            check_agreement(&s);
        } else {
            assert_int_equal(result, rows[i / 3].is_told ? UE_CLIENT_HANDSHAKE_OUTDATED : UE_CLIENT_HANDSHAKE_NOTHING);
            assert_int_equal(ue_listener_counters(s.listener)->accepted, 0);
            assert_int_equal(ue_listener_counters(s.listener)->upgrades, rows[i / 3].is_told);
        }
        close_stage(&s);
    }
}

/* The field came without a new version number: each side speaks as the other did. */
static void features_are_learned(void **state) {
    (void)state;
    static const char *const releases[][2] = {{"5.1", "5.4"}, {"5.4", "5.1"}};
    for (size_t i = 0; i < 2; i++) {
        struct stage s;
        open_stage(&s, &(struct setup){.release = releases[i][0], .server_release = releases[i][1]});
        connect_client(&s);
        assert_int_equal(s.client.version, 3);
        assert_true(s.client.context.features == (i == 1) && s.accepted.features == (i == 1));
        close_stage(&s);
    }
}

static void assert_begins(const struct datagram *d, const char *hex, size_t bits) {
    struct datagram expected = datagram_of(hex);
    assert_true(ue_view_equal((struct ue_view){d->bytes, 0, bits}, (struct ue_view){expected.bytes, 0, bits}));
}

/* Real handshakes, and what dpull/utcp sends (vectors/handshake.json). A client says the same bits as theirs did, up to
   the random tail; the last row is a server without NetworkFeatures for a client that has it. */
static void real_handshakes_go_the_same_way(void **state) {
    (void)state;
    static const struct {
        const char *release;
        size_t same_bits;
        struct ue_sequences first;
    } rows[] = {{"4.18", 200, {7198, 12666}},
                {"4.26", 232, {16233, 3053}},
                {"5.7", 312, {8965, 4611}},
                {"5.4", 0, {7198, 12666}}};
    static const char *const texts[][4] = {
        {"01000000000000000000000000000000000000000000000004", "030080017970ebc56ec37595eb84c973082249f0cd10699806",
         "030080017970ebc56ec37595eb84c973082249f0cd10699806", "030000fe7a70ebc56ec37595eb84c973082249f0cd10699806"},
        {"1700000000000000000000000000000000000000000000000000000080",
         "17c0d7f127af586aa0b49ff6e52d1e765d8b51983a5dc25f8d041051e6",
         "17c0d7f127af586aa0b49ff6e52d1e765d8b51983a5dc25f8d041051e6",
         "57000000000000f8dfb49ff6e52d1e765d8b51983a5dc25f8d041051e6"},
        {"a00102000098e40f32000000000000000000000000000000000000000000000000000000000000",
         "a00182000098e40f3200000058bc2b7f35c64005a303127dc5508cae6626dcbc7365c188c332d50b155e91b1aae4772cec01",
         "a00102810098e40f3200000058bc2b7f35c64005a303127dc5508cae6626dcbc7365c188c332d5",
         "a00182810098e40f320080000000000000f0bf05a303127dc5508cae6626dcbc7365c188c332d58a014ccd0c92740aed7e5e01"},
        {"", "a6808100000558abee0000000000000c401edc7ab1db705de53a61f21c8248127c33441aa60000000000000000000001", "",
         "a6808181000558abee000000000000f0bf1edc7ab1db705de53a61f21c8248127c33441aa60000000000000000000000000001"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stage s;
        uint8_t magic_bits = i == 1 ? 4 : 0;
        open_stage(&s, &(struct setup){.release = rows[i].release, .settings = {.magic_bits = magic_bits, .magic = 7}});
        s.client.client_id = i == 3;
        s.client.network_features = 0;
        ue_client_handshake_start(&s.client, s.now_ns);
        struct datagram said = client_says(&s);
        assert_begins(&said, texts[i][0], rows[i].same_bits);
        struct datagram challenge = datagram_of(texts[i][1]);
        assert_int_equal(client_hears(&s, &challenge), UE_CLIENT_HANDSHAKE_NOTHING);
        said = client_says(&s);
        assert_begins(&said, texts[i][2], rows[i].same_bits);
        struct datagram ack = datagram_of(texts[i][3]);
        assert_int_equal(client_hears(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
        assert_int_equal(s.client.sequences.server, rows[i].first.server);
        assert_int_equal(s.client.sequences.client, rows[i].first.client);
        close_stage(&s);
    }
}

static void any_one_datagram_may_be_lost(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        bool has_ack = ue_profile_at(row)->handshake != UE_HANDSHAKE_A0;
        for (unsigned lost = 0; lost < (has_ack ? 4 : 2); lost++) {
            struct stage s;
            open_stage(&s, &(struct setup){.release = ue_profile_at(row)->name});
            ue_client_handshake_start(&s.client, s.now_ns);
            assert_int_equal(connect_with_loss(&s, lost), UE_CLIENT_HANDSHAKE_CONNECTED);
            assert_int_equal(s.now_ns, START + RESEND + (has_ack ? 4 : 2) * TICK);
            assert_int_equal(s.is_accepted, has_ack);
            close_stage(&s);
        }
    }
}

static void cut_off_after_the_challenge(struct stage *s, const char *release) {
    unsigned number = 0;
    open_stage(s, &(struct setup){.release = release});
    ue_client_handshake_start(&s->client, s->now_ns);
    exchange(s, &number, NONE_LOST);
    assert_int_equal(s->client.state, UE_CLIENT_HANDSHAKE_LOCAL);
}

/* Fourteen resends fit into fifteen seconds; then the cookie may be too old. */
static void it_begins_again_after_fifteen_seconds(void **state) {
    (void)state;
    static const char *const releases[] = {"4.18", "4.22", "4.25", "5.1", "5.8"};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        struct stage s;
        cut_off_after_the_challenge(&s, releases[i]);
        uint64_t challenged_ns = s.now_ns;
        struct datagram said = client_says(&s);
        for (unsigned n = 1; n <= 15; n++) {
            assert_int_equal(read(&s, UE_CLIENT_TO_SERVER, &said)->type, UE_HANDSHAKE_RESPONSE);
            s.now_ns = ue_client_handshake_deadline(&s.client);
            assert_int_equal(s.now_ns, challenged_ns + n * RESEND);
            ue_client_handshake_tick(&s.client, s.now_ns);
            said = client_says(&s);
        }
        const struct ue_handshake *h = read(&s, UE_CLIENT_TO_SERVER, &said);
        assert_true(h->type == UE_HANDSHAKE_INITIAL && !h->restart && s.client.state == 0);
        assert_int_equal(h->sent_count, is_versioned(&s) ? 16 : 0);
        assert_int_equal(connect_with_loss(&s, NONE_LOST), UE_CLIENT_HANDSHAKE_CONNECTED);
        close_stage(&s);
    }
}

static void a_second_challenge_gets_a_new_response(void **state) {
    (void)state;
    struct stage s;
    cut_off_after_the_challenge(&s, "4.25");
    struct datagram first = client_says(&s);
    struct datagram initial = datagram_of("0100000000000000000000000000000000000000000000000000000008");
    struct datagram challenge = server_hears(&s, &initial);
    client_hears(&s, &challenge);
    struct datagram second = client_says(&s);
    assert_memory_equal(second.bytes, challenge.bytes, challenge.size); /* in this layout they look alike */
    assert_memory_not_equal(second.bytes, first.bytes, first.size);
    struct datagram ack = server_hears(&s, &first); /* the first reached the server, which keeps to it */
    assert_int_equal(client_hears(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
    check_agreement(&s);
    close_stage(&s);
}

/* ---- restart ---- */

/* The first bits of an ordinary packet of this client. */
static struct datagram packet_of(const struct stage *s) {
    bool ids = s->client.context.ids;
    return (struct datagram){{ids ? (uint8_t)(SESSION_ID | CLIENT_ID << 2) : 0, 0x55, 0x01}, 3};
}

static void move_client(struct stage *s, const char *address, unsigned lost) {
    const struct ue_sequences first = s->client.sequences;
    uint8_t cookie[UE_COOKIE_BYTES];
    memcpy(cookie, s->client.cookie, sizeof cookie);
    s->now_ns += 20 * SECOND;
    s->peer = peer_of(address);
    s->is_accepted = false;
    struct datagram packet = packet_of(s);
    struct datagram request = server_hears(s, &packet);
    const struct ue_handshake *h = read(s, UE_SERVER_TO_CLIENT, &request);
    assert_true(h->type == UE_HANDSHAKE_RESTART_REQUEST && h->restart && !h->has_body);
    assert_int_equal(client_hears(s, &request), UE_CLIENT_HANDSHAKE_RESTARTING);
    assert_int_equal(client_hears(s, &request), UE_CLIENT_HANDSHAKE_NOTHING); /* is at it already */
    assert_int_equal(connect_with_loss(s, lost), UE_CLIENT_HANDSHAKE_RESUMED);
    assert_true(s->accepted.restarted && !s->client.restarting);
    assert_memory_equal(s->accepted.cookie, cookie, sizeof cookie);
    assert_memory_equal(s->client.cookie, cookie, sizeof cookie);
    assert_true(s->client.sequences.server == first.server && s->client.sequences.client == first.client);
    assert_int_equal(s->client.state, UE_CLIENT_HANDSHAKE_INITIALIZED);
}

static void a_client_may_move_and_move_again(void **state) {
    (void)state;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        struct stage s;
        open_stage(&s, &(struct setup){.release = ue_profile_at(row)->name});
        connect_client(&s);
        if (s.client.context.profile.handshake >= UE_HANDSHAKE_B) {
            for (unsigned lost = 0; lost < 4; lost++) {
                move_client(&s, "192.0.2.1:50001", lost);
            }
            move_client(&s, "[2001:db8::2]:50000", NONE_LOST);
            assert_int_equal(ue_listener_counters(s.listener)->accepted, 6);
        } else {
            s.is_accepted = false;
            struct datagram packet = packet_of(&s);
            assert_int_equal(server_hears(&s, &packet).size, 0);
        }
        close_stage(&s);
    }
}

/* endpoint.md 21.4: a request after `first_ns`, unless 0, then one after `second_ns`, both since the last handshake
   packet; the last ordinary packet came `silence_ns` before the second. */
static void restart_requests_are_believed_by_rule(void **state) {
    (void)state;
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
        struct stage s;
        open_stage(&s, &(struct setup){.release = rows[i].release});
        connect_client(&s);
        s.is_accepted = false;
        struct datagram packet = packet_of(&s);
        struct datagram request = server_hears(&s, &packet);
        if (is_versioned(&s)) { /* dpull/utcp calls it a Challenge */
            request.bytes[2] ^= 1 << 7;
            request.bytes[3] ^= 1 << 1;
        }
        uint64_t sent_ns = s.client.last_sent_ns;
        if (rows[i].first_ns != 0) {
            s.now_ns = sent_ns + rows[i].first_ns;
            assert_int_equal(client_hears(&s, &request), UE_CLIENT_HANDSHAKE_NOTHING);
        }
        s.now_ns = sent_ns + rows[i].second_ns;
        enum ue_client_handshake_result result = ue_client_handshake_receive(
            &s.client, s.now_ns, request.bytes, request.size, s.now_ns - rows[i].silence_ns);
        assert_int_equal(result, rows[i].is_accepted ? UE_CLIENT_HANDSHAKE_RESTARTING : UE_CLIENT_HANDSHAKE_NOTHING);
        struct datagram ack = datagram_of("05000000000080fff5e0d68bdd86eb2ad70993e7104492e09b21d2300d");
        if (rows[i].is_accepted && s.client.context.profile.handshake == UE_HANDSHAKE_C) { /* with another cookie */
            assert_int_equal(client_hears(&s, &ack), UE_CLIENT_HANDSHAKE_RESUMED);
            check_agreement(&s);
        }
        close_stage(&s);
    }
}

static void without_a_cookie_nothing_restarts(void **state) {
    (void)state;
    struct stage s;
    struct datagram request = datagram_of("07");
    cut_off_after_the_challenge(&s, "4.25");
    s.now_ns += 20 * SECOND;
    assert_int_equal(client_hears(&s, &request), UE_CLIENT_HANDSHAKE_NOTHING); /* not connected */
    struct datagram ack = datagram_of("05000000000080ff050000000000000000000000000000000000000008");
    assert_int_equal(client_hears(&s, &ack), UE_CLIENT_HANDSHAKE_CONNECTED);
    assert_false(s.client.has_cookie);
    assert_int_equal(client_hears(&s, &request), UE_CLIENT_HANDSHAKE_NOTHING);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_generation_connects),
        cmocka_unit_test(messages_say_what_they_should),
        cmocka_unit_test(replies_must_fit),
        cmocka_unit_test(versions_agree_or_refuse),
        cmocka_unit_test(features_are_learned),
        cmocka_unit_test(real_handshakes_go_the_same_way),
        cmocka_unit_test(any_one_datagram_may_be_lost),
        cmocka_unit_test(it_begins_again_after_fifteen_seconds),
        cmocka_unit_test(a_second_challenge_gets_a_new_response),
        cmocka_unit_test(a_client_may_move_and_move_again),
        cmocka_unit_test(restart_requests_are_believed_by_rule),
        cmocka_unit_test(without_a_cookie_nothing_restarts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

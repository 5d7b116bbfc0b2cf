/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/conversation.h"

#include <epan/packet.h>

#include "plugin/first_pass/stream_trackers.h"
#include "plugin/packet-uerudp.h"
#include "plugin/prefs.h"

#define ADDRESS_BYTES_MAX 16

/* A pair of addresses with ports. Side 0 sent its first datagram. */
struct peers {
    struct uerudp_prefs_wire wire;
    int server_side; /* from a port or the table of servers; -1: unknown */
    struct ue_protocol_proof proof;
    struct uerudp_connection *connection; /* the current one */
};

/* One direction between two peers. Wireshark's conversation lookup costs five times as much for each packet. */
struct route {
    uint32_t size; /* bytes used in ends; the rest is zero */
    uint8_t ends[2 * (sizeof(uint32_t) + ADDRESS_BYTES_MAX)];
};

/* The value of a route in the table. */
struct leg {
    struct peers *peers;
    unsigned side; /* of the sender */
};

static uint32_t stream_count;
static size_t pending_count; /* peers whose detection waits for packets */
static wmem_tree_t *connections_by_stream;
static wmem_map_t *connections_by_cookie;
static wmem_map_t *legs_by_route;
static uint64_t route_secrets[2]; /* start value and odd factor of the route hash */

static unsigned cookie_hash(const void *cookie) {
    return wmem_strong_hash(cookie, UE_COOKIE_BYTES);
}

static gboolean cookie_equal(const void *a, const void *b) {
    return memcmp(a, b, UE_COOKIE_BYTES) == 0;
}

/* The secrets prevent an attacker from choosing addresses and ports that collide. Bytes after the size are zero. */
static unsigned route_hash(const void *key) {
    const struct route *route = key;
    uint64_t hash = route_secrets[0];
    for (size_t i = 0; i < route->size; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, route->ends + i, sizeof word);
        hash = (hash ^ word) * route_secrets[1];
        hash ^= hash >> 32;
    }
    return (unsigned)hash;
}

static gboolean route_equal(const void *a, const void *b) {
    const struct route *one = a;
    const struct route *other = b;
    return one->size == other->size && memcmp(one->ends, other->ends, one->size) == 0;
}

static uint64_t random_word(void) {
    return (uint64_t)g_random_int() << 32 | g_random_int();
}

static void reset(void) {
    stream_count = 0;
    pending_count = 0;
}

uint32_t uerudp_conversation_stream_count(void) {
    return stream_count;
}

const struct uerudp_connection *uerudp_conversation_of_stream(uint32_t stream) {
    const struct uerudp_connection *connection = wmem_tree_lookup32(connections_by_stream, stream);
    return connection != NULL && connection->stream == stream ? connection : NULL;
}

void uerudp_conversation_register(void) {
    route_secrets[0] = random_word();
    route_secrets[1] = random_word() | 1;
    connections_by_stream = wmem_tree_new_autoreset(wmem_epan_scope(), wmem_file_scope());
    connections_by_cookie = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), cookie_hash, cookie_equal);
    legs_by_route = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), route_hash, route_equal);
    register_init_routine(reset);
}

/* ---- peers ---- */

static void add_end(struct route *route, const address *address, uint32_t port) {
    size_t size = MIN((size_t)address->len, ADDRESS_BYTES_MAX);
    memcpy(route->ends + route->size, &port, sizeof port);
    if (size != 0) {
        memcpy(route->ends + route->size + sizeof port, address->data, size);
    }
    route->size += (uint32_t)(sizeof port + size);
}

static struct route route_between(const address *from, uint32_t from_port, const address *to, uint32_t to_port) {
    struct route route = {.size = 0};
    add_end(&route, from, from_port);
    add_end(&route, to, to_port);
    return route;
}

/* Side 0 is the source of the first datagram. */
static int side_of_end(enum uerudp_prefs_server_end end) {
    switch (end) {
    case UERUDP_PREFS_SERVER_SOURCE: return 0;
    case UERUDP_PREFS_SERVER_DESTINATION: return 1;
    case UERUDP_PREFS_SERVER_NONE: break;
    }
    return -1;
}

static enum uerudp_prefs_server_end end_with_our_port(const packet_info *pinfo) {
    bool source = uerudp_packet_is_our_port(pinfo->srcport);
    if (source == uerudp_packet_is_our_port(pinfo->destport)) {
        return UERUDP_PREFS_SERVER_NONE;
    }
    return source ? UERUDP_PREFS_SERVER_SOURCE : UERUDP_PREFS_SERVER_DESTINATION;
}

static const struct leg *add_leg(const struct route *route, struct peers *peers, unsigned side) {
    struct leg *leg = wmem_new(wmem_file_scope(), struct leg);
    *leg = (struct leg){peers, side};
    wmem_map_insert(legs_by_route, wmem_memdup(wmem_file_scope(), route, sizeof *route), leg);
    return leg;
}

static const struct leg *start_peers(const packet_info *pinfo, const struct route *there, const struct route *back) {
    struct peers *peers = wmem_new0(wmem_file_scope(), struct peers);
    const struct uerudp_prefs_wire *wire = uerudp_prefs_default_wire();
    enum uerudp_prefs_server_end server = uerudp_prefs_find_server(pinfo, &wire);
    peers->wire = *wire;
    peers->server_side = side_of_end(server != UERUDP_PREFS_SERVER_NONE ? server : end_with_our_port(pinfo));
    add_leg(back, peers, 1);
    return add_leg(there, peers, 0);
}

static const struct leg *find_leg(const packet_info *pinfo) {
    struct route there = route_between(&pinfo->src, pinfo->srcport, &pinfo->dst, pinfo->destport);
    return wmem_map_lookup(legs_by_route, &there);
}

static const struct leg *require_leg(const packet_info *pinfo) {
    struct route there = route_between(&pinfo->src, pinfo->srcport, &pinfo->dst, pinfo->destport);
    const struct leg *leg = wmem_map_lookup(legs_by_route, &there);
    if (leg != NULL) {
        return leg;
    }
    struct route back = route_between(&pinfo->dst, pinfo->destport, &pinfo->src, pinfo->srcport);
    return start_peers(pinfo, &there, &back);
}

/* ---- connections ---- */

/* New addresses whose first datagram is a packet: a connection that was captured from its start may have
   moved there; only a restart handshake shows that. */
static bool may_have_moved(const struct peers *peers, bool is_handshake) {
    return peers->connection == NULL && !is_handshake && wmem_map_size(connections_by_cookie) != 0;
}

static struct uerudp_connection *start_connection(struct peers *peers, const packet_info *pinfo, bool is_handshake) {
    struct uerudp_connection *connection = wmem_new0(wmem_file_scope(), struct uerudp_connection);
    const struct uerudp_prefs_wire *wire = &peers->wire;
    ue_detection_init(&connection->detection, &wire->settings, wire->generation, peers->server_side);
    connection->session = uerudp_decryption_session_new(pinfo, &connection->detection);
    connection->first_frame = pinfo->num;
    connection->is_unanswered = may_have_moved(peers, is_handshake);
    peers->connection = connection;
    return connection;
}

/* The connection gets a stream number and is shown from now on. */
static void prove(struct uerudp_connection *connection) {
    if (!connection->is_proven) {
        connection->is_proven = true;
        connection->stream = stream_count++;
        wmem_tree_insert32(connections_by_stream, connection->stream, connection);
    }
}

/* A restart handshake names the connection that it continues by that connection's cookie. */
static void join_earlier(struct uerudp_connection *connection, const struct ue_handshake_match *match) {
    if (!match->has_orig_cookie) {
        return;
    }
    struct uerudp_connection *earlier = wmem_map_lookup(connections_by_cookie, match->orig_cookie);
    if (earlier != NULL && earlier != connection) {
        ue_detection_adopt(&connection->detection, &earlier->detection);
        uerudp_decryption_session_adopt(connection->session, earlier->session);
        connection->stream = earlier->stream;
        uerudp_stream_trackers_merge(connection, earlier);
    }
}

static void remember_cookie(struct uerudp_connection *connection, const struct ue_handshake_match *match) {
    if (match->has_cookie && wmem_map_lookup(connections_by_cookie, match->cookie) != connection) {
        void *key = wmem_memdup(wmem_file_scope(), match->cookie, UE_COOKIE_BYTES);
        wmem_map_insert(connections_by_cookie, key, connection);
    }
}

/* ---- datagrams ---- */

static struct uerudp_frame_state *store_state(const struct leg *leg, const packet_info *pinfo,
                                              const struct uerudp_captured_bytes *bytes,
                                              const struct ue_handshake_match *match) {
    struct uerudp_frame_state *state = uerudp_frame_state_add(pinfo);
    struct uerudp_connection *connection = leg->peers->connection;
    state->connection = connection;
    if (bytes->is_cut) {
        ue_detection_feed_truncated(&connection->detection, leg->side, &state->decode);
    } else {
        ue_detection_feed(&connection->detection, leg->side, bytes->base, bytes->size, match, &state->decode);
        uerudp_decryption_session_read_token(connection->session, &connection->detection, &state->decode, bytes->base,
                                             bytes->size);
    }
    return state;
}

static bool detect_handshake(const struct uerudp_prefs_wire *wire, const struct uerudp_captured_bytes *bytes,
                             struct ue_handshake_match *match) {
    return !bytes->is_cut && ue_profile_match_handshake(&wire->settings, bytes->base, bytes->size, match);
}

bool uerudp_conversation_any_is_pending(void) {
    return pending_count != 0;
}

/* Whether this packet may prove that its peers speak this protocol. */
static bool may_prove(const packet_info *pinfo, const struct uerudp_captured_bytes *bytes) {
    const struct leg *leg = pending_count != 0 && !bytes->is_cut ? find_leg(pinfo) : NULL;
    return leg != NULL && ue_protocol_proof_needs_packets(&leg->peers->proof);
}

static bool is_proof(struct peers *peers, unsigned side, const struct uerudp_captured_bytes *bytes,
                     const struct ue_handshake_match *match) {
    struct ue_protocol_proof *proof = &peers->proof;
    bool waited = ue_protocol_proof_needs_packets(proof);
    bool is_proof = false;
    if (match != NULL) {
        is_proof = ue_protocol_proof_add_handshake(proof, side, match);
    } else if (waited) {
        is_proof = ue_protocol_proof_add_packet(proof, &peers->wire.settings, side, bytes->base, bytes->size);
    }
    if (is_proof) {
        proof->patience = 0;
    }
    pending_count = pending_count - waited + ue_protocol_proof_needs_packets(proof);
    return is_proof;
}

const struct uerudp_frame_state *uerudp_conversation_observe(const packet_info *pinfo,
                                                             const struct uerudp_captured_bytes *bytes, bool is_ours) {
    struct ue_handshake_match match;
    if (!is_ours && !detect_handshake(uerudp_prefs_default_wire(), bytes, &match) && !may_prove(pinfo, bytes)) {
        return NULL;
    }
    const struct leg *leg = require_leg(pinfo);
    struct peers *peers = leg->peers;
    bool is_handshake = detect_handshake(&peers->wire, bytes, &match);
    struct uerudp_connection *connection = peers->connection;
    if (connection == NULL || (is_handshake && ue_detection_is_new_connection(&connection->detection, &match))) {
        connection = start_connection(peers, pinfo, is_handshake);
    }
    struct uerudp_frame_state *state = store_state(leg, pinfo, bytes, is_handshake ? &match : NULL);
    if (is_ours || is_proof(peers, leg->side, bytes, is_handshake ? &match : NULL)) {
        prove(connection);
    }
    if (is_handshake) {
        join_earlier(connection, &match);
        remember_cookie(connection, &match);
    }
    if (uerudp_prefs_analyse()) {
        uerudp_stream_trackers_datagram(state, pinfo, bytes, is_handshake ? &match : NULL);
    }
    return state;
}

const struct uerudp_frame_state *uerudp_conversation_find_frame_state(const packet_info *pinfo) {
    struct uerudp_frame_state *state = uerudp_frame_state_find(pinfo);
    if (state != NULL && state->decode.number != 0) {
        state->decode.packet_ids = ue_detection_packet_ids(&state->connection->detection, &state->decode);
    }
    return state;
}

bool uerudp_conversation_is_foreign(const struct uerudp_frame_state *state, const struct uerudp_captured_bytes *bytes) {
    const struct ue_detection *detection = &state->connection->detection;
    return bytes->is_cut ? ue_detection_is_doubtful(detection, &state->decode)
                         : ue_detection_is_foreign(detection, &state->decode, bytes->base, bytes->size);
}

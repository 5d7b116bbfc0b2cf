/* SPDX-License-Identifier: MIT */
#include <uerudp/server.h>
#include <uerudp/time_ns.h>

#include "tools/endpoint/base/siphash.h"
#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/login/login.h"
#include "tools/endpoint/server/ddos.h"
#include "tools/endpoint/server/server_memory.h"
#include "tools/endpoint/server/server_table.h"

#define MAX_CONNECTIONS 256
#define MEMORY_BYTES_BASE ((size_t)16 << 20)
#define MEMORY_BYTES_PER_CONNECTION ((size_t)768 << 10)
#define MAX_RECENT 1024
#define MAX_REPLIES 256
#define RECENT_NS (180 * UE_NS_PER_S)
#define LINGER_NS UE_NS_PER_S /* of closed connections that repeat their close (endpoint.md 39) */

/* A handshake reply to an address without connection. */
struct reply {
    struct ue_host to;
    uint8_t size_bytes;
    uint8_t bytes[UE_LISTENER_REPLY_BYTES];
};

/* A client, with what the program does not see; the peer stands first. */
struct record {
    struct ue_peer peer;
    struct ue_login login;
    struct ue_machine *machine;
};

/* An address whose connection ended. */
struct recent {
    struct ue_host address;
    uint64_t until_ns;
};

struct ue_server {
    struct ue_server_config config;
    struct ue_share share;
    size_t peak_bytes; /* of everything, at the end of ticks */
    struct ue_machines machines;
    struct ue_random random;
    struct ue_listener *listener;
    struct ue_ddos ddos;
    bool in_frame; /* the receiving half of a tick, as the flood detection counts it */
    uint8_t hash_key[UE_SIPHASH_KEY_BYTES];
    uint8_t key[UE_KEY_BYTES]; /* what config.conn.key points to, where it is given */
    struct ue_peer **peers;
    uint32_t peer_count;
    struct ue_table by_address;
    struct ue_table by_cookie;
    struct recent *recent; /* a ring: recent_next is overwritten next */
    uint32_t recent_next;
    struct ue_table recent_by_address;
    struct reply *replies; /* a ring */
    uint32_t reply_begin;
    uint32_t reply_count;
    uint32_t datagram_turn; /* peer whose outputs are taken next */
    uint32_t event_turn;
    struct ue_server_counters counters;
    struct ue_refusal refusal; /* of the newest datagram */
};

/* ---- creation ---- */

/* False: the limit of memory exceeds SIZE_MAX. */
static bool fill_defaults(struct ue_server_config *config) {
    config->conn.role = UE_ROLE_SERVER;
    config->max_connections = config->max_connections != 0 ? config->max_connections : MAX_CONNECTIONS;
    config->max_recent = config->max_recent != 0 ? config->max_recent : MAX_RECENT;
    config->max_replies = config->max_replies != 0 ? config->max_replies : MAX_REPLIES;
    config->recent_ns = config->recent_ns != 0 ? config->recent_ns : RECENT_NS;
    if (config->memory_limit_bytes != 0) {
        return true;
    }
    size_t bytes;
    return !__builtin_mul_overflow(config->max_connections, MEMORY_BYTES_PER_CONNECTION, &bytes) &&
           !__builtin_add_overflow(bytes, MEMORY_BYTES_BASE, &config->memory_limit_bytes);
}

/* The server's numbers must not be those that a listener or a connection with the same seed would show on the wire. */
static void init_random(struct ue_server *s) {
    uint8_t seed[UE_SEED_BYTES] = {0};
    if (s->config.conn.seed != NULL) {
        memcpy(seed, s->config.conn.seed, sizeof seed);
    }
    for (size_t i = 0; i < sizeof seed; i++) {
        seed[i] ^= 0x5a;
    }
    ue_random_init(&s->random, seed);
    s->config.conn.seed = NULL;
    ue_random_fill(&s->random, s->hash_key, sizeof s->hash_key);
}

static struct ue_listener *new_listener(struct ue_server *s, uint64_t now_ns) {
    uint8_t seed[UE_SEED_BYTES];
    ue_random_fill(&s->random, seed, sizeof seed);
    struct ue_listener_config config = {
        .profile = s->config.conn.profile,
        .settings = s->config.conn.settings,
        .seed = seed,
        .network_version = s->config.conn.network_version,
        .network_features = s->config.conn.network_features,
        .min_version = s->config.conn.min_handshake_version,
        .max_version = s->config.conn.max_handshake_version,
        .session_id = s->config.session_id,
        .enforce_network_version = s->config.enforce_network_version,
        .verify_magic = s->config.verify_magic,
        .restart_requests_per_second = s->config.restart_requests_per_second,
        .restart_requests_per_machine = s->config.restart_requests_per_machine,
    };
    return ue_listener_new(&s->share.allocator, &config, now_ns);
}

static bool take_memory(struct ue_server *s) {
    s->peers = ue_share_alloc_zeroed(&s->share, s->config.max_connections, sizeof(struct ue_peer *));
    s->recent = ue_share_alloc_zeroed(&s->share, s->config.max_recent, sizeof *s->recent);
    s->replies = ue_share_alloc_zeroed(&s->share, s->config.max_replies, sizeof *s->replies);
    return s->peers != NULL && s->recent != NULL && s->replies != NULL &&
           ue_table_init(&s->by_address, &s->share, s->config.max_connections) &&
           ue_table_init(&s->by_cookie, &s->share, s->config.max_connections) &&
           ue_table_init(&s->recent_by_address, &s->share, s->config.max_recent) &&
           ue_machines_init(&s->machines, &s->share, s->hash_key, s->config.max_connections);
}

/* Whether the settings can be used at all: an error now is better than one for each client. */
static bool is_usable(const struct ue_allocator *allocator, struct ue_conn_config config) {
    config.memory_limit_bytes = 0; /* a matter of each connection */
    struct ue_conn *trial = ue_conn_new(allocator, &config);
    ue_conn_free(trial);
    return trial != NULL;
}

struct ue_server *ue_server_new(const struct ue_allocator *allocator, const struct ue_server_config *config,
                                uint64_t now_ns) {
    struct ue_share share;
    ue_share_init(&share, allocator, SIZE_MAX);
    bool can_login = config->conn.profile != NULL &&
                     (config->conn.no_login || ue_login_check(&config->conn, &config->login) == UE_OK);
    struct ue_server *s = can_login ? ue_share_alloc_zeroed(&share, 1, sizeof *s) : NULL;
    if (s == NULL) {
        return NULL;
    }
    s->config = *config;
    s->share = share;
    if (!fill_defaults(&s->config)) {
        ue_server_free(s);
        return NULL;
    }
    s->share.limit_bytes = s->config.memory_limit_bytes;
    if (config->conn.key != NULL) {
        memcpy(s->key, config->conn.key, sizeof s->key);
        s->config.conn.key = s->key;
    }
    init_random(s);
    s->listener = new_listener(s, now_ns);
    if (s->listener == NULL || ue_ddos_init(&s->ddos, &config->ddos) != UE_OK || !take_memory(s) ||
        !is_usable(&s->share.allocator, s->config.conn)) {
        ue_server_free(s);
        return NULL;
    }
    ue_machines_divide(&s->machines, s->config.max_connections, sizeof(struct record));
    return s;
}

static struct record *record_of(struct ue_peer *peer) {
    return (struct record *)peer;
}

static void free_peer(struct ue_server *s, struct ue_peer *peer) {
    ue_conn_free(peer->conn);
    ue_machines_leave(&s->machines, record_of(peer)->machine);
    ue_share_free_block(&s->share, peer);
}

void ue_server_free(struct ue_server *s) {
    if (s == NULL) {
        return;
    }
    for (uint32_t i = 0; i < s->peer_count; i++) {
        free_peer(s, s->peers[i]);
    }
    ue_listener_free(s->listener);
    ue_table_free(&s->by_address, &s->share);
    ue_table_free(&s->by_cookie, &s->share);
    ue_machines_free(&s->machines);
    ue_table_free(&s->recent_by_address, &s->share);
    ue_share_free_block(&s->share, s->peers);
    ue_share_free_block(&s->share, s->recent);
    ue_share_free_block(&s->share, s->replies);
    struct ue_share share = s->share;
    ue_share_free_block(&share, s);
}

/* ---- who is who ---- */

static bool same_address(const struct ue_host *a, const struct ue_host *b) {
    return a->size_bytes == b->size_bytes && memcmp(a->text, b->text, a->size_bytes) == 0;
}

static uint64_t hash_of(const struct ue_server *s, const struct ue_host *address) {
    return ue_siphash(s->hash_key, address->text, address->size_bytes);
}

struct ue_peer *ue_server_find(const struct ue_server *s, const struct ue_host *address) {
    uint64_t hash = hash_of(s, address);
    struct ue_peer *peer;
    for (size_t at = 0; (peer = ue_table_next(&s->by_address, hash, &at)) != NULL;) {
        if (same_address(&peer->address, address)) {
            break;
        }
    }
    return peer;
}

static uint64_t cookie_hash(const struct ue_server *s, const uint8_t *cookie) {
    return ue_siphash(s->hash_key, cookie, UE_COOKIE_BYTES);
}

static struct ue_peer *find_by_cookie(const struct ue_server *s, const uint8_t *cookie) {
    struct ue_peer *peer;
    for (size_t at = 0; (peer = ue_table_next(&s->by_cookie, cookie_hash(s, cookie), &at)) != NULL;) {
        if (memcmp(peer->conn->handshake.accepted.cookie, cookie, UE_COOKIE_BYTES) == 0) {
            break;
        }
    }
    return peer;
}

static void remember(struct ue_server *s, uint64_t now_ns, const struct ue_host *address) {
    struct recent *r = &s->recent[s->recent_next];
    s->recent_next = (s->recent_next + 1) % s->config.max_recent;
    ue_table_remove(&s->recent_by_address, hash_of(s, &r->address), r);
    *r = (struct recent){*address, now_ns + s->config.recent_ns};
    ue_table_put(&s->recent_by_address, hash_of(s, address), r);
}

/* endpoint.md 7.4. */
static bool has_left(const struct ue_server *s, uint64_t now_ns, const struct ue_host *address) {
    uint64_t hash = hash_of(s, address);
    const struct recent *r;
    for (size_t at = 0; (r = ue_table_next(&s->recent_by_address, hash, &at)) != NULL;) {
        if (now_ns < r->until_ns && same_address(&r->address, address)) {
            return true;
        }
    }
    return false;
}

/* ---- addresses without connection ---- */

/* False: no room, the reply is lost. */
static bool enqueue_reply(struct ue_server *s, const struct ue_host *to, const uint8_t *bytes, size_t size_bytes) {
    if (size_bytes == 0) {
        return true; /* the oldest layout has no Ack */
    }
    if (s->reply_count == s->config.max_replies) {
        s->counters.replies_lost++;
        return false;
    }
    struct reply *r = &s->replies[(s->reply_begin + s->reply_count++) % s->config.max_replies];
    r->to = *to;
    r->size_bytes = (uint8_t)size_bytes;
    memcpy(r->bytes, bytes, size_bytes);
    return true;
}

static struct ue_conn *new_conn(struct ue_server *s, uint64_t now_ns, const struct ue_accepted *accepted) {
    uint8_t
        seed[UE_SEED_BYTES]; /* never the same for two: they may share a key, and initialisation vectors come from it */
    ue_random_fill(&s->random, seed, sizeof seed);
    struct ue_conn_config config = s->config.conn;
    config.seed = seed;
    config.client_id = accepted->client_id;
    struct ue_conn *conn = ue_conn_new(&s->share.allocator, &config);
    if (conn != NULL) {
        ue_conn_accept(conn, now_ns, accepted);
    }
    return conn;
}

static void insert_peer(struct ue_server *s, struct ue_peer *peer) {
    peer->index = s->peer_count;
    s->peers[s->peer_count++] = peer;
    ue_table_put(&s->by_address, hash_of(s, &peer->address), peer);
    ue_table_put(&s->by_cookie, cookie_hash(s, peer->conn->handshake.accepted.cookie), peer);
}

static bool is_machine_full(const struct ue_server *s, const struct ue_host *from) {
    const struct ue_machine *machine = s->config.max_per_machine != 0 ? ue_machines_find(&s->machines, from) : NULL;
    return machine != NULL && machine->connections >= s->config.max_per_machine;
}

/* False: there is no place or memory for another (endpoint.md 2.2). */
static bool add_peer(struct ue_server *s, uint64_t now_ns, const struct ue_host *from,
                     const struct ue_accepted *accepted) {
    bool is_full = s->peer_count >= s->config.max_connections;
    struct record *record = is_full ? NULL : ue_share_alloc_zeroed(&s->share, 1, sizeof *record);
    if (record == NULL) {
        return false;
    }
    struct ue_peer *peer = &record->peer;
    peer->conn = new_conn(s, now_ns, accepted);
    bool is_made =
        peer->conn != NULL && ue_machines_join(&s->machines, &record->machine, from, &peer->conn->common.share);
    bool has_login = !s->config.conn.no_login;
    if (!is_made || (has_login && ue_login_init(&record->login, peer->conn, &s->config.login) != UE_OK)) {
        free_peer(s, peer);
        return false;
    }
    peer->login = has_login ? &record->login : NULL;
    peer->address = *from;
    peer->accepted_ns = now_ns;
    insert_peer(s, peer);
    s->counters.accepted++;
    return true;
}

/* The client of a known cookie is somewhere else now: everything goes on as before (endpoint.md 2.2, 5.4). */
static bool rebind(struct ue_server *s, uint64_t now_ns, const struct ue_host *from,
                   const struct ue_accepted *accepted) {
    struct ue_peer *peer = find_by_cookie(s, accepted->cookie);
    if (peer == NULL || ue_conn_state(peer->conn) == UE_CONN_CLOSED) {
        return false;
    }
    ue_machines_join(&s->machines, &record_of(peer)->machine, from,
                     &peer->conn->common.share); /* else it counts where it was */
    ue_table_remove(&s->by_address, hash_of(s, &peer->address), peer);
    peer->address = *from;
    ue_table_put(&s->by_address, hash_of(s, from), peer);
    ue_conn_rebind(peer->conn, now_ns, accepted);
    s->counters.rebound++;
    return true;
}

/* Creates or rebinds the connection of a client whose cookie is valid (endpoint.md 2.2, 5.4). */
static enum ue_refusal_reason accept_client(struct ue_server *s, uint64_t now_ns, const struct ue_host *from,
                                            const struct ue_accepted *accepted) {
    if (accepted->restarted && !rebind(s, now_ns, from, accepted)) {
        s->counters.refused_restart++;
        return UE_REFUSAL_NO_CONNECTION;
    }
    if (accepted->restarted) {
        return UE_REFUSAL_NONE;
    }
    if (find_by_cookie(s, accepted->cookie) != NULL) {
        s->counters.late_responses++;
        return UE_REFUSAL_LATE_RESPONSE;
    }
    if (is_machine_full(s, from)) {
        s->counters.refused_machine++;
        return UE_REFUSAL_ADDRESS_FULL;
    }
    if (!add_peer(s, now_ns, from, accepted)) {
        s->counters.refused_full++;
        return UE_REFUSAL_FULL;
    }
    return UE_REFUSAL_NONE;
}

/* endpoint.md 2.2, 5.1, 7.3, 7.4. */
static void receive_from_unknown(struct ue_server *s, uint64_t now_ns, const struct ue_host *from, const uint8_t *bytes,
                                 size_t size_bytes) {
    bool left = has_left(s, now_ns, from);
    s->counters.unknown++;
    s->counters.stragglers += left;
    if (!ue_ddos_allow_unknown(&s->ddos, now_ns, left)) {
        s->counters.dropped++;
        return;
    }
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    size_t reply_bytes = 0;
    struct ue_accepted accepted;
    enum ue_listener_result result =
        ue_listener_receive(s->listener, now_ns, from, !left, bytes, size_bytes, reply, &reply_bytes, &accepted);
    s->refusal = ue_listener_refusal(s->listener);
    if (result == UE_LISTENER_ACCEPT) {
        s->refusal.reason = accept_client(s, now_ns, from, &accepted);
    }
    bool is_accepted = result == UE_LISTENER_ACCEPT && s->refusal.reason == UE_REFUSAL_NONE;
    if (is_accepted || result == UE_LISTENER_REPLY) { /* also to a client whose version is refused */
        enqueue_reply(s, from, reply, reply_bytes);
    }
}

/* ---- inputs ---- */

static void begin_frame(struct ue_server *s, uint64_t now_ns) {
    if (!s->in_frame) {
        s->in_frame = true;
        ue_ddos_begin_frame(&s->ddos, now_ns);
    }
}

/* endpoint.md 7.1, 7.2, 34.2. */
void ue_server_receive(struct ue_server *s, uint64_t now_ns, const struct ue_host *from, const uint8_t *bytes,
                       size_t size_bytes) {
    begin_frame(s, now_ns);
    s->refusal = (struct ue_refusal){0};
    struct ue_peer *peer = ue_server_find(s, from);
    if (size_bytes == 0) {
        s->counters.empty++;
        ue_ddos_count_bad(&s->ddos);
    } else if (peer == NULL) {
        receive_from_unknown(s, now_ns, from, bytes, size_bytes);
    } else if (ue_ddos_allow_connected(&s->ddos, now_ns)) {
        ue_conn_receive(peer->conn, now_ns, bytes, size_bytes);
    } else {
        s->counters.dropped++;
    }
}

/* endpoint.md 7.5. */
void ue_server_unreachable(struct ue_server *s, uint64_t now_ns, const struct ue_host *address) {
    begin_frame(s, now_ns);
    s->counters.unreachable++;
    ue_ddos_count_error(&s->ddos);
    struct ue_peer *peer = ue_server_find(s, address);
    if (peer != NULL && !(s->config.allow_unreachable && record_of(peer)->login.status.state == UE_LOGIN_DONE)) {
        ue_conn_close(peer->conn, now_ns, UE_CLOSE_CONNECTION_LOST);
    }
}

/* endpoint.md 29.1. */
void ue_server_end_receive(struct ue_server *s, uint64_t now_ns) {
    begin_frame(s, now_ns);
    for (uint32_t i = 0; i < s->peer_count; i++) {
        ue_conn_end_receive(s->peers[i]->conn, now_ns);
    }
    ue_ddos_end_frame(&s->ddos, now_ns);
    s->in_frame = false;
}

/* ---- the end of connections ---- */

static void add_counters(struct ue_counters *sum, const struct ue_counters *more) {
#define UE_COUNTER(id, sentence) sum->id += more->id;
#include <uerudp/counters.def>
#undef UE_COUNTER
}

/* endpoint.md 7.4, 32.3. */
static void remove_peer(struct ue_server *s, uint64_t now_ns, struct ue_peer *peer) {
    remember(s, now_ns, &peer->address);
    add_counters(&s->counters.ended, ue_conn_counters(peer->conn));
    s->counters.closed++;
    ue_table_remove(&s->by_address, hash_of(s, &peer->address), peer);
    ue_table_remove(&s->by_cookie, cookie_hash(s, peer->conn->handshake.accepted.cookie), peer);
    s->peers[peer->index] = s->peers[--s->peer_count];
    s->peers[peer->index]->index = peer->index;
    free_peer(s, peer);
}

static bool is_over(const struct ue_server *s, uint64_t now_ns, const struct ue_peer *peer) {
    bool is_drained = peer->conn->sender.datagrams.first == NULL && peer->conn->common.events.first == NULL;
    uint64_t linger_ns = s->config.conn.options.resend_close ? LINGER_NS : 0;
    return is_drained && now_ns - peer->conn->common.life.closed_ns >= linger_ns;
}

static void record_memory(struct ue_server *s) {
    size_t bytes = s->share.used_bytes;
    for (uint32_t i = 0; i < s->peer_count; i++) {
        bytes += ue_conn_memory_bytes(s->peers[i]->conn, NULL);
    }
    s->peak_bytes = bytes > s->peak_bytes ? bytes : s->peak_bytes;
}

size_t ue_server_peak_memory_bytes(const struct ue_server *s) {
    return s->peak_bytes;
}

void ue_server_tick(struct ue_server *s, uint64_t now_ns) {
    for (uint32_t i = s->peer_count; i-- > 0;) {
        struct ue_peer *peer = s->peers[i];
        ue_conn_tick(peer->conn, now_ns);
        if (ue_conn_state(peer->conn) == UE_CONN_CLOSED && is_over(s, now_ns, peer)) {
            remove_peer(s, now_ns, peer);
        }
    }
    record_memory(s);
}

uint64_t ue_server_deadline(const struct ue_server *s) {
    uint64_t deadline = UINT64_MAX;
    for (uint32_t i = 0; i < s->peer_count; i++) {
        uint64_t of_peer = ue_conn_deadline(s->peers[i]->conn);
        deadline = of_peer < deadline ? of_peer : deadline;
    }
    return deadline;
}

/* ---- outputs ---- */

bool ue_server_next_datagram(struct ue_server *s, struct ue_host *to, struct ue_bytes *datagram) {
    if (s->reply_count > 0) {
        const struct reply *r = &s->replies[s->reply_begin];
        s->reply_begin = (s->reply_begin + 1) % s->config.max_replies;
        s->reply_count--;
        *to = r->to;
        *datagram = (struct ue_bytes){r->bytes, r->size_bytes};
        return true;
    }
    for (uint32_t tried = 0; tried < s->peer_count; tried++, s->datagram_turn++) {
        struct ue_peer *peer = s->peers[s->datagram_turn % s->peer_count];
        if (ue_conn_next_datagram(peer->conn, datagram)) {
            *to = peer->address;
            return true;
        }
    }
    return false;
}

bool ue_server_next_event(struct ue_server *s, struct ue_peer **peer, struct ue_event *event) {
    for (uint32_t tried = 0; tried < s->peer_count; tried++, s->event_turn++) {
        *peer = s->peers[s->event_turn % s->peer_count];
        if (ue_conn_next_event((*peer)->conn, event)) {
            return true;
        }
    }
    return false;
}

uint32_t ue_server_count(const struct ue_server *s) {
    return s->peer_count;
}

struct ue_peer *ue_server_peer(const struct ue_server *s, uint32_t index) {
    return index < s->peer_count ? s->peers[index] : NULL;
}

struct ue_refusal ue_server_refusal(const struct ue_server *s) {
    return s->refusal;
}

const struct ue_server_counters *ue_server_counters(const struct ue_server *s) {
    return &s->counters;
}

const struct ue_listener_counters *ue_server_listener_counters(const struct ue_server *s) {
    return ue_listener_counters(s->listener);
}

uint32_t ue_server_ddos_severity(const struct ue_server *s) {
    return s->ddos.state;
}

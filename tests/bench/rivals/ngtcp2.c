/* SPDX-License-Identifier: MIT */
/* Debian's ngtcp2 with GnuTLS in virtual time, which it takes as an argument: reliable messages on one stream of each
   side, unreliable ones as datagrams, which go first. CUBIC, as it comes. */
#include "tests/bench/endpoint/rival.h"

#ifndef BENCH_HAVE_NGTCP2

const struct rival *const rival_ngtcp2 = NULL;

#else

#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <gnutls/crypto.h>

#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>

#include "tests/bench/rivals/quic_tls.h"

#define NS_PER_MS UINT64_C(1000000)
#define STREAM_BYTES_MAX (20u << 20) /* of a whole run: unacknowledged data may not move */
#define MESSAGE_BYTES_MAX 1024
#define PACKET_BYTES_MAX 1500
#define WAITING_MAX 64
#define CID_BYTES 8
#define HANDSHAKE_STEPS 200
#define LIMIT (UINT64_C(1) << 40)

struct waiting {
    size_t size_bytes;
    uint8_t bytes[PACKET_BYTES_MAX];
};

struct quic_end {
    struct quic_pair *pair;
    enum rival_side side;
    ngtcp2_conn *conn;
    gnutls_session_t session;
    ngtcp2_crypto_conn_ref ref;
    struct sockaddr_in local;
    struct sockaddr_in remote;
    int64_t stream;
    uint8_t *sent; /* of the stream, with a length of two bytes in front of each message */
    size_t sent_bytes;
    size_t written_bytes;
    struct waiting unreliable[WAITING_MAX];
    uint32_t unreliable_count;
    uint8_t received[2 + MESSAGE_BYTES_MAX]; /* the message that is being put together */
    size_t received_bytes;
    struct waiting line[WAITING_MAX]; /* during the handshake: what the peer sent */
    uint32_t line_count;
};

struct quic_pair {
    struct rival_host host;
    struct quic_tls tls;
    struct quic_end ends[2];
    bool is_connecting;
    bool is_dead;
};

/* ---- callbacks ---- */

static void fill_random(uint8_t *bytes, size_t size_bytes, const ngtcp2_rand_ctx *context) {
    gnutls_rnd(GNUTLS_RND_NONCE, bytes, size_bytes);
}

static int new_connection_id(ngtcp2_conn *conn, ngtcp2_cid *id, uint8_t *token, size_t id_bytes, void *user) {
    fill_random(id->data, id_bytes, NULL);
    id->datalen = id_bytes;
    fill_random(token, NGTCP2_STATELESS_RESET_TOKENLEN, NULL);
    return 0;
}

static size_t message_bytes(const struct quic_end *end) {
    return end->received_bytes < 2 ? SIZE_MAX : (size_t)end->received[0] | (size_t)end->received[1] << 8;
}

static int receive_stream(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *data,
                          size_t size_bytes, void *user, void *stream_user) {
    struct quic_end *end = user;
    for (size_t i = 0; i < size_bytes; i++) {
        end->received[end->received_bytes++] = data[i];
        if (end->received_bytes >= 2 && end->received_bytes - 2 == message_bytes(end)) {
            end->pair->host.deliver(end->pair->host.user, !end->side, end->received + 2, end->received_bytes - 2);
            end->received_bytes = 0;
        }
    }
    ngtcp2_conn_extend_max_stream_offset(conn, stream, size_bytes);
    ngtcp2_conn_extend_max_offset(conn, size_bytes);
    return 0;
}

static int receive_datagram(ngtcp2_conn *conn, uint32_t flags, const uint8_t *data, size_t size_bytes, void *user) {
    struct quic_end *end = user;
    end->pair->host.deliver(end->pair->host.user, !end->side, data, size_bytes);
    return 0;
}

static const ngtcp2_callbacks callbacks = {
    .client_initial = ngtcp2_crypto_client_initial_cb,
    .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
    .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
    .encrypt = ngtcp2_crypto_encrypt_cb,
    .decrypt = ngtcp2_crypto_decrypt_cb,
    .hp_mask = ngtcp2_crypto_hp_mask_cb,
    .recv_stream_data = receive_stream,
    .recv_retry = ngtcp2_crypto_recv_retry_cb,
    .rand = fill_random,
    .get_new_connection_id = new_connection_id,
    .update_key = ngtcp2_crypto_update_key_cb,
    .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
    .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
    .recv_datagram = receive_datagram,
    .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
    .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
};

/* ---- making ---- */

static ngtcp2_path path_of(struct quic_end *end) {
    return (ngtcp2_path){.local = {(ngtcp2_sockaddr *)&end->local, sizeof end->local},
                         .remote = {(ngtcp2_sockaddr *)&end->remote, sizeof end->remote}};
}

static ngtcp2_conn *get_conn(ngtcp2_crypto_conn_ref *ref) {
    return ((struct quic_end *)ref->user_data)->conn;
}

static void fill_settings(ngtcp2_settings *settings, ngtcp2_transport_params *params, uint64_t now_ns) {
    ngtcp2_settings_default(settings);
    settings->initial_ts = now_ns;
    ngtcp2_transport_params_default(params);
    params->initial_max_stream_data_uni = LIMIT;
    params->initial_max_data = LIMIT;
    params->initial_max_streams_uni = 1;
    params->max_idle_timeout = 0;
    params->max_datagram_frame_size = 65535;
}

/* The server's connection is made of the client's first packet, which `first` describes; the client's needs none. */
static bool make_conn(struct quic_end *end, const ngtcp2_pkt_hd *first, uint64_t now_ns) {
    ngtcp2_settings settings;
    ngtcp2_transport_params params;
    ngtcp2_cid own = {.datalen = CID_BYTES};
    ngtcp2_cid peer = {.datalen = CID_BYTES};
    ngtcp2_path path = path_of(end);
    fill_settings(&settings, &params, now_ns);
    fill_random(own.data, own.datalen, NULL);
    fill_random(peer.data, peer.datalen, NULL);
    int error;
    if (first != NULL) {
        params.original_dcid = first->dcid;
        error = ngtcp2_conn_server_new(&end->conn, &first->scid, &own, &path, first->version, &callbacks, &settings,
                                       &params, NULL, end);
    } else {
        error = ngtcp2_conn_client_new(&end->conn, &peer, &own, &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings,
                                       &params, NULL, end);
    }
    if (error != 0) {
        return false;
    }
    end->ref = (ngtcp2_crypto_conn_ref){.get_conn = get_conn, .user_data = end};
    end->session = quic_tls_session(&end->pair->tls, first != NULL, &end->ref);
    ngtcp2_conn_set_tls_native_handle(end->conn, end->session);
    return end->session != NULL;
}

static void init_end(struct quic_pair *pair, enum rival_side side) {
    struct quic_end *end = &pair->ends[side];
    end->pair = pair;
    end->side = side;
    end->stream = -1;
    end->local = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)(4000 + side)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    end->remote = end->local;
    end->remote.sin_port = htons((uint16_t)(4000 + !side));
    end->sent = malloc(STREAM_BYTES_MAX);
}

static void destroy(void *user) {
    struct quic_pair *pair = user;
    for (size_t side = 0; side < 2; side++) {
        struct quic_end *end = &pair->ends[side];
        ngtcp2_conn_del(end->conn);
        if (end->session != NULL) {
            gnutls_deinit(end->session);
        }
        free(end->sent);
    }
    quic_tls_free(&pair->tls);
    free(pair);
}

/* ---- writing ---- */

/* Writes one datagram or part of the stream into the packet; NGTCP2_ERR_WRITE_MORE: the packet has room for more. */
static ngtcp2_ssize write_more(struct quic_end *end, uint8_t *packet, bool *is_blocked, uint64_t now_ns) {
    ngtcp2_pkt_info info;
    ngtcp2_ssize written = 0;
    if (end->unreliable_count > 0) {
        struct waiting *first = &end->unreliable[0];
        ngtcp2_vec data = {first->bytes, first->size_bytes};
        int accepted = 0;
        written = ngtcp2_conn_writev_datagram(end->conn, NULL, &info, packet, PACKET_BYTES_MAX, &accepted,
                                              NGTCP2_WRITE_DATAGRAM_FLAG_MORE, 0, &data, 1, now_ns);
        if (accepted) {
            memmove(first, first + 1, --end->unreliable_count * sizeof *first);
        }
        return written;
    }
    if (end->stream >= 0 && !*is_blocked && end->written_bytes < end->sent_bytes) {
        ngtcp2_vec data = {end->sent + end->written_bytes, end->sent_bytes - end->written_bytes};
        ngtcp2_ssize taken = -1;
        written = ngtcp2_conn_writev_stream(end->conn, NULL, &info, packet, PACKET_BYTES_MAX, &taken,
                                            NGTCP2_WRITE_STREAM_FLAG_MORE, end->stream, &data, 1, now_ns);
        end->written_bytes += taken > 0 ? (size_t)taken : 0;
        *is_blocked = written == NGTCP2_ERR_STREAM_DATA_BLOCKED;
        return *is_blocked ? NGTCP2_ERR_WRITE_MORE : written;
    }
    return ngtcp2_conn_writev_stream(end->conn, NULL, &info, packet, PACKET_BYTES_MAX, NULL,
                                     NGTCP2_WRITE_STREAM_FLAG_NONE, -1, NULL, 0, now_ns);
}

static void emit(struct quic_end *end, const uint8_t *packet, size_t size_bytes) {
    struct quic_end *peer = &end->pair->ends[!end->side];
    if (!end->pair->is_connecting) {
        end->pair->host.emit(end->pair->host.user, end->side, packet, size_bytes);
    } else if (peer->line_count < WAITING_MAX) {
        struct waiting *w = &peer->line[peer->line_count++];
        w->size_bytes = size_bytes;
        memcpy(w->bytes, packet, size_bytes);
    }
}

static void write_all(struct quic_end *end, uint64_t now_ns) {
    uint8_t packet[PACKET_BYTES_MAX];
    bool is_blocked = false;
    ngtcp2_ssize written;
    if (end->conn == NULL || end->pair->is_dead) {
        return;
    }
    while ((written = write_more(end, packet, &is_blocked, now_ns)) != 0) {
        if (written > 0) {
            emit(end, packet, (size_t)written);
        } else if (written != NGTCP2_ERR_WRITE_MORE) {
            end->pair->is_dead = true;
            return;
        }
    }
    ngtcp2_conn_update_pkt_tx_time(end->conn, now_ns);
}

/* ---- the pair ---- */

static void receive(void *user, enum rival_side at, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct quic_pair *pair = user;
    struct quic_end *end = &pair->ends[at];
    ngtcp2_pkt_hd first;
    if (end->conn == NULL && (ngtcp2_accept(&first, bytes, size_bytes) != 0 || !make_conn(end, &first, now_ns))) {
        pair->is_dead = true;
    }
    ngtcp2_path path = path_of(end);
    ngtcp2_pkt_info info = {0};
    if (!pair->is_dead && ngtcp2_conn_read_pkt(end->conn, &path, &info, bytes, size_bytes, now_ns) != 0) {
        pair->is_dead = true;
    }
}

static void tick(void *user, enum rival_side at, uint64_t now_ns) {
    struct quic_pair *pair = user;
    struct quic_end *end = &pair->ends[at];
    if (end->conn == NULL || pair->is_dead) {
        return;
    }
    if (ngtcp2_conn_get_expiry(end->conn) <= now_ns && ngtcp2_conn_handle_expiry(end->conn, now_ns) != 0) {
        pair->is_dead = true;
        return;
    }
    write_all(end, now_ns);
}

static void end_receive(void *user, enum rival_side at, uint64_t now_ns) {}

static void read_line(struct quic_pair *pair, enum rival_side at, uint64_t now_ns) {
    struct quic_end *end = &pair->ends[at];
    for (uint32_t i = 0; i < end->line_count; i++) {
        receive(pair, at, now_ns, end->line[i].bytes, end->line[i].size_bytes);
    }
    end->line_count = 0;
}

static bool perform_handshake(struct quic_pair *pair, uint64_t now_ns) {
    uint64_t then_ns = now_ns - HANDSHAKE_STEPS * 10 * NS_PER_MS;
    pair->is_connecting = true;
    if (!make_conn(&pair->ends[RIVAL_CLIENT], NULL, then_ns)) {
        return false;
    }
    for (int step = 0; step < HANDSHAKE_STEPS && !pair->is_dead; step++, then_ns += 10 * NS_PER_MS) {
        for (enum rival_side side = RIVAL_CLIENT; side <= RIVAL_SERVER; side++) {
            read_line(pair, side, then_ns);
            tick(pair, side, then_ns);
        }
    }
    pair->is_connecting = false;
    struct quic_end *server = &pair->ends[RIVAL_SERVER];
    struct quic_end *client = &pair->ends[RIVAL_CLIENT];
    return !pair->is_dead && server->conn != NULL && ngtcp2_conn_get_handshake_completed(server->conn) &&
           ngtcp2_conn_get_handshake_completed(client->conn) &&
           ngtcp2_conn_open_uni_stream(server->conn, &server->stream, NULL) == 0 &&
           ngtcp2_conn_open_uni_stream(client->conn, &client->stream, NULL) == 0;
}

static void *create(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    struct quic_pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL) {
        return NULL;
    }
    pair->host = *host;
    init_end(pair, RIVAL_CLIENT);
    init_end(pair, RIVAL_SERVER);
    if (pair->ends[0].sent == NULL || pair->ends[1].sent == NULL || !quic_tls_init(&pair->tls) ||
        !perform_handshake(pair, now_ns)) {
        destroy(pair);
        return NULL;
    }
    return pair;
}

static bool send_message(void *user, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                         size_t size_bytes) {
    struct quic_end *end = &((struct quic_pair *)user)->ends[from];
    if (!reliable) {
        if (end->unreliable_count == WAITING_MAX) {
            return false;
        }
        struct waiting *w = &end->unreliable[end->unreliable_count++];
        w->size_bytes = size_bytes;
        memcpy(w->bytes, message, size_bytes);
        return true;
    }
    if (end->sent_bytes + 2 + size_bytes > STREAM_BYTES_MAX) {
        return false;
    }
    end->sent[end->sent_bytes++] = (uint8_t)size_bytes;
    end->sent[end->sent_bytes++] = (uint8_t)(size_bytes >> 8);
    memcpy(end->sent + end->sent_bytes, message, size_bytes);
    end->sent_bytes += size_bytes;
    return true;
}

static const struct rival ngtcp2 = {"ngtcp2", create, destroy, send_message, receive, end_receive, tick};
const struct rival *const rival_ngtcp2 = &ngtcp2;

#endif

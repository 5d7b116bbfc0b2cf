/* SPDX-License-Identifier: MIT */
/* The client's half of the stateless handshake, restart included, in every layout (spec 2.9, 2.10, 2.13). */
#ifndef UE_SHAKE_H
#define UE_SHAKE_H

#include "tools/endpoint/endpoint.h"
#include "tools/endpoint/random.h"

enum ue_shake_state { UE_SHAKE_UNINITIALIZED, UE_SHAKE_LOCAL, UE_SHAKE_INITIALIZED };

enum ue_shake_result {
    UE_SHAKE_NOTHING,
    UE_SHAKE_CONNECTED,  /* sequences are known */
    UE_SHAKE_RESUMED,    /* after a restart: everything goes on as before */
    UE_SHAKE_RESTARTING, /* a restart request was accepted */
    UE_SHAKE_OUTDATED    /* the server refuses every version of this client */
};

/* Members are the core's to read: sequences, session_id, client_id and version once connected. */
struct ue_shake {
    enum ue_shake_state state;
    struct ue_context context; /* client to server; ids and features as the version in use says */
    struct ue_random *random;
    struct ue_sequences sequences;
    uint8_t version;
    uint8_t min_version;
    uint8_t max_version;
    uint32_t network_version;
    uint16_t network_features;
    uint8_t session_id;
    uint8_t client_id;
    bool restarting;
    bool has_cookie; /* AuthorisedCookie */
    uint8_t cookie[UE_COOKIE_BYTES];
    uint8_t secret_id; /* of the last Challenge, with its timestamp and cookie */
    uint64_t timestamp;
    uint8_t challenge[UE_COOKIE_BYTES];
    uint8_t sent_count;
    uint64_t last_sent_ns;
    uint64_t last_challenge_ns;
    uint64_t last_request_ns; /* of a restart */
    bool has_request;
    uint8_t pending[128]; /* a datagram to send */
    size_t pending_bytes;
};

/* context: generation and settings, any direction. The random source must outlive it. */
void ue_shake_init(struct ue_shake *s, const struct ue_context *context, const struct ue_conn_config *config,
                   struct ue_random *random);
/* Sends the Initial. */
void ue_shake_start(struct ue_shake *s, uint64_t now_ns);
/* Resends what is due. */
void ue_shake_tick(struct ue_shake *s, uint64_t now_ns);
uint64_t ue_shake_deadline(const struct ue_shake *s);
/* One handshake datagram of the server. last_packet_ns: when the last ordinary packet of the connection came. */
enum ue_shake_result ue_shake_receive(struct ue_shake *s, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes,
                                      uint64_t last_packet_ns);
/* Takes the datagram to send; 0 bytes: none. capacity at least sizeof pending. */
size_t ue_shake_take(struct ue_shake *s, uint8_t *bytes);

#endif

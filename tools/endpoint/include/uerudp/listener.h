/* SPDX-License-Identifier: MIT */
/* The server's half of the stateless handshake: keeps no state about an address until it returned its cookie
   (endpoint.md 21.1, 21.3). */
#ifndef UERUDP_LISTENER_H
#define UERUDP_LISTENER_H

#include <uerudp/client_handshake.h>
#include <uerudp/endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_HOST_BYTES_MAX 64

/* An address as text, "127.0.0.1:7777" or "[::1]:7777", without NUL: part of the cookie, otherwise only compared. */
struct ue_host {
    uint8_t size_bytes;
    uint8_t machine_bytes; /* number of leading bytes that all ports of one machine share, for quotas; 0: all bytes */
    char text[UE_HOST_BYTES_MAX];
};

static inline size_t ue_host_machine_bytes(const struct ue_host *host) {
    return host->machine_bytes != 0 ? host->machine_bytes : host->size_bytes;
}

/* A client whose cookie is valid. */
struct ue_accepted {
    struct ue_sequences sequences;
    uint8_t cookie[UE_COOKIE_BYTES]; /* AuthorisedCookie: of a restart the original one */
    uint8_t version;                 /* of the handshake, for repeated Acks */
    uint8_t min_version;             /* for repeated Acks, like the next three */
    uint32_t network_version;
    bool features; /* the client's packets have the field */
    uint16_t network_features;
    bool restarted; /* belongs to the connection with that cookie; sequences are unused */
    uint8_t session_id;
    uint8_t client_id;
};

struct ue_listener_config {
    const struct ue_profile *profile;
    struct ue_settings settings;
    const uint8_t *seed; /* UE_SEED_BYTES */
    uint32_t network_version;
    uint16_t network_features;
    uint8_t min_version;          /* 0: 3 in versioned layouts; below 3, clients without ids are accepted, too */
    uint8_t max_version;          /* 0: the profile's newest */
    uint8_t session_id;           /* count of server travels, low 2 bits */
    bool enforce_network_version; /* net.HandshakeEnforceNetworkCLVersion */
    bool verify_magic;
    uint32_t restart_requests_per_second;  /* to all addresses; 0: no limit, as in the engine */
    uint32_t restart_requests_per_machine; /* to each machine; 0: no limit */
};

/* Counters of a listener: messages by type and result, and datagrams that it could not decode. */
struct ue_listener_counters {
    uint64_t initials, responses, restarts, accepted;
    uint64_t bad_cookies, old_cookies, bad_versions, upgrades, malformed, restart_requests, wrong_session;
    uint64_t restart_requests_withheld; /* because of the limits */
};

struct ue_listener;

/* allocator as in ue_conn_new. NULL: no profile, no memory, or libgcrypt failed. */
struct ue_listener *ue_listener_new(const struct ue_allocator *allocator, const struct ue_listener_config *config,
                                    uint64_t now_ns);
/* NULL is ignored. */
void ue_listener_free(struct ue_listener *l);

/* Why a handshake was refused. */
enum ue_refusal_reason {
    UE_REFUSAL_NONE,
    UE_REFUSAL_VERSION,       /* no common handshake version, or another network version where that is enforced */
    UE_REFUSAL_BAD_COOKIE,    /* not made by this server */
    UE_REFUSAL_OLD_COOKIE,    /* no longer valid */
    UE_REFUSAL_SESSION,       /* not the server's session id */
    UE_REFUSAL_FULL,          /* no room for another connection */
    UE_REFUSAL_ADDRESS_FULL,  /* its machine has max_per_machine connections */
    UE_REFUSAL_NO_CONNECTION, /* a restart of a connection that does not exist here */
};

struct ue_refusal {
    enum ue_refusal_reason reason;
    uint8_t min_version, version; /* VERSION: versions that the client supports; 0: a form without versions */
    uint32_t network_version;
};

enum ue_listener_result {
    UE_LISTENER_NOTHING,
    UE_LISTENER_REPLY, /* send the reply */
    UE_LISTENER_ACCEPT /* send the reply (an Ack; 0 bytes in layout A0) and create or rebind the connection */
};

/* Handles a datagram of an address without connection. reply: room for UE_LISTENER_REPLY_BYTES. may_restart: answer
   ordinary packets with a restart request (not for a client that left recently). */
#define UE_LISTENER_REPLY_BYTES UE_HANDSHAKE_DATAGRAM_BYTES
enum ue_listener_result ue_listener_receive(struct ue_listener *l, uint64_t now_ns, const struct ue_host *address,
                                            bool may_restart, const uint8_t *bytes, size_t size_bytes, uint8_t *reply,
                                            size_t *reply_bytes, struct ue_accepted *accepted);

/* Writes the Ack again for a client that may have missed it; reply as above. 0: layout A0 has no Ack. */
size_t ue_listener_ack(const struct ue_context *context, const struct ue_accepted *accepted, uint8_t *reply);

/* The refusal of the newest datagram; UE_REFUSAL_NONE: it was not a refused handshake message. */
struct ue_refusal ue_listener_refusal(const struct ue_listener *l);

const struct ue_listener_counters *ue_listener_counters(const struct ue_listener *l);

#ifdef __cplusplus
}
#endif

#endif

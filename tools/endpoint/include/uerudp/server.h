/* SPDX-License-Identifier: MIT */
/* Many connections behind one socket: finds them by address, accepts clients by the stateless handshake, rebinds those
   whose address changed, and frees those that ended (endpoint.md 7, 5, 32 to 35). A tick of a program:
   ue_server_receive for every datagram, ue_server_end_receive, its own sends on the connections, ue_server_tick; then
   it reads all events and datagrams. Addresses without connection use no further memory: their state is allocated at
   creation. */
#ifndef UERUDP_SERVER_H
#define UERUDP_SERVER_H

#include <uerudp/endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- addresses and the stateless handshake, which keeps no state about an address until it returned its cookie
   (endpoint.md 2, 4); a program with its own table of connections uses a listener alone ---- */

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
    uint32_t restart_requests_per_machine; /* to each machine, in a second; 0: no limit */
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
    UE_REFUSAL_LATE_RESPONSE, /* its cookie is that of a connection, whose client has another address now */
};

struct ue_refusal {
    enum ue_refusal_reason reason;
    bool has_versions;            /* VERSION: the form of the handshake has versions */
    uint8_t min_version, version; /* that the client supports; 0 without versions */
    bool has_network_version;     /* VERSION: the handshake states it (version 2 and later) */
    uint32_t network_version;     /* 0 without it */
};

enum ue_listener_result {
    UE_LISTENER_NOTHING,
    UE_LISTENER_REPLY, /* send the reply */
    UE_LISTENER_ACCEPT /* send the reply (an Ack; 0 bytes in layout A0) and create or rebind the connection */
};

/* Handles a datagram of an address without connection. reply: room for UE_LISTENER_REPLY_BYTES. may_restart: answer
   ordinary packets with a restart request (not for a client that left recently). */
#define UE_LISTENER_REPLY_BYTES 128
enum ue_listener_result ue_listener_receive(struct ue_listener *l, uint64_t now_ns, const struct ue_host *address,
                                            bool may_restart, const uint8_t *bytes, size_t size_bytes, uint8_t *reply,
                                            size_t *reply_bytes, struct ue_accepted *accepted);

/* Writes the Ack again for a client that may have missed it; reply as above. 0: layout A0 has no Ack. */
size_t ue_listener_ack(const struct ue_context *context, const struct ue_accepted *accepted, uint8_t *reply);

/* The refusal of the newest datagram; UE_REFUSAL_NONE: it was not a refused handshake message. */
struct ue_refusal ue_listener_refusal(const struct ue_listener *l);

const struct ue_listener_counters *ue_listener_counters(const struct ue_listener *l);

/* ---- flood detection (the engine's FDDoSDetection; endpoint.md 35): severity states with quotas for packets from
   addresses without connection, which escalate and cool off. Packets of connections are never counted as an attack,
   because the handshake verified their addresses ---- */

#define UE_DDOS_STATES_MAX 8
#define UE_DDOS_COOL_OFF_MAX_S 120
#define UE_DDOS_NO_LIMIT (-1)

/* One severity. A quota is exceeded at its value, a limit once this much was accepted; all scale with the length of the
   frame. UE_DDOS_NO_LIMIT: unlimited. */
struct ue_ddos_severity {
    int32_t quota_packets; /* per second, from unknown addresses (EscalateQuotaPacketsPerSec) */
    int32_t quota_left;    /* per second, from addresses whose connection ended (EscalateQuotaDisconnPacketsPerSec) */
    int32_t quota_bad;     /* per second (EscalateQuotaBadPacketsPerSec) */
    int32_t quota_time_ms; /* of receiving in one frame (EscalateTimeQuotaMSPerFrame) */
    int32_t limit_packets; /* per frame; 0 drops all of them (PacketLimitPerFrame) */
    int32_t limit_time_ms; /* of receiving in one frame (PacketTimeLimitMSPerFrame) */
    int32_t limit_connected_ms; /* of receiving from connections in one frame (NetConnPacketTimeLimitMSPerFrame) */
    uint32_t cool_off_s;        /* seconds below its quotas before the severity decreases (CooloffTime) */
};

/* Severities in the order of escalation; the first one is normal operation (DetectionSeverity). No severities:
   detection is off. */
struct ue_ddos_config {
    uint32_t severity_count;
    struct ue_ddos_severity severities[UE_DDOS_STATES_MAX];
    uint64_t frame_ns;            /* expected length of a frame; 0: quotas do not scale */
    uint64_t hitch_ns;            /* a longer pause between frames is a hitch; 0: no pause is (HitchTimeQuotaMS) */
    uint32_t hitch_tolerance;     /* from this many successive hitches on, quotas do not scale (HitchFrameTolerance) */
    uint32_t log_lines_per_frame; /* while a severity above the first is active; 0: 64 (DDoSLogSpamLimit) */
};

/* ---- the server ---- */

/* Zero members mean the default, which the comments give. */
struct ue_server_config {
    struct ue_conn_config
        conn; /* of every connection; role and seed are the server's: each connection gets its own seed */
    struct ue_login_config login;
    struct ue_ddos_config ddos;
    uint8_t session_id; /* these three as in struct ue_listener_config */
    bool enforce_network_version;
    bool verify_magic;
    uint32_t restart_requests_per_second; /* these two as well */
    uint32_t restart_requests_per_machine;
    bool allow_unreachable;    /* AllowPlayerPortUnreach: ICMP errors do not close a client that has logged in */
    uint32_t max_connections;  /* 256 */
    size_t memory_limit_bytes; /* of everything, 16 MiB and 768 KiB for each of max_connections */
    uint32_t max_recent;       /* addresses remembered after their connection ended, 1024; the oldest is dropped */
    uint64_t recent_ns;        /* RecentlyDisconnectedTrackingTime, 180 s */
    uint32_t max_per_machine;  /* connections of one machine (struct ue_host); no limit */
    uint32_t max_replies;      /* handshake replies that wait to be read, 256; further ones are lost and counted */
};

/* One client. It is valid until the server's next tick after its connection closed and all its outputs were read; with
   the option resend_close a second longer. */
struct ue_peer {
    struct ue_conn *conn;
    struct ue_login *login; /* NULL with no_login */
    struct ue_host address; /* its current address */
    void *user;             /* owned by the program */
    uint64_t accepted_ns;
    uint32_t index; /* in ue_server_peer */
};

struct ue_server_counters {
    uint64_t accepted;        /* connections accepted */
    uint64_t closed;          /* connections that ended */
    uint64_t rebound;         /* connections that moved to another address */
    uint64_t unknown;         /* datagrams from addresses without connection */
    uint64_t stragglers;      /* of these, from addresses whose connection ended recently */
    uint64_t empty;           /* datagrams without a byte */
    uint64_t dropped;         /* datagrams that the flood detection dropped, with or without connection */
    uint64_t refused_full;    /* clients with a valid cookie for which no connection could be created */
    uint64_t refused_machine; /* clients with a valid cookie whose machine has max_per_machine connections */
    uint64_t refused_restart; /* restarts of connections that no longer exist */
    uint64_t late_responses;  /* copies of a Response whose client has another address now */
    uint64_t replies_lost;
    uint64_t unreachable;     /* ICMP errors */
    struct ue_counters ended; /* sums over connections that ended */
};

struct ue_server;

/* allocator as in ue_conn_new. The server copies the configuration with its key and seed; the profile, and texts and
   messages of the login, must outlive it. NULL: no memory, or an unusable profile, login or flood configuration. */
struct ue_server *ue_server_new(const struct ue_allocator *allocator, const struct ue_server_config *config,
                                uint64_t now_ns);
/* Frees all connections without sending anything. NULL is ignored. */
void ue_server_free(struct ue_server *s);

/* Handles one datagram; what outlives the call is copied. It may accept a client or close a connection, and frees
   none. */
void ue_server_receive(struct ue_server *s, uint64_t now_ns, const struct ue_host *from, const uint8_t *bytes,
                       size_t size_bytes);
/* The socket reports that this address cannot be reached (ICMP). */
void ue_server_unreachable(struct ue_server *s, uint64_t now_ns, const struct ue_host *address);
/* No more datagrams in this tick. */
void ue_server_end_receive(struct ue_server *s, uint64_t now_ns);
/* Ends a tick: ue_conn_tick for every connection. It frees the connections that closed and whose outputs were read. */
void ue_server_tick(struct ue_server *s, uint64_t now_ns);
/* The earliest ue_conn_deadline of the connections; UINT64_MAX: none. It does not cover freeing closed connections,
   which waits for any tick. */
uint64_t ue_server_deadline(const struct ue_server *s);

/* The next datagram to send, and its address. False: none. The bytes are valid until the next input. */
bool ue_server_next_datagram(struct ue_server *s, struct ue_host *to, struct ue_bytes *datagram);
/* The next event and its client. False: none. It is valid until the next input. */
bool ue_server_next_event(struct ue_server *s, struct ue_peer **peer, struct ue_event *event);

/* Number of connections; and the connection at an index, in no fixed order; NULL: index too large. */
uint32_t ue_server_count(const struct ue_server *s);
struct ue_peer *ue_server_peer(const struct ue_server *s, uint32_t index);
/* NULL: no connection with this address. */
struct ue_peer *ue_server_find(const struct ue_server *s, const struct ue_host *address);

/* The refusal of the newest datagram; UE_REFUSAL_NONE: it was not a refused handshake message. */
struct ue_refusal ue_server_refusal(const struct ue_server *s);

/* The most bytes that the server and its connections used at the end of a tick. */
size_t ue_server_peak_memory_bytes(const struct ue_server *s);

const struct ue_server_counters *ue_server_counters(const struct ue_server *s);
const struct ue_listener_counters *ue_server_listener_counters(const struct ue_server *s);
/* Index of the active severity of the flood detection. */
uint32_t ue_server_ddos_severity(const struct ue_server *s);

#ifdef __cplusplus
}
#endif

#endif

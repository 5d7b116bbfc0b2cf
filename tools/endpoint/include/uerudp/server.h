/* SPDX-License-Identifier: MIT */
/* Many connections behind one socket: finds them by address, accepts clients by the stateless handshake, rebinds those
   whose address changed, and frees those that ended (endpoint.md 16.1, 21.4, 24). A tick of a program:
   ue_server_receive for every datagram, ue_server_end_receive, its own sends on the connections, ue_server_tick; then
   it reads all events and datagrams. Addresses without connection use no further memory: their state is allocated at
   creation. */
#ifndef UERUDP_SERVER_H
#define UERUDP_SERVER_H

#include <uerudp/ddos.h>
#include <uerudp/listener.h>
#include <uerudp/login.h>

#ifdef __cplusplus
extern "C" {
#endif

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

struct ue_machine;

/* One client. It is valid until the server's next tick after its connection closed and all its outputs were read; with
   the option resend_close a second longer. */
struct ue_peer {
    struct ue_conn *conn;
    struct ue_login login;
    struct ue_host address; /* its current address */
    void *user;             /* owned by the program */
    uint64_t accepted_ns;
    uint32_t index;             /* index in ue_server_peer */
    struct ue_machine *machine; /* private to the server */
};

struct ue_server_counters {
    uint64_t accepted;        /* connections accepted */
    uint64_t buried;          /* connections that ended */
    uint64_t rebound;         /* connections that moved to another address */
    uint64_t unknown;         /* datagrams from addresses without connection */
    uint64_t stragglers;      /* of these, from addresses whose connection ended recently */
    uint64_t empty;           /* datagrams without a byte */
    uint64_t dropped;         /* datagrams that the flood detection dropped, with or without connection */
    uint64_t refused_full;    /* clients with a valid cookie for which no connection could be created */
    uint64_t refused_machine; /* clients with a valid cookie whose machine has max_per_machine connections */
    uint64_t refused_restart; /* restarts of connections that no longer exist */
    uint64_t replies_lost;
    uint64_t unreachable;     /* ICMP errors */
    struct ue_counters ended; /* sums over connections that ended */
};

struct ue_server;

/* allocator as in ue_conn_new. NULL: no memory, or an unusable profile, login or flood configuration. */
struct ue_server *ue_server_new(const struct ue_allocator *allocator, const struct ue_server_config *config,
                                uint64_t now_ns);
/* Frees all connections without sending anything. NULL is ignored. */
void ue_server_free(struct ue_server *s);

void ue_server_receive(struct ue_server *s, uint64_t now_ns, const struct ue_host *from, const uint8_t *bytes,
                       size_t size_bytes);
/* The socket reports that this address cannot be reached (ICMP). */
void ue_server_unreachable(struct ue_server *s, uint64_t now_ns, const struct ue_host *address);
/* No more datagrams in this tick. */
void ue_server_end_receive(struct ue_server *s, uint64_t now_ns);
void ue_server_tick(struct ue_server *s, uint64_t now_ns);
uint64_t ue_server_deadline(const struct ue_server *s);

/* The next datagram to send, and its address. False: none. The bytes are valid until the next input. */
bool ue_server_next_datagram(struct ue_server *s, struct ue_host *to, struct ue_bytes *datagram);
/* The next event and its client. False: none. */
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
const struct ue_ddos *ue_server_ddos(const struct ue_server *s);

#ifdef __cplusplus
}
#endif

#endif

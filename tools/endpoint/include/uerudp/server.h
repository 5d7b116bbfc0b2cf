/* SPDX-License-Identifier: MIT */
/* Many connections behind one socket: finds them by address, lets strangers in by the stateless handshake, moves those
   whose address changed, and buries those that ended (endpoint.md 16.1, 21.4, 24).

   A tick of a program: every datagram read goes into ue_server_receive, then ue_server_end_receive, then what the
   program has to say to the connections, then ue_server_tick; then events and datagrams are taken until there are none.
   Strangers cost no memory: what the server keeps about addresses without connection was allocated at creation. */
#ifndef UERUDP_SERVER_H
#define UERUDP_SERVER_H

#include <uerudp/ddos.h>
#include <uerudp/listener.h>
#include <uerudp/login.h>

/* Zero members mean the default. */
struct ue_server_config {
    struct ue_conn_config conn; /* of every connection; role and seed are the server's: each gets a seed of its own */
    struct ue_login_config login;
    struct ue_ddos_config ddos;
    uint8_t session_id; /* these three as in the listener's configuration */
    bool enforce_network_version;
    bool verify_magic;
    uint32_t restart_requests_per_second; /* these two as well */
    uint32_t restart_requests_per_machine;
    bool allow_unreachable;   /* AllowPlayerPortUnreach: who has logged in outlives ICMP errors */
    uint32_t max_connections; /* 256 */
    uint32_t max_recent;      /* addresses remembered after their connection ended, 1024; the oldest is forgotten */
    uint64_t recent_ns;       /* RecentlyDisconnectedTrackingTime, 180 s */
    uint32_t max_per_machine; /* connections of one machine (ue_host); no limit */
    uint32_t max_replies;     /* handshake replies waiting to be taken, 256: beyond they are lost and counted */
};

struct ue_machine;

/* One client. Lives until the server's next tick after its connection closed and all its outputs were taken, with the
   option resend_close a second longer. */
struct ue_peer {
    struct ue_conn *conn;
    struct ue_login login;
    struct ue_host address; /* where it is now */
    void *user;             /* the program's */
    uint64_t accepted_ns;
    uint32_t index;             /* among the server's */
    struct ue_machine *machine; /* the server's */
};

struct ue_server_counters {
    uint64_t accepted;        /* connections made */
    uint64_t buried;          /* connections that ended */
    uint64_t rebound;         /* connections that moved to another address */
    uint64_t unknown;         /* datagrams from addresses without connection */
    uint64_t stragglers;      /* of these, from addresses whose connection ended just now */
    uint64_t empty;           /* datagrams without a byte */
    uint64_t dropped;         /* datagrams that the flood detection refused, of strangers and of connections */
    uint64_t refused_full;    /* clients with a good cookie for whom no connection could be made */
    uint64_t refused_machine; /* clients with a good cookie whose machine has max_per_machine connections */
    uint64_t refused_restart; /* restarts whose connection is not here any more */
    uint64_t replies_lost;
    uint64_t unreachable;     /* ICMP errors */
    struct ue_counters ended; /* sums over connections that ended */
};

struct ue_server;

/* NULL when there is no memory, or profile, login or flood configuration are unusable. */
struct ue_server *ue_server_new(struct ue_pool *pool, const struct ue_server_config *config, uint64_t now_ns);
/* Frees all connections without a word to their peers. */
void ue_server_free(struct ue_server *s);

void ue_server_receive(struct ue_server *s, uint64_t now_ns, const struct ue_host *from, const uint8_t *bytes,
                       size_t size_bytes);
/* The socket reports that this address cannot be reached (ICMP). */
void ue_server_unreachable(struct ue_server *s, uint64_t now_ns, const struct ue_host *address);
/* No more datagrams in this tick. */
void ue_server_end_receive(struct ue_server *s, uint64_t now_ns);
void ue_server_tick(struct ue_server *s, uint64_t now_ns);
uint64_t ue_server_deadline(const struct ue_server *s);

/* The next datagram to send and where to; false when there is none. The bytes live until the next input. */
bool ue_server_next_datagram(struct ue_server *s, struct ue_host *to, struct ue_bytes *datagram);
/* The next event and whose it is; false when there is none. */
bool ue_server_next_event(struct ue_server *s, struct ue_peer **peer, struct ue_event *event);

/* Connections, in no lasting order; NULL from the count on. */
uint32_t ue_server_count(const struct ue_server *s);
struct ue_peer *ue_server_peer(const struct ue_server *s, uint32_t index);
/* NULL: no connection with this address. */
struct ue_peer *ue_server_find(const struct ue_server *s, const struct ue_host *address);

/* Whether the newest datagram that was received was a handshake message that was refused. */
struct ue_refusal ue_server_refusal(const struct ue_server *s);

const struct ue_server_counters *ue_server_counters(const struct ue_server *s);
const struct ue_listener_counters *ue_server_listener_counters(const struct ue_server *s);
const struct ue_ddos *ue_server_ddos(const struct ue_server *s);

#endif

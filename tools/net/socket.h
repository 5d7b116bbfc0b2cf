/* SPDX-License-Identifier: MIT */
/* UDP sockets for IPv4 and IPv6 that never block (endpoint.md 16.1, 24.2: what can happen to a datagram). GIO makes
   them; datagrams go by the system's calls, since an error object for each empty socket, and an address object for each
   datagram, cost more than the calls. */
#ifndef UERUDP_TOOLS_NET_SOCKET_H
#define UERUDP_TOOLS_NET_SOCKET_H

#include <gio/gio.h>

#include "tools/net/address.h"

struct net_socket;

/* What became of one attempt to receive or send. */
enum net_socket_result {
    NET_SOCKET_DONE,
    NET_SOCKET_WOULD_BLOCK, /* nothing waits; or, sending, no room now: the datagram is lost */
    NET_SOCKET_UNREACHABLE, /* somebody said that nobody listens at the address */
    NET_SOCKET_TOO_LONG,    /* the datagram does not fit */
    NET_SOCKET_FAILED
};

/* A socket that many may send to. host NULL: every address of this machine, of IPv6 too where there is any; port 0: a
   free one. NULL with a sentence in *error: host unknown or not of this machine, port taken. */
struct net_socket *net_socket_listen(const char *host, uint16_t port, GError **error);

/* A socket that talks to one peer only; the first address of the host that can be reached from here. target is HOST,
   HOST:PORT or [IPV6]:PORT. */
struct net_socket *net_socket_connect(const char *target, uint16_t default_port, GError **error);

void net_socket_free(struct net_socket *s);

/* Address of this end. */
const struct net_address *net_socket_local(const struct net_socket *s);
/* The peer of a connected socket; NULL of a listening one. */
const struct net_address *net_socket_peer(const struct net_socket *s);
/* Whether the socket takes IPv4 besides IPv6. */
bool net_socket_is_dual(const struct net_socket *s);
GSocket *net_socket_gio(const struct net_socket *s);

/* Takes one waiting datagram; *from is its sender, or, when UNREACHABLE, who does not listen. */
enum net_socket_result net_socket_receive(struct net_socket *s, struct net_address *from, uint8_t *bytes,
                                        size_t capacity_bytes, size_t *size_bytes);

/* Sends one datagram; to is ignored by a connected socket and may be NULL. */
enum net_socket_result net_socket_send(struct net_socket *s, const struct net_address *to, const uint8_t *bytes,
                                     size_t size_bytes);

/* This end as a peer sees it: of a socket bound to every address, which does not say to which one a datagram came, the
   address from which datagrams to the peer leave. */
struct net_address net_socket_local_for(const struct net_socket *s, const struct net_address *peer);

#endif

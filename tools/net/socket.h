/* SPDX-License-Identifier: MIT */
/* Non-blocking UDP sockets for IPv4 and IPv6 (endpoint.md 7, 33: what can happen to a datagram). GIO creates
   them; datagrams use system calls directly, because GIO's error and address objects cost more than the calls. */
#ifndef UERUDP_TOOLS_NET_SOCKET_H
#define UERUDP_TOOLS_NET_SOCKET_H

#include <gio/gio.h>

#include "tools/net/net_address.h"

struct net_socket;

/* The result of one attempt to receive or send. */
enum net_socket_result {
    NET_SOCKET_DONE,
    NET_SOCKET_WOULD_BLOCK, /* receiving: no datagram is waiting; sending: no buffer space, the datagram is lost */
    NET_SOCKET_UNREACHABLE, /* ICMP: no program listens at the address */
    NET_SOCKET_TOO_LONG,    /* the datagram is too long for the path or the buffer */
    NET_SOCKET_FAILED
};

/* Opens a socket that receives from any peer. host NULL: every address of this machine, with IPv6 if available; port
   0: any free port. Returns NULL with a sentence in *error: unknown host, host is not on this machine, port in use. */
struct net_socket *net_socket_listen(const char *host, uint16_t port, GError **error);

/* Opens a socket for one peer, at the first reachable address of the host. target is HOST, HOST:PORT or [IPV6]:PORT. */
struct net_socket *net_socket_connect(const char *target, uint16_t default_port, GError **error);

void net_socket_free(struct net_socket *s);

/* The local address. */
const struct net_address *net_socket_local(const struct net_socket *s);
/* The peer of a connected socket; NULL for a listening socket. */
const struct net_address *net_socket_peer(const struct net_socket *s);
/* Whether the socket is IPv6 and accepts IPv4 too. */
bool net_socket_is_dual(const struct net_socket *s);
GSocket *net_socket_gio(const struct net_socket *s);

/* Receives one datagram; *from is its sender or, with UNREACHABLE, the peer that does not listen. */
enum net_socket_result net_socket_receive(struct net_socket *s, struct net_address *from, uint8_t *bytes,
                                          size_t capacity_bytes, size_t *size_bytes);

/* Sends one datagram. A connected socket ignores `to`, which may then be NULL. */
enum net_socket_result net_socket_send(struct net_socket *s, const struct net_address *to, const uint8_t *bytes,
                                       size_t size_bytes);

/* The local address as the peer sees it. A socket bound to every address does not know where a datagram arrived; the
   result is then the source address of datagrams to the peer. */
struct net_address net_socket_local_for(const struct net_socket *s, const struct net_address *peer);

#endif

/* SPDX-License-Identifier: MIT */
/* UDP sockets for IPv4 and IPv6 that never block (endpoint.md 16.1, 24.2: what can happen to a datagram). GIO makes
   them; datagrams go by the system's calls, since an error object for each empty socket, and an address object for each
   datagram, cost more than the calls. */
#ifndef UERUDP_TOOLS_NET_SOCKET_H
#define UERUDP_TOOLS_NET_SOCKET_H

#include <gio/gio.h>

#include "tools/net/address.h"

struct ue_socket;

/* What became of one attempt to receive or send. */
enum ue_socket_result {
    UE_SOCKET_DONE,
    UE_SOCKET_WOULD_BLOCK, /* nothing waits; or, sending, no room now: the datagram is lost */
    UE_SOCKET_UNREACHABLE, /* somebody said that nobody listens at the address */
    UE_SOCKET_TOO_LONG,    /* the datagram does not fit */
    UE_SOCKET_FAILED
};

/* A socket that many may send to. host NULL: every address of this machine, of IPv6 too where there is any; port 0: a
   free one. NULL with a sentence in *error: host unknown or not of this machine, port taken. */
struct ue_socket *ue_socket_listen(const char *host, uint16_t port, GError **error);

/* A socket that talks to one peer only; the first address of the host that can be reached from here. target is HOST,
   HOST:PORT or [IPV6]:PORT. */
struct ue_socket *ue_socket_connect(const char *target, uint16_t default_port, GError **error);

void ue_socket_free(struct ue_socket *s);

/* Address of this end. */
const struct ue_net_address *ue_socket_local(const struct ue_socket *s);
/* The peer of a connected socket; NULL of a listening one. */
const struct ue_net_address *ue_socket_peer(const struct ue_socket *s);
/* Whether the socket takes IPv4 besides IPv6. */
bool ue_socket_is_dual(const struct ue_socket *s);
GSocket *ue_socket_gio(const struct ue_socket *s);

/* Takes one waiting datagram; *from is its sender, or, when UNREACHABLE, who does not listen. */
enum ue_socket_result ue_socket_receive(struct ue_socket *s, struct ue_net_address *from, uint8_t *bytes,
                                        size_t capacity_bytes, size_t *size_bytes);

/* Sends one datagram; to is ignored by a connected socket and may be NULL. */
enum ue_socket_result ue_socket_send(struct ue_socket *s, const struct ue_net_address *to, const uint8_t *bytes,
                                     size_t size_bytes);

/* This end as a peer sees it: of a socket bound to every address, which does not say to which one a datagram came, the
   address from which datagrams to the peer leave. */
struct ue_net_address ue_socket_local_for(const struct ue_socket *s, const struct ue_net_address *peer);

#endif

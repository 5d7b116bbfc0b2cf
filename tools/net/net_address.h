/* SPDX-License-Identifier: MIT */
/* Addresses of UDP peers as plain values that can be compared, hashed and copied without allocation. */
#ifndef UERUDP_TOOLS_NET_NET_ADDRESS_H
#define UERUDP_TOOLS_NET_NET_ADDRESS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* An IP address and a port. IPv4 fills the first 4 bytes; unused bytes are zero, so that memcmp compares. The
   IPv4-mapped form ::ffff:a.b.c.d of an IPv6 socket is stored as IPv4. */
struct net_address {
    uint8_t bytes[16]; /* network order */
    uint32_t scope;    /* of a link-local IPv6 address */
    uint16_t port;     /* host order */
    uint16_t is_ipv6;  /* 0 or 1 */
};

/* The longest text: "[", 45 characters, "%", 10 digits, "]:65535", NUL. */
#define NET_ADDRESS_TEXT_BYTES 72

/* Returns false for an address that is not IPv4 or IPv6. */
bool net_address_from_native(const struct sockaddr_storage *native, struct net_address *address);

/* as_ipv6: in the form that an IPv6 socket needs. Returns the size. */
socklen_t net_address_to_native(const struct net_address *address, bool as_ipv6, struct sockaddr_storage *native);

/* Writes "192.0.2.1:7777" or "[2001:db8::1]:7777"; returns text. */
char *net_address_format(const struct net_address *address, char text[NET_ADDRESS_TEXT_BYTES]);

bool net_address_equal(const struct net_address *a, const struct net_address *b);

#endif

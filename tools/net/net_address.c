/* SPDX-License-Identifier: MIT */
#include "tools/net/net_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

static void from_ipv6(const struct sockaddr_in6 *native, struct net_address *address) {
    const uint8_t *bytes = native->sin6_addr.s6_addr;
    address->port = ntohs(native->sin6_port);
    if (memcmp(bytes, mapped_prefix, sizeof mapped_prefix) == 0) {
        memcpy(address->bytes, bytes + sizeof mapped_prefix, 4);
        return;
    }
    memcpy(address->bytes, bytes, sizeof address->bytes);
    address->scope = native->sin6_scope_id;
    address->is_ipv6 = 1;
}

bool net_address_from_native(const struct sockaddr_storage *native, struct net_address *address) {
    memset(address, 0, sizeof *address);
    if (native->ss_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)native;
        memcpy(address->bytes, &ipv4->sin_addr, 4);
        address->port = ntohs(ipv4->sin_port);
    } else if (native->ss_family == AF_INET6) {
        from_ipv6((const struct sockaddr_in6 *)native, address);
    }
    return native->ss_family == AF_INET || native->ss_family == AF_INET6;
}

socklen_t net_address_to_native(const struct net_address *address, bool as_ipv6, struct sockaddr_storage *native) {
    if (!address->is_ipv6 && !as_ipv6) {
        struct sockaddr_in *ipv4 = (struct sockaddr_in *)native;
        *ipv4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(address->port)};
        memcpy(&ipv4->sin_addr, address->bytes, 4);
        return sizeof *ipv4;
    }
    struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)native;
    *ipv6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(address->port), .sin6_scope_id = address->scope};
    if (address->is_ipv6) {
        memcpy(ipv6->sin6_addr.s6_addr, address->bytes, sizeof address->bytes);
    } else {
        memcpy(ipv6->sin6_addr.s6_addr, mapped_prefix, sizeof mapped_prefix);
        memcpy(ipv6->sin6_addr.s6_addr + sizeof mapped_prefix, address->bytes, 4);
    }
    return sizeof *ipv6;
}

char *net_address_format(const struct net_address *address, char text[NET_ADDRESS_TEXT_BYTES]) {
    char host[INET6_ADDRSTRLEN];
    inet_ntop(address->is_ipv6 ? AF_INET6 : AF_INET, address->bytes, host, sizeof host);
    if (address->scope != 0) {
        g_snprintf(text, NET_ADDRESS_TEXT_BYTES, "[%s%%%u]:%u", host, address->scope, address->port);
    } else {
        g_snprintf(text, NET_ADDRESS_TEXT_BYTES, address->is_ipv6 ? "[%s]:%u" : "%s:%u", host, address->port);
    }
    return text;
}

bool net_address_equal(const struct net_address *a, const struct net_address *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

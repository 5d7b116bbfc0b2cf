/* SPDX-License-Identifier: MIT */
#include "tools/net/address.h"

#include <string.h>

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

bool ue_net_address_from_gio(GSocketAddress *socket_address, struct ue_net_address *address) {
    memset(address, 0, sizeof *address);
    if (!G_IS_INET_SOCKET_ADDRESS(socket_address)) {
        return false;
    }
    GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS(socket_address);
    GInetAddress *ip = g_inet_socket_address_get_address(inet);
    const uint8_t *bytes = g_inet_address_to_bytes(ip);
    size_t size = g_inet_address_get_native_size(ip);
    bool is_mapped = size == 16 && memcmp(bytes, mapped_prefix, sizeof mapped_prefix) == 0;
    if (is_mapped) {
        bytes += sizeof mapped_prefix;
        size -= sizeof mapped_prefix;
    }
    memcpy(address->bytes, bytes, size);
    address->is_ipv6 = size == 16;
    address->scope = address->is_ipv6 ? g_inet_socket_address_get_scope_id(inet) : 0;
    address->port = g_inet_socket_address_get_port(inet);
    return true;
}

static GSocketAddress *new_socket_address(const uint8_t *bytes, GSocketFamily family, uint16_t port, uint32_t scope) {
    GInetAddress *ip = g_inet_address_new_from_bytes(bytes, family);
    GSocketAddress *made =
        g_object_new(G_TYPE_INET_SOCKET_ADDRESS, "address", ip, "port", (guint)port, "scope-id", scope, NULL);
    g_object_unref(ip);
    return made;
}

GSocketAddress *ue_net_address_to_gio(const struct ue_net_address *address, bool as_ipv6) {
    uint8_t bytes[16];
    if (address->is_ipv6 || !as_ipv6) {
        GSocketFamily family = address->is_ipv6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4;
        return new_socket_address(address->bytes, family, address->port, address->scope);
    }
    memcpy(bytes, mapped_prefix, sizeof mapped_prefix);
    memcpy(bytes + sizeof mapped_prefix, address->bytes, 4);
    return new_socket_address(bytes, G_SOCKET_FAMILY_IPV6, address->port, 0);
}

char *ue_net_address_format(const struct ue_net_address *address, char text[UE_NET_ADDRESS_TEXT_BYTES]) {
    GInetAddress *ip =
        g_inet_address_new_from_bytes(address->bytes, address->is_ipv6 ? G_SOCKET_FAMILY_IPV6 : G_SOCKET_FAMILY_IPV4);
    char *host = g_inet_address_to_string(ip);
    if (address->scope != 0) {
        g_snprintf(text, UE_NET_ADDRESS_TEXT_BYTES, "[%s%%%u]:%u", host, address->scope, address->port);
    } else {
        g_snprintf(text, UE_NET_ADDRESS_TEXT_BYTES, address->is_ipv6 ? "[%s]:%u" : "%s:%u", host, address->port);
    }
    g_free(host);
    g_object_unref(ip);
    return text;
}

/* FNV-1a. Whoever forges addresses to collide gains nothing: only verified ones are kept in tables. */
guint ue_net_address_hash(gconstpointer address) {
    const uint8_t *bytes = address;
    guint hash = 2166136261u;
    for (size_t i = 0; i < sizeof(struct ue_net_address); i++) {
        hash = (hash ^ bytes[i]) * 16777619u;
    }
    return hash;
}

gboolean ue_net_address_equal(gconstpointer a, gconstpointer b) {
    return memcmp(a, b, sizeof(struct ue_net_address)) == 0;
}

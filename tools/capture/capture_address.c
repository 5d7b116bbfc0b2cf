/* SPDX-License-Identifier: MIT */
#include "tools/capture/capture_address.h"

#include <arpa/inet.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

char *capture_address_format(const struct capture_address *address, char text[CAPTURE_ADDRESS_TEXT_BYTES]) {
    char host[INET6_ADDRSTRLEN] = "?";
    bool is_ipv6 = address->family == CAPTURE_IPV6;

    inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, address->bytes, host, sizeof host);
    snprintf(text, CAPTURE_ADDRESS_TEXT_BYTES, is_ipv6 ? "[%s]:%u" : "%s:%u", host, (unsigned)address->port);
    return text;
}

bool capture_address_parse(const char *text, struct capture_address *address) {
    struct capture_address parsed = {.family = *text == '[' ? CAPTURE_IPV6 : CAPTURE_IPV4};
    bool is_ipv6 = parsed.family == CAPTURE_IPV6;
    const char *host = text + is_ipv6;
    const char *end = strrchr(text, ':');
    char copy[INET6_ADDRSTRLEN];
    guint64 port;

    if (end == NULL || !g_ascii_string_to_unsigned(end + 1, 10, 0, UINT16_MAX, &port, NULL))
        return false;
    parsed.port = (uint16_t)port;
    if (is_ipv6 && *--end != ']')
        return false;
    if (end <= host || (size_t)(end - host) >= sizeof copy)
        return false;
    memcpy(copy, host, (size_t)(end - host));
    copy[end - host] = '\0';
    if (inet_pton(is_ipv6 ? AF_INET6 : AF_INET, copy, parsed.bytes) != 1)
        return false;
    *address = parsed;
    return true;
}

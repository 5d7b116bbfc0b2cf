/* SPDX-License-Identifier: MIT */
#include "tools/capture/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

char *capture_address_format(const struct capture_address *address, char text[CAPTURE_ADDRESS_TEXT_BYTES]) {
    char host[INET6_ADDRSTRLEN] = "?";
    bool is_ipv6 = address->family == CAPTURE_IPV6;

    inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, address->bytes, host, sizeof host);
    snprintf(text, CAPTURE_ADDRESS_TEXT_BYTES, is_ipv6 ? "[%s]:%u" : "%s:%u", host, (unsigned)address->port);
    return text;
}

/* Parses a decimal number from 0 to 65535; false if text is anything else. */
static bool port_parse(const char *text, uint16_t *port) {
    uint32_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint32_t)(*text - '0');
        if (value > UINT16_MAX)
            return false;
    }
    *port = (uint16_t)value;
    return true;
}

bool capture_address_parse(const char *text, struct capture_address *address) {
    struct capture_address parsed = {.family = *text == '[' ? CAPTURE_IPV6 : CAPTURE_IPV4};
    bool is_ipv6 = parsed.family == CAPTURE_IPV6;
    const char *host = text + is_ipv6;
    const char *end = strrchr(text, ':');
    char copy[INET6_ADDRSTRLEN];

    if (end == NULL || !port_parse(end + 1, &parsed.port))
        return false;
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

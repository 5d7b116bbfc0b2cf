/* SPDX-License-Identifier: MIT */
/* Addresses of UDP datagrams and their text: `10.0.0.1:7777`, `[fe80::1]:7777`. */
#ifndef UERUDP_TOOLS_CAPTURE_CAPTURE_ADDRESS_H
#define UERUDP_TOOLS_CAPTURE_CAPTURE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

enum capture_ip_family { CAPTURE_IPV4 = 4, CAPTURE_IPV6 = 6 };

/* An IP address and a UDP port. IPv4 fills the first 4 bytes, the other 12 are zero, so that memcmp compares.
 */
struct capture_address {
    uint8_t bytes[16]; /* network order */
    uint16_t port;     /* host order */
    uint16_t family;   /* of type enum capture_ip_family */
};

/* Enough for the longest text, its port and the NUL. */
#define CAPTURE_ADDRESS_TEXT_BYTES 56

/* Writes address and port into text and returns text. */
char *capture_address_format(const struct capture_address *address, char text[CAPTURE_ADDRESS_TEXT_BYTES]);

/* Parses what capture_address_format writes. Returns false and leaves *address unchanged if text is anything else. */
bool capture_address_parse(const char *text, struct capture_address *address);

#endif

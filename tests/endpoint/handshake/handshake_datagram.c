/* SPDX-License-Identifier: MIT */
#include "tests/endpoint/handshake/handshake_datagram.h"

#include <string.h>

#include "tests/support/guarded.h"

struct handshake_datagram handshake_datagram_parse(const char *hex) {
    struct handshake_datagram d;
    d.size = hex_read(hex, d.bytes, sizeof d.bytes);
    return d;
}

struct ue_host host_from_text(const char *text) {
    struct ue_host host = {.size_bytes = (uint8_t)strlen(text)};
    memcpy(host.text, text, host.size_bytes);
    return host;
}

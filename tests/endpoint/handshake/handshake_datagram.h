/* SPDX-License-Identifier: MIT */
/* Handshake datagrams and addresses of tests. */
#ifndef UERUDP_TESTS_ENDPOINT_HANDSHAKE_HANDSHAKE_DATAGRAM_H
#define UERUDP_TESTS_ENDPOINT_HANDSHAKE_HANDSHAKE_DATAGRAM_H

#include "tools/endpoint/handshake/client_handshake.h"

#define SECOND UINT64_C(1000000000)
#define TICK (SECOND / 256) /* sums of ticks are exact in seconds, too */

struct handshake_datagram {
    uint8_t bytes[UE_HANDSHAKE_DATAGRAM_BYTES];
    size_t size;
};

struct handshake_datagram handshake_datagram_parse(const char *hex);

struct ue_host host_from_text(const char *text);

#endif

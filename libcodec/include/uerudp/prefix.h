/* SPDX-License-Identifier: MIT */
/* The prefix of every datagram: wrapper, magic header, session and client id, handshake bit (protocol.md 4.1). */
#ifndef UERUDP_PREFIX_H
#define UERUDP_PREFIX_H

#include <uerudp/bits.h>

struct ue_prefix {
    struct ue_view wrapper; /* settings.skip_bytes whole bytes */
    uint32_t magic;         /* 0 when settings.magic_bits is 0 */
    uint8_t session_id;     /* 0 to 3; 0 without ids */
    uint8_t client_id;      /* 0 to 7; 0 without ids */
    bool is_handshake;
};

#endif

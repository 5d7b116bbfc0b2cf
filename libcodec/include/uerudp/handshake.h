/* SPDX-License-Identifier: MIT */
/* Messages of the stateless handshake in all layouts (protocol.md 5). */
#ifndef UERUDP_HANDSHAKE_H
#define UERUDP_HANDSHAKE_H

#include <uerudp/bits.h>
#include <uerudp/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_handshake_type {
    UE_HANDSHAKE_INITIAL,
    UE_HANDSHAKE_CHALLENGE,
    UE_HANDSHAKE_RESPONSE,
    UE_HANDSHAKE_ACK,
    UE_HANDSHAKE_RESTART_REQUEST,
    UE_HANDSHAKE_RESTART_RESPONSE,
    UE_HANDSHAKE_VERSION_UPGRADE,
    UE_HANDSHAKE_TYPE_UNKNOWN /* layouts A to C, direction unknown: Challenge or Response */
};

#define UE_COOKIE_BYTES 20
#define UE_DIAGNOSTICS_BYTES 12

/* Length of the longest random tail. After the versions of a restart request at most this many bits follow; a body is
   longer (protocol.md 5.4). */
#define UE_HANDSHAKE_RANDOM_BITS_MAX 128

/* Members that the layout lacks are zero. */
struct ue_handshake {
    enum ue_handshake_type type; /* layouts A to C: derived from content and direction */
    bool restart;
    uint8_t min_version;
    uint8_t version;
    uint8_t sent_count;
    uint32_t network_version;
    uint16_t features;
    bool has_body; /* secret id, timestamp and cookie are present */
    uint8_t secret_id;
    uint64_t timestamp; /* raw IEEE bits: float32 in layouts A and B, double in the others */
    uint8_t cookie[UE_COOKIE_BYTES];
    bool has_orig_cookie;
    uint8_t orig_cookie[UE_COOKIE_BYTES];
    bool has_diagnostics;
    uint8_t diagnostics[UE_DIAGNOSTICS_BYTES];
    struct ue_view random; /* whole bytes, versioned layout only */
};

/* The direction of messages of this type (protocol.md 5.1); unknown for an unknown type. */
enum ue_direction ue_handshake_sender(enum ue_handshake_type type);

/* The timestamp in seconds. */
double ue_handshake_timestamp(const struct ue_context *context, const struct ue_handshake *handshake);

/* The raw bits of a timestamp, in the width of the context's layout. */
uint64_t ue_handshake_timestamp_bits(const struct ue_context *context, double seconds);

/* First packet sequences of both sides, 14 bits each (protocol.md 5.7). */
struct ue_sequences {
    uint16_t server;
    uint16_t client;
};

struct ue_sequences ue_cookie_sequences(const uint8_t cookie[UE_COOKIE_BYTES]);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Which generations match a single datagram (protocol.md 17). */
#ifndef UERUDP_PROFILE_MATCH_H
#define UERUDP_PROFILE_MATCH_H

#include <uerudp/datagram.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_features_seen { UE_FEATURES_UNDECIDED, UE_FEATURES_ABSENT, UE_FEATURES_PRESENT };

/* What a handshake datagram shows without its connection. */
struct ue_handshake_match {
    uint16_t profiles; /* bit mask of the profile rows that send this form */
    uint16_t assumed;  /* subset of profiles: the likely ones, to use unless other datagrams exclude them */
    bool ids;          /* the prefix has session and client id */
    enum ue_features_seen features;
    enum ue_handshake_type type; /* UE_HANDSHAKE_TYPE_UNKNOWN: Challenge or Response of layouts A to C */
    enum ue_direction direction; /* of such a message; unknown when the type is unknown */
    bool restart;
    bool has_body;   /* secret id, timestamp and cookie are present */
    bool has_cookie; /* the cookie is present and not zero */
    uint8_t cookie[UE_COOKIE_BYTES];
    bool has_orig_cookie;
    uint8_t orig_cookie[UE_COOKIE_BYTES];
};

#define UE_HANDSHAKE_BITS_MAX 608 /* 76 bytes: a restart response with everything (protocol.md 5.2 to 5.4) */

/* Whether a datagram is longer than any handshake message with the magic header and wrapper of the settings: the
   shortest test that rejects most packets. */
UE_INLINE bool ue_profile_match_is_too_long(const struct ue_settings *settings, size_t size_bytes) {
    return size_bytes * 8 > ue_settings_prefix_bits(settings) + UE_HANDSHAKE_BITS_MAX;
}

/* Whether a datagram has the form of a handshake message of any generation, after the magic header and wrapper of the
   settings. Fills *match when it has. Other datagrams are rejected after a few comparisons. */
bool ue_profile_match_handshake(const struct ue_settings *settings, const uint8_t *bytes, size_t size_bytes,
                                struct ue_handshake_match *match);

/* Whether a datagram begins with 32 set bits: a query of Steam's A2S protocol, or an answer, which also use the port of
   the game. Without magic header and wrapper no datagram of this protocol begins so. */
bool ue_profile_match_is_query(const uint8_t *bytes, size_t size_bytes);

/* Whether a packet matches a context. */
struct ue_packet_match {
    bool fits;        /* it decodes to its last bit, is canonical, and every bunch is plausible */
    bool has_bunches; /* the match is evidence; a header alone matches almost any bits */
    bool opens_actor; /* a bunch opens the channel of an actor, which only servers send (protocol.md 11) */
    struct ue_decode_result result;
};

void ue_profile_match_packet(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                             struct ue_packet_match *fit);

/* Whether the captured part of a cut packet can be one of this context: no fault, and plausible bunches. bytes has
   zeros after captured_bytes, and terminators at its end; is_shortened: the packet was longer. */
bool ue_profile_match_cut(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                          size_t captured_bytes, bool is_shortened);

#ifdef __cplusplus
}
#endif

#endif

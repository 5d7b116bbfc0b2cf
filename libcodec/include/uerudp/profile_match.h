/* SPDX-License-Identifier: MIT */
/* What a single datagram tells about its generation (protocol.md 17). */
#ifndef UERUDP_PROFILE_MATCH_H
#define UERUDP_PROFILE_MATCH_H

#include <uerudp/datagram.h>

enum ue_features_seen { UE_FEATURES_UNDECIDED, UE_FEATURES_ABSENT, UE_FEATURES_PRESENT };

/* What a handshake datagram says by itself. */
struct ue_handshake_match {
    uint16_t profiles; /* bit mask of profile rows that send this form */
    uint16_t assumed;  /* of these, the ones to believe in while nothing contradicts */
    bool ids;          /* session and client id in front */
    enum ue_features_seen features;
    enum ue_handshake_type type; /* UE_HANDSHAKE_TYPE_UNKNOWN: Challenge or Response of layouts A to C */
    enum ue_direction direction; /* who sends such a message; unknown where the type is */
    bool restart;
    bool has_body;   /* secret id, timestamp and cookie are there */
    bool has_cookie; /* cookie is there and not zero */
    uint8_t cookie[UE_COOKIE_BYTES];
    bool has_orig_cookie;
    uint8_t orig_cookie[UE_COOKIE_BYTES];
};

/* Whether no handshake message is that long, the settings' magic header and wrapper included. */
bool ue_profile_match_is_too_long(const struct ue_settings *settings, size_t size_bytes);

/* Whether the datagram has the form of a handshake message of any generation, under the settings' magic header and
   wrapper. Costs a few comparisons for a datagram that does not. */
bool ue_profile_match_handshake(const struct ue_settings *settings, const uint8_t *bytes, size_t size_bytes,
                         struct ue_handshake_match *shape);

/* Whether the datagram begins with 32 set bits, as queries of Steam's A2S protocol and their answers do, which game
   servers also get on their own port. Without magic header and wrapper no datagram of this protocol does. */
bool ue_profile_match_is_query(const uint8_t *bytes, size_t size_bytes);

/* Initials of one form from one side that prove a conversation which nobody answers. */
#define UE_PROTOCOL_PROOF_INITIALS 3

/* Ordinary packets with bunches that prove a conversation after an Initial, and among how many datagrams. */
#define UE_PROTOCOL_PROOF_PACKETS 2
#define UE_PROTOCOL_PROOF_DATAGRAMS_MAX 16

/* Whether datagrams of a conversation prove by themselves that it speaks this protocol. One datagram never does: among
   the sparse headers and counters of other protocols each form of a handshake message occurs. These do:
   - an Initial with an all-zero body, and a message of the same form with a cookie;
   - two messages of different types with the same cookie, for example Challenge and Ack. A message that comes back
     unchanged is an echo, although up to 5.0 a Response is the same as its Challenge;
   - UE_PROTOCOL_PROOF_INITIALS Initials of one form from one side;
   - an Initial, and UE_PROTOCOL_PROOF_PACKETS ordinary packets that fit a generation of its form. */
struct ue_protocol_proof {
    uint16_t initial_profiles; /* that fit the Initials and the ordinary packets counted; 0: no Initial */
    uint8_t initials;
    uint8_t packets;  /* ordinary ones that fit */
    uint8_t patience; /* ordinary datagrams that can still prove the conversation */
    bool initial_from_side_one;
    bool has_cookie;
    bool from_side_one;
    bool versioned;
    uint8_t type; /* enum ue_handshake_type of the message with the cookie */
    uint8_t cookie[UE_COOKIE_BYTES];
};

/* Feeds one handshake message that side 0 or 1 sent; true once the conversation is proven. */
bool ue_protocol_proof_add_handshake(struct ue_protocol_proof *binding, unsigned side, const struct ue_handshake_match *shape);

/* Whether datagrams that are no handshake messages are to be fed, too. */
bool ue_protocol_proof_needs_packets(const struct ue_protocol_proof *binding);

/* Feeds such a datagram; true once the conversation is proven. */
bool ue_protocol_proof_add_packet(struct ue_protocol_proof *binding, const struct ue_settings *settings, unsigned side,
                            const uint8_t *bytes, size_t size_bytes);

/* How well an ordinary datagram fits a context. */
struct ue_packet_match {
    bool fits;        /* decodes to the last bit, canonically, and every bunch is plausible */
    bool has_bunches; /* evidence, as opposed to a header that fits anything */
    struct ue_decode_result verdict;
};

void ue_profile_match_packet(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes, struct ue_packet_match *fit);

#endif

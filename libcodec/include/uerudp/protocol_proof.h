/* SPDX-License-Identifier: MIT */
/* When the datagrams of a conversation prove that it speaks this protocol (protocol.md 17). */
#ifndef UERUDP_PROTOCOL_PROOF_H
#define UERUDP_PROTOCOL_PROOF_H

#include <uerudp/profile_match.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of Initials of one form from one side that are proof even without an answer. */
#define UE_PROTOCOL_PROOF_INITIALS 3

/* Number of packets with bunches after an Initial that are proof, and within how many datagrams. */
#define UE_PROTOCOL_PROOF_PACKETS 2
#define UE_PROTOCOL_PROOF_DATAGRAMS_MAX 16

/* Collects proof that a conversation of two addresses speaks this protocol. One datagram is no proof, because every
   form of a handshake message also occurs among the sparse headers and counters of other protocols. Proof is:
   - an Initial with an all-zero body, and a message of the same form with a cookie;
   - two messages of different types with the same cookie, for example Challenge and Ack. A message that returns
     unchanged counts as an echo, although up to 5.0 a Response is equal to its Challenge;
   - UE_PROTOCOL_PROOF_INITIALS Initials of one form from one side;
   - an Initial, and UE_PROTOCOL_PROOF_PACKETS packets that match a generation of its form.
   A zeroed struct is empty. */
struct ue_protocol_proof {
    uint16_t initial_profiles; /* rows that match the Initials and the packets counted; 0: no Initial */
    uint8_t initials;
    uint8_t packets;  /* packets that match */
    uint8_t patience; /* number of further packets that can complete the proof */
    bool initial_from_side_one;
    bool has_cookie;
    bool from_side_one;
    bool versioned;
    uint8_t type; /* enum ue_handshake_type of the message with the cookie */
    uint8_t cookie[UE_COOKIE_BYTES];
};

/* Adds a handshake message that side 0 or 1 sent. Returns true when the proof is complete. */
bool ue_protocol_proof_add_handshake(struct ue_protocol_proof *proof, unsigned side,
                                     const struct ue_handshake_match *match);

/* Whether ue_protocol_proof_add_packet must be called for datagrams that are no handshake messages. */
bool ue_protocol_proof_needs_packets(const struct ue_protocol_proof *proof);

/* Adds such a datagram. Returns true when the proof is complete. */
bool ue_protocol_proof_add_packet(struct ue_protocol_proof *proof, const struct ue_settings *settings, unsigned side,
                                  const uint8_t *bytes, size_t size_bytes);

#ifdef __cplusplus
}
#endif

#endif

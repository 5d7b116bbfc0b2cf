/* SPDX-License-Identifier: MIT */
#include <uerudp/protocol_proof.h>

#include <string.h>

/* ---- handshakes ---- */

static bool add_initial(struct ue_protocol_proof *proof, bool from_side_one, const struct ue_handshake_match *match) {
    bool again = (proof->initial_profiles & match->profiles) != 0 && proof->initial_from_side_one == from_side_one;
    proof->initials = (uint8_t)(again ? proof->initials + 1 : 1);
    proof->initial_profiles = again ? proof->initial_profiles & match->profiles : match->profiles;
    proof->initial_from_side_one = from_side_one;
    proof->packets = 0;
    proof->patience = UE_PROTOCOL_PROOF_DATAGRAMS_MAX;
    return proof->initials >= UE_PROTOCOL_PROOF_INITIALS;
}

/* Whether the message has the cookie of the stored message and is not a repetition of it. */
static bool completes(const struct ue_protocol_proof *proof, bool from_side_one,
                      const struct ue_handshake_match *match) {
    bool same = proof->has_cookie && memcmp(proof->cookie, match->cookie, sizeof proof->cookie) == 0;
    bool answered = from_side_one != proof->from_side_one || match->type == UE_HANDSHAKE_ACK;
    return same && answered && match->ids == proof->versioned && match->type != proof->type;
}

static void store(struct ue_protocol_proof *proof, bool from_side_one, const struct ue_handshake_match *match) {
    proof->has_cookie = true;
    proof->from_side_one = from_side_one;
    proof->versioned = match->ids;
    proof->type = (uint8_t)match->type;
    memcpy(proof->cookie, match->cookie, sizeof proof->cookie);
}

bool ue_protocol_proof_add_handshake(struct ue_protocol_proof *proof, unsigned side,
                                     const struct ue_handshake_match *match) {
    bool from_side_one = side != 0;
    if (match->has_body && match->type == UE_HANDSHAKE_INITIAL) {
        return add_initial(proof, from_side_one, match);
    }
    if (!match->has_cookie) {
        return false;
    }
    if ((proof->initial_profiles & match->profiles) != 0 || completes(proof, from_side_one, match)) {
        return true;
    }
    if (match->type != UE_HANDSHAKE_ACK) {
        store(proof, from_side_one, match);
    }
    return false;
}

/* ---- packets ---- */

bool ue_protocol_proof_needs_packets(const struct ue_protocol_proof *proof) {
    return proof->patience != 0;
}

static bool packet_matches(size_t row, const struct ue_settings *settings, enum ue_direction direction,
                           const uint8_t *bytes, size_t size_bytes) {
    struct ue_context x;
    struct ue_packet_match fit;
    ue_context_init(&x, ue_profile_at(row), settings);
    x.direction = direction;
    ue_profile_match_packet(&x, bytes, size_bytes, &fit);
    return fit.fits && fit.has_bunches;
}

bool ue_protocol_proof_add_packet(struct ue_protocol_proof *proof, const struct ue_settings *settings, unsigned side,
                                  const uint8_t *bytes, size_t size_bytes) {
    bool from_client = (side != 0) == proof->initial_from_side_one;
    uint16_t matching = 0;
    proof->patience--;
    for (size_t row = 0; row < UE_PROFILE_COUNT; row++) {
        if ((proof->initial_profiles >> row & 1) != 0 &&
            packet_matches(row, settings, from_client ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT, bytes, size_bytes)) {
            matching |= (uint16_t)(1u << row);
        }
    }
    if (matching == 0) {
        return false;
    }
    proof->initial_profiles = matching;
    return ++proof->packets >= UE_PROTOCOL_PROOF_PACKETS;
}

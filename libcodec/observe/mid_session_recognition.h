/* SPDX-License-Identifier: MIT */
/* Recognises a connection whose handshake is not in the capture, and whose port is not known, by its packets
   (protocol.md 17.3). */
#ifndef UERUDP_LIBCODEC_OBSERVE_MID_SESSION_RECOGNITION_H
#define UERUDP_LIBCODEC_OBSERVE_MID_SESSION_RECOGNITION_H

#include <uerudp/observer.h>

/* Pairs of addresses that are compared at the same time. */
#define UE_RECOGNITION_CANDIDATES 1024

/* To compare all datagrams of other protocols would cost several times more than to reject them. Of each STEP frames
   only the first WINDOW are compared, and as many after the last one in which a pair made progress. */
#define UE_RECOGNITION_WINDOW 512
#define UE_RECOGNITION_STEP 65536

struct ue_recognition_candidate;

/* Zeroed: empty. */
struct ue_recognition {
    struct ue_recognition_candidate *candidates; /* NULL before the first datagram */
    uint64_t end_frame;                          /* of a window that progress made longer */
};

void ue_recognition_clear(struct ue_recognition *recognition, const struct ue_allocator *allocator);

/* Whether the datagrams of this frame are compared. */
UE_INLINE bool ue_recognition_is_awake(const struct ue_recognition *recognition, uint64_t frame) {
    return frame % UE_RECOGNITION_STEP < UE_RECOGNITION_WINDOW || frame < recognition->end_frame;
}

/* To be called while awake: compares a datagram of addresses without connection with those before it. hash: of the two
   addresses, equal for both directions. Returns true when the packets of both sides are proof. */
bool ue_recognition_feed(struct ue_recognition *recognition, const struct ue_allocator *allocator,
                         const struct ue_settings *settings, const struct ue_captured_datagram *captured,
                         uint64_t hash);

#endif

/* SPDX-License-Identifier: MIT */
/* The packet with which a client begins a session. From 4.22 on it shows what the cookie of the handshake shows: the
   first sequences of both sides (protocol.md 5.7). */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_SESSION_START_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_SESSION_START_H

#include <uerudp/detection.h>

/* Whether a packet begins another session than that of the packets before it. Cheap for a packet that follows the one
   before it. */
bool ue_detection_is_other_session(const struct ue_detection *detection, unsigned side, uint16_t seq,
                                   const struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

/* Whether a packet is a late copy of the one that began the session before. Cheap for all other packets. */
bool ue_detection_is_earlier_opening(const struct ue_detection *detection, unsigned side,
                                     const struct ue_decode_result *result, const struct ue_context *context,
                                     const uint8_t *bytes, size_t size_bytes);

/* Whether a packet begins a session: it opens channel 0, received no packet before, and numbers its bunch as the first
   of its side. A retransmission of that bunch is in a packet with another sequence. */
bool ue_detection_is_opening(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes);

#endif

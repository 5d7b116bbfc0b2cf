/* SPDX-License-Identifier: MIT */
/* Comparison of the generation and the handlers that the caller gave with the first datagrams. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_GIVEN_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_GIVEN_H

#include <uerudp/detection.h>

/* Compares a datagram before the release. match: of a handshake message, or NULL. */
void ue_detection_compare_datagram(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                   size_t size_bytes, const struct ue_handshake_match *match);

/* Whether no further datagram is needed to release a detection whose generation the caller gave. */
bool ue_detection_given_is_certain(const struct ue_detection *detection);

/* At the release: if what the caller gave is contradicted, no packet is decoded, and handshake messages with the
   generation that is detected without it; if only the game's own bounds are missing, these apply. Returns whether it is
   contradicted. */
bool ue_detection_reject_given(struct ue_detection *detection);

/* Adopts the contradiction that a detection found beside this one, which goes on with what the caller gave, if no
   packet that follows could withdraw it. */
void ue_detection_adopt_contradiction(struct ue_detection *detection, const struct ue_detection *compared);

/* Adopts that of the connection that this one continues. */
void ue_detection_adopt_given(struct ue_detection *detection, const struct ue_detection *earlier);

#endif

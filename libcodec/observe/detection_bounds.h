/* SPDX-License-Identifier: MIT */
/* A game's own bounds, in a connection with cut datagrams: the whole ones may be too few to find the bounds, and still
   show that they are not those of the result. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_BOUNDS_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_BOUNDS_H

#include <uerudp/detection.h>

/* Call for each datagram that a snap length cut. */
void ue_detection_begin_bounds(struct ue_detection *detection);

/* Counts the variants that a whole packet does not match. */
void ue_detection_observe_bounds(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                 size_t size_bytes);

/* Chooses the variant that fewest of them contradict, if that is fewer by UE_DETECTION_CERTAIN_MATCHES than contradict
   the settings. Returns false if there is none. */
bool ue_detection_choose_bounds(struct ue_detection *detection);

/* Whether a packet matches a candidate of a result with a variant that fewer packets contradict than the settings. */
bool ue_detection_matches_other_bounds(const struct ue_detection *detection, const struct ue_detection_result *result,
                                       enum ue_direction direction, const uint8_t *bytes, size_t size_bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* Detection by spawn data, which tells apart two generations with the same packet format. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_SPAWN_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_SPAWN_H

#include <uerudp/detection.h>

/* Decodes the actor spawns of a packet with each profile that has the packet format of the chosen one, and chooses the
   profile that matches. Cheap when there is no such profile, and after a few spawns that agree. */
void ue_detection_observe_spawns(struct ue_detection *detection, const struct ue_context *context, const uint8_t *bytes,
                                 size_t size_bytes);

#endif

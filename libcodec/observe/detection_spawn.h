/* SPDX-License-Identifier: MIT */
/* Which of two generations with the same packets the spawn data of actors shows. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_SPAWN_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_SPAWN_H

#include <uerudp/detection.h>

/* Reads the actors that a packet spawns under each profile that puts the same bits into packets as the chosen one, and
   chooses the one that fits. Costs little for profiles that are alone, and after a few spawns that agree. */
void ue_detection_observe_spawns(struct ue_detection *flow, const struct ue_context *context, const uint8_t *bytes,
                          size_t size_bytes);

#endif

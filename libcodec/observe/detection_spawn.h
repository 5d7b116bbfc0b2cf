/* SPDX-License-Identifier: MIT */
/* Detection by spawn data, which tells apart generations with the same packet format, and within generation 4.25
   releases that differ in the content of messages only. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_SPAWN_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_SPAWN_H

#include <uerudp/detection.h>

/* Decodes the actor spawns of a packet with each form of content that the packet format allows. The result gets the
   generation whose form fits most spawns, and the EngineNetVer of a form that fits three more than every other one.
   Packets before that keep their results. Cheap when there is one form, and after the decision. */
void ue_detection_observe_spawns(struct ue_detection *detection, const struct ue_context *context, const uint8_t *bytes,
                                 size_t size_bytes);

#endif

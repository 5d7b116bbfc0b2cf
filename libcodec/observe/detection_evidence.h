/* SPDX-License-Identifier: MIT */
/* What ordinary packets show of the generation of a flow. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_EVIDENCE_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_EVIDENCE_H

#include <uerudp/detection.h>

/* A sequence that moves further between two datagrams of a direction is not believed. */
#define UE_DETECTION_SEQ_STEP_MAX 1024

/* Datagrams with bunches that must fit before a single profile counts as certain. */
#define UE_DETECTION_CERTAIN_MATCHES 5

/* The first profile of a mask; 0 for an empty mask. */
unsigned ue_profile_mask_oldest(uint16_t mask);

enum ue_direction ue_detection_direction(const struct ue_detection *flow, unsigned side);

/* The context of a choice. */
void ue_detection_context_for(const struct ue_detection *flow, const struct ue_detection_result *choice, enum ue_direction direction,
                         struct ue_context *context);

void ue_detection_choose(struct ue_detection *flow, unsigned profile, unsigned variant, uint16_t candidates,
                    enum ue_detection_reason reason);

/* Chooses by all that was counted since the detection began. */
void ue_detection_decide(struct ue_detection *flow);

/* Whether the choice needs no further packet. */
bool ue_detection_is_certain(const struct ue_detection *flow);

/* Counts a packet before the release, and decides. */
void ue_detection_try_packet(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes);

/* Compares a packet after the release with the choice. A packet that fits only some of the generations that tied
   narrows the tie. When most packets fail, detection begins again, and the choice holds until 16 to 64 further packets
   show what fits. */
void ue_detection_check_packet(struct ue_detection *flow, unsigned side, const uint8_t *bytes, size_t size_bytes);

#endif

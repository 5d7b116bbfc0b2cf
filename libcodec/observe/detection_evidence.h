/* SPDX-License-Identifier: MIT */
/* What ordinary packets show of the generation of a flow. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_EVIDENCE_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_EVIDENCE_H

#include <uerudp/detection.h>

/* A sequence that moves further between two datagrams of a direction is not believed. */
#define UE_FLOW_SEQ_STEP_MAX 1024

/* Datagrams with bunches that must fit before a single profile counts as certain. */
#define UE_FLOW_CERTAIN_FITS 5

/* The first profile of a mask; 0 for an empty mask. */
unsigned ue_profiles_oldest(uint16_t mask);

enum ue_direction ue_flow_direction(const struct ue_flow *flow, unsigned side);

/* The context of a choice. */
void ue_flow_context_for(const struct ue_flow *flow, const struct ue_choice *choice, enum ue_direction direction,
                         struct ue_context *context);

void ue_flow_choose(struct ue_flow *flow, unsigned profile, unsigned variant, uint16_t candidates,
                    enum ue_reason reason);

/* Chooses by all that was counted since the detection began. */
void ue_flow_decide(struct ue_flow *flow);

/* Whether the choice needs no further packet. */
bool ue_flow_is_certain(const struct ue_flow *flow);

/* Counts a packet before the release, and decides. */
void ue_flow_try(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes);

/* Compares a packet after the release with the choice. A packet that fits only some of the generations that tied
   narrows the tie. When most packets fail, detection begins again, and the choice holds until 16 to 64 further packets
   show what fits. */
void ue_flow_watch(struct ue_flow *flow, unsigned side, const uint8_t *bytes, size_t size_bytes);

#endif

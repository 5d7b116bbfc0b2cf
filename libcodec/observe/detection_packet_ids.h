/* SPDX-License-Identifier: MIT */
/* The full numbers of a flow's packets, also where the header moves with the choice of the generation. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_PACKET_IDS_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_PACKET_IDS_H

#include <uerudp/detection.h>

/* Where the header of a profile stands. */
enum ue_header_position ue_detection_header_position(unsigned profile, bool ids);

/* Whether this profile has ids in its prefix, as far as the flow shows it. */
bool ue_detection_has_ids(const struct ue_detection *flow, unsigned profile);

/* Numbers the next packet of a side. */
void ue_detection_side_expand(struct ue_detection_side *side, uint16_t seq, uint16_t ack, bool modern, struct ue_packet_ids *links);

/* Notes what this profile reads in the present datagram, which comes before the verdict. At each place the first that
   is noted counts. */
void ue_detection_add_header(struct ue_detection *flow, unsigned profile, unsigned side, uint16_t seq, uint16_t ack);

/* Before the choice changes: numbers that were read where another generation has its header are worth nothing. Up to
   the verdict they are read anew, behind it they are forgotten. */
void ue_detection_move_header(struct ue_detection *flow, unsigned profile, bool ids);

/* Sequences continue across a move; what the new address has shown so far is newer than the old state. */
void ue_detection_side_adopt(struct ue_detection_side *side, const struct ue_detection_side *old);

#endif

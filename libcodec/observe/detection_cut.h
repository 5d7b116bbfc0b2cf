/* SPDX-License-Identifier: MIT */
/* What the captured part of a cut packet shows about the generation. */
#ifndef UERUDP_LIBCODEC_OBSERVE_DETECTION_CUT_H
#define UERUDP_LIBCODEC_OBSERVE_DETECTION_CUT_H

#include <uerudp/detection.h>

/* Counts the profiles that a cut packet contradicts, and chooses. */
void ue_detection_observe_cut(struct ue_detection *detection, unsigned side, const struct ue_detection_head *head);

#endif

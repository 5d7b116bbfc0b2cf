/* SPDX-License-Identifier: MIT */
/* The sentence of a finding, from its row and its values. */
#ifndef UERUDP_TOOLS_INFO_FINDING_TEXT_H
#define UERUDP_TOOLS_INFO_FINDING_TEXT_H

#include <uerudp/findings.h>

/* The most frames that {frames} lists. */
#define INFO_FINDING_FRAMES_LISTED 4

/* Returns the sentence without its final period; the caller frees it with g_free. */
char *info_finding_text(const struct ue_finding *finding);

#endif

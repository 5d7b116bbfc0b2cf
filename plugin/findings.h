/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns what the tracker tells into notes: of the datagram in hand, and of those that it speaks of. */
#ifndef UE_FINDINGS_H
#define UE_FINDINGS_H

#include "plugin/compat.h"

#include "libcodec/track.h"

struct ue_visit;

/* Of one stream. A side of which datagrams were cut is not blamed for what the capture does not hold. */
struct ue_findings {
    uint32_t cut[2]; /* datagrams of a side since its last whole one */
    bool has_cut[2]; /* ever */
};

/* Notes one event of a datagram. */
void ue_findings_take(struct ue_findings *findings, struct ue_visit *visit, const struct ue_context *context,
                      const struct ue_track_event *event);

/* A datagram of this side is not whole. */
void ue_findings_cut(struct ue_findings *findings, unsigned side);

#endif

/* SPDX-License-Identifier: MIT */
#include "tools/info/reliable_buffer.h"

#include <inttypes.h>

#include "tools/print/phrase.h"

void info_reliable_buffer_report(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    uint32_t peak = figures->reliable_peak, limit = info->reliable_limit;
    if (figures->jumps != 0) {
        struct info_finding finding = INFO_FINDING_OF(RELIABLE_JUMP, figures->jumps);
        info_findings_add(&info->findings, &finding, "%s %s so far ahead that no reliable buffer reaches there",
                          phrase_count(figures->jumps, "reliable bunch").text, phrase_direction(side));
    }
    bool is_full = ue_finding_is_share_reached(UE_FINDING_BUFFER_FULL, peak, limit);
    if (ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, peak, limit) && peak != 0) {
        struct info_finding finding = INFO_FINDING_AT(BUFFER_HIGH, peak, figures->reliable_peak_frame);
        finding.id = is_full ? UE_FINDING_BUFFER_FULL : UE_FINDING_BUFFER_HIGH;
        info_findings_add(&info->findings, &finding,
                          "reliable buffer of channel %" PRIu32 " (%s) held %" PRIu32 " of %" PRIu32
                          " bunches in frame %" PRIu64 "%s",
                          figures->reliable_peak_channel, phrase_direction(side), peak, limit,
                          figures->reliable_peak_frame,
                          is_full ? ": at the limit an engine closes the connection" : "");
    }
}

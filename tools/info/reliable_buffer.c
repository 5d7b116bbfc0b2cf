/* SPDX-License-Identifier: MIT */
#include "tools/info/reliable_buffer.h"

void info_reliable_buffer_report(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    uint32_t peak = figures->reliable_peak, limit = info->reliable_limit;
    if (figures->jumps != 0) {
        const struct ue_finding finding = ue_finding_of_count(UE_FINDING_RELIABLE_JUMP, side, figures->jumps, 0);
        info_findings_add(&info->findings, &finding);
    }
    if (ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, peak, limit) && peak != 0) {
        bool is_full = ue_finding_is_share_reached(UE_FINDING_BUFFER_FULL, peak, limit);
        struct ue_finding finding = ue_finding_of_count(is_full ? UE_FINDING_BUFFER_FULL : UE_FINDING_BUFFER_HIGH, side,
                                                        peak, figures->reliable_peak_frame);
        ue_finding_set(&finding, UE_VALUE_OF, limit);
        ue_finding_set(&finding, UE_VALUE_CHANNEL, figures->reliable_peak_channel);
        info_findings_add(&info->findings, &finding);
    }
}

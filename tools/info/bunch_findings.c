/* SPDX-License-Identifier: MIT */
#include "tools/info/bunch_findings.h"

void info_bunch_findings_report(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    if (figures->partial_errors != 0) {
        const struct ue_finding finding =
            ue_finding_of_count(UE_FINDING_PARTIAL_ERROR, side, figures->partial_errors, figures->partial_frame);
        info_findings_add(&info->findings, &finding);
    }
    const struct ue_tracker_counts *counts = &figures->counts;
    if (counts->spurious * 100 > counts->reliable * UE_THRESHOLD_SPURIOUS) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_SPURIOUS, side, counts->spurious, 0);
        ue_finding_set(&finding, UE_VALUE_OF, (int64_t)counts->resends);
        info_findings_add(&info->findings, &finding);
    }
}

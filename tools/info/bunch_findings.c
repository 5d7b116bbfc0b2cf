/* SPDX-License-Identifier: MIT */
#include "tools/info/bunch_findings.h"

#include <inttypes.h>

#include "tools/print/phrase.h"

void info_bunch_findings_report(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    if (figures->partial_errors != 0) {
        struct info_finding finding = INFO_FINDING_AT(PARTIAL_ERROR, figures->partial_errors, figures->partial_frame);
        info_findings_add(
            &info->findings, &finding, "%s %s not continuing what came before, the first in frame %" PRIu64,
            phrase_count(figures->partial_errors, "fragment").text, phrase_direction(side), figures->partial_frame);
    }
    const struct ue_tracker_counts *counts = &figures->counts;
    if (counts->spurious * 100 > counts->reliable * UE_THRESHOLD_SPURIOUS) {
        struct info_finding finding = INFO_FINDING_OF(SPURIOUS, counts->spurious);
        info_findings_add(&info->findings, &finding,
                          "%" PRIu64 " of %s %s repeated bunches that had been reported as delivered", counts->spurious,
                          phrase_count(counts->resends, "resend").text, phrase_direction(side));
    }
}

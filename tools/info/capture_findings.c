/* SPDX-License-Identifier: MIT */
#include "tools/info/capture_findings.h"

#include <inttypes.h>

#include "tools/print/phrase.h"

void info_capture_findings_add_malformed(struct info_connection *info, const struct input_datagram *captured) {
    const struct ue_fault *fault = &captured->result.fault;
    struct info_finding finding = INFO_FINDING_AT(MALFORMED, 0, captured->observed->frame);
    info_findings_add(&info->findings, &finding, "malformed datagram of the %s in frame %" PRIu64 ": %s at bit %zu: %s",
                      phrase_side(captured->role), captured->observed->frame, ue_field_row(fault->field)->name,
                      fault->bit, ue_status_text(fault->status));
}

static void report_capture(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    if (figures->not_captured != 0) {
        struct info_finding finding = INFO_FINDING_AT(INCOMPLETE, figures->not_captured, figures->not_captured_frame);
        info_findings_add(
            &info->findings, &finding,
            "the capture is incomplete: %s %s %s acknowledged but %s not in it, the first reported in frame "
            "%" PRIu64,
            phrase_count(figures->not_captured, "packet").text, phrase_direction(side),
            figures->not_captured == 1 ? "was" : "were", figures->not_captured == 1 ? "is" : "are",
            figures->not_captured_frame);
    }
    bool is_alone = figures->packets != 0 && info->sides[!side].datagrams == 0;
    if (is_alone) {
        struct info_finding finding = INFO_FINDING_OF(ONE_WAY, figures->datagrams);
        info_findings_add(
            &info->findings, &finding,
            "the capture has only datagrams %s: round trips, and what the %s received from the %s, are unknown",
            phrase_direction(side), phrase_side(!side), phrase_side(side));
    }
    if (figures->opaque != 0) {
        struct info_finding finding = INFO_FINDING_OF(OPAQUE, figures->opaque);
        info_findings_add(&info->findings, &finding, "%s %s encrypted or compressed: the content was not decoded",
                          phrase_count(figures->opaque, "packet").text, phrase_direction(side));
    }
    if (figures->cut != 0) {
        struct info_finding finding = INFO_FINDING_OF(CUT, figures->cut);
        info_findings_add(&info->findings, &finding, "%s %s cut by the snap length of the capture, and left out",
                          phrase_count(figures->cut, "datagram").text, phrase_direction(side));
    }
}

static void report_times(struct info_connection *info) {
    if (info->implausible != 0) {
        struct info_finding finding = INFO_FINDING_AT(TIMES, info->implausible, info->implausible_frame);
        info_findings_add(&info->findings, &finding,
                          "%s captured before 1970 or after 2116, the first in frame %" PRIu64
                          ": such times are implausible; no time, span or rate of this connection is shown",
                          phrase_count(info->implausible, "datagram").text, info->implausible_frame);
    }
}

void info_capture_findings_report(struct info_connection *info) {
    report_times(info);
    for (unsigned side = 0; side < 2; side++) {
        report_capture(info, side);
    }
}

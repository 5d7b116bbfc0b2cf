/* SPDX-License-Identifier: MIT */
#include "tools/info/capture_findings.h"

void info_capture_findings_add_malformed(struct info_connection *info, const struct input_datagram *captured) {
    const struct ue_fault *fault = &captured->result.fault;
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_MALFORMED, captured->role, 0, captured->observed->frame);
    ue_finding_set(&finding, UE_VALUE_FIELD, fault->field);
    ue_finding_set(&finding, UE_VALUE_BIT, (int64_t)fault->bit);
    ue_finding_set(&finding, UE_VALUE_STATUS, fault->status);
    info_findings_add(&info->findings, &finding);
}

static void add_counted(struct info_connection *info, enum ue_finding_id id, unsigned side, uint64_t count,
                        uint64_t frame) {
    if (count != 0) {
        const struct ue_finding finding = ue_finding_of_count(id, side, count, frame);
        info_findings_add(&info->findings, &finding);
    }
}

static void report_capture(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    bool is_alone = figures->packets != 0 && info->sides[!side].datagrams == 0;
    add_counted(info, UE_FINDING_INCOMPLETE, side, figures->not_captured, figures->not_captured_frame);
    add_counted(info, UE_FINDING_ONE_WAY, side, is_alone ? figures->datagrams : 0, 0);
    add_counted(info, UE_FINDING_OPAQUE, side, figures->opaque, 0);
    add_counted(info, UE_FINDING_CUT, side, figures->cut, 0);
}

void info_capture_findings_report(struct info_connection *info) {
    add_counted(info, UE_FINDING_TIMES, 0, info->implausible, info->implausible_frame);
    for (unsigned side = 0; side < 2; side++) {
        report_capture(info, side);
    }
}

/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"

static void end_burst(struct ue_findings *findings, unsigned side) {
    struct ue_loss_burst *burst = &findings->bursts[side];
    uint64_t count = burst->count;
    burst->count = 0;
    if (count < UE_THRESHOLD_LOSS_BURST) {
        return;
    }
    bool is_seen = burst->first_frame != 0;
    struct ue_finding finding = ue_finding_of_count(is_seen ? UE_FINDING_LOSS_BURST : UE_FINDING_UNSEEN_BURST, side,
                                                    count, is_seen ? burst->first_frame : burst->reported_frame);
    finding.frames[1] = burst->last_frame;
    finding.frame_count = is_seen ? 2 : 1;
    ue_finding_set(&finding, UE_VALUE_FIRST, burst->last_id - (int64_t)count + 1);
    ue_finding_set(&finding, UE_VALUE_LAST, burst->last_id);
    ue_findings_report(findings, &finding);
}

void ue_loss_bursts_on_event(struct ue_findings *findings, const struct ue_tracker_event *event) {
    bool is_lost = event->type == UE_TRACKER_NAK;
    struct ue_loss_burst *burst = &findings->bursts[!event->side];
    if ((event->type != UE_TRACKER_ACK && !is_lost) || event->is_withdrawn) {
        return;
    }
    if (burst->count != 0 && (!is_lost || event->packet_id != burst->last_id + 1)) {
        end_burst(findings, !event->side);
    }
    if (!is_lost) {
        return;
    }
    if (burst->count == 0) {
        burst->first_frame = burst->last_frame = 0;
        burst->reported_frame = event->frame;
    }
    burst->count++;
    burst->last_id = event->packet_id;
    if (event->other_frame != 0) {
        burst->first_frame = burst->first_frame == 0 ? event->other_frame : burst->first_frame;
        burst->last_frame = event->other_frame;
    }
}

void ue_loss_bursts_finish(struct ue_findings *findings) {
    end_burst(findings, 0);
    end_burst(findings, 1);
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/loss_bursts.h"

#include <inttypes.h>

#include "tools/print/phrase.h"

static void end_run(struct info_loss_bursts *losses, struct info_findings *findings) {
    uint64_t count = losses->count;
    losses->count = 0;
    losses->longest = MAX(losses->longest, count);
    if (count < INFO_LOSS_BURST_MIN) {
        return;
    }
    bool is_seen = losses->first_frame != 0;
    struct info_finding finding = {
        .kind = INFO_FINDING_LOSS_BURST, .severity = INFO_SEVERITY_WARNING, .weight = (double)count};
    finding.frames[0] = is_seen ? losses->first_frame : losses->reported_frame;
    finding.frames[1] = losses->last_frame;
    finding.frame_count = is_seen ? 2 : 1;
    char place[96];
    if (is_seen) {
        g_snprintf(place, sizeof place, "frames %" PRIu64 " to %" PRIu64, losses->first_frame, losses->last_frame);
    } else {
        g_snprintf(place, sizeof place, "none of them is in the capture; reported in frame %" PRIu64,
                   losses->reported_frame);
    }
    info_findings_add(findings, &finding,
                      "%" PRIu64 " packets in a row not delivered, %s, ids %" PRId64 " to %" PRId64 " (%s)", count,
                      phrase_direction(losses->side), losses->last_id - (int64_t)count + 1, losses->last_id, place);
}

void info_loss_bursts_on_ack(struct info_loss_bursts *losses, const struct ue_tracker_event *event,
                             struct info_findings *findings) {
    bool is_lost = event->type == UE_TRACKER_NAK;
    if (losses->count != 0 && (!is_lost || event->packet_id != losses->last_id + 1)) {
        end_run(losses, findings);
    }
    if (!is_lost) {
        return;
    }
    if (losses->count == 0) {
        losses->first_frame = losses->last_frame = 0;
        losses->reported_frame = event->frame;
    }
    losses->count++;
    losses->last_id = event->packet_id;
    if (event->other_frame != 0) {
        losses->first_frame = losses->first_frame == 0 ? event->other_frame : losses->first_frame;
        losses->last_frame = event->other_frame;
    }
}

void info_loss_bursts_finish(struct info_loss_bursts *losses, struct info_findings *findings) {
    if (losses->count != 0) {
        end_run(losses, findings);
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/packet_loss.h"

#include <inttypes.h>

#include "tools/info/connection_info.h"
#include "tools/print/phrase.h"

/* Thresholds of findings. */
#define LOSS_PACKETS_MIN 5 /* a smaller number makes no meaningful percentage */
#define ONE_WAY_FACTOR 5   /* ratio to the loss of the other direction */

/* ---- bursts ---- */

static void end_run(struct info_loss_bursts *losses, struct info_findings *findings) {
    uint64_t count = losses->count;
    losses->count = 0;
    losses->longest = MAX(losses->longest, count);
    if (count < UE_THRESHOLD_LOSS_BURST) {
        return;
    }
    bool is_seen = losses->first_frame != 0;
    struct info_finding finding = {.id = is_seen ? UE_FINDING_LOSS_BURST : UE_FINDING_UNSEEN_BURST,
                                   .weight = (double)count};
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

/* ---- whole connection ---- */

static double loss_percent(const struct ue_tracker_counts *counts) {
    uint64_t reported = counts->acked + counts->nacked;
    return reported == 0 ? 0 : 100.0 * (double)counts->nacked / (double)reported;
}

static void report_loss(struct info_connection *info, unsigned side) {
    const struct ue_tracker_counts *counts = &info->sides[side].counts;
    double percent = loss_percent(counts), other = loss_percent(&info->sides[!side].counts);
    if (percent < UE_THRESHOLD_LOSS || counts->nacked < LOSS_PACKETS_MIN) {
        return;
    }
    bool is_one_way = percent > ONE_WAY_FACTOR * other;
    struct info_finding finding = INFO_FINDING_OF(LOSS, percent);
    finding.id = is_one_way ? UE_FINDING_ONE_WAY_LOSS : UE_FINDING_LOSS;
    char other_way[48] = "";
    if (is_one_way) {
        g_snprintf(other_way, sizeof other_way, ", but only %.1f %% in the other direction", other);
    }
    info_findings_add(&info->findings, &finding,
                      "%.1f %% of the packets %s were not delivered (%" PRIu64 " of %" PRIu64 ")%s", percent,
                      phrase_direction(side), counts->nacked, counts->acked + counts->nacked, other_way);
}

static void report_order(struct info_connection *info, unsigned side) {
    const struct ue_tracker_counts *counts = &info->sides[side].counts;
    if (counts->late != 0) {
        struct info_finding finding = INFO_FINDING_OF(REORDERED, counts->late);
        info_findings_add(&info->findings, &finding, "%s %s after a higher packet id: the network reorders packets",
                          phrase_count(counts->late, "packet").text, phrase_direction(side));
    }
    if (counts->duplicates != 0) {
        struct info_finding finding = INFO_FINDING_OF(DUPLICATES, counts->duplicates);
        info_findings_add(&info->findings, &finding, "%s %s seen twice",
                          phrase_count(counts->duplicates, "packet").text, phrase_direction(side));
    }
}

void info_loss_report(struct info_connection *info, unsigned side) {
    report_loss(info, side);
    report_order(info, side);
}

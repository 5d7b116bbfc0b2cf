/* SPDX-License-Identifier: MIT */
#include "tools/info/packet_loss.h"

#include "tools/info/connection_info.h"

/* Thresholds of findings. */
#define LOSS_PACKETS_MIN 5 /* a smaller number makes no meaningful percentage */
#define ONE_WAY_FACTOR 5   /* ratio to the loss of the other direction */

static double loss_percent(const struct ue_tracker_counts *counts) {
    uint64_t reported = counts->acked + counts->nacked;
    return reported == 0 ? 0 : 100.0 * (double)counts->nacked / (double)reported;
}

/* A packet whose ack may not have reached the sender counts as delivered at best. */
static void set_loss(struct ue_finding *finding, enum ue_finding_value_id count, enum ue_finding_value_id whole,
                     const struct ue_tracker_counts *counts) {
    finding->values[count] =
        (struct ue_finding_value){(int64_t)counts->nacked, (int64_t)(counts->nacked + counts->unsure)};
    ue_finding_set(finding, whole, (int64_t)(counts->acked + counts->nacked));
}

static void report_loss(struct info_connection *info, unsigned side) {
    const struct ue_tracker_counts *counts = &info->sides[side].counts;
    const struct ue_tracker_counts *peer = &info->sides[!side].counts;
    double percent = loss_percent(counts);
    if (percent < UE_THRESHOLD_LOSS || counts->nacked < LOSS_PACKETS_MIN) {
        return;
    }
    bool is_one_way = percent > ONE_WAY_FACTOR * loss_percent(peer);
    struct ue_finding finding = {
        .id = is_one_way ? UE_FINDING_ONE_WAY_LOSS : UE_FINDING_LOSS, .side = side, .weight = (int64_t)(percent * 1e6)};
    set_loss(&finding, UE_VALUE_COUNT, UE_VALUE_OF, counts);
    set_loss(&finding, UE_VALUE_OTHERS, UE_VALUE_OTHERS_OF, peer);
    info_findings_add(&info->findings, &finding);
}

static void report_order(struct info_connection *info, unsigned side) {
    const struct ue_tracker_counts *counts = &info->sides[side].counts;
    const struct ue_finding late = ue_finding_of_count(UE_FINDING_REORDERED, side, counts->late, 0);
    const struct ue_finding twice = ue_finding_of_count(UE_FINDING_DUPLICATES, side, counts->duplicates, 0);
    if (counts->late != 0) {
        info_findings_add(&info->findings, &late);
    }
    if (counts->duplicates != 0) {
        info_findings_add(&info->findings, &twice);
    }
}

void info_loss_report(struct info_connection *info, unsigned side) {
    report_loss(info, side);
    report_order(info, side);
}

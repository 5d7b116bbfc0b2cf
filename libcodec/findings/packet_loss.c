/* SPDX-License-Identifier: MIT */
#include <uerudp/seq.h>
#include "libcodec/findings/findings_state.h"

#define LOSS_PACKETS_MIN 5 /* a smaller number makes no meaningful percentage */
#define ONE_WAY_FACTOR 5   /* ratio to the loss of the other direction */

/* Limit for a side; above it the oldest burst is reported although its packets may be captured later. */
#define UNSEEN_BURSTS_MAX 64

#define LOSS_WEIGHT 1000000u /* of a loss of all packets */

/* ---- which packets are reported ---- */

static void add_report(struct ue_packet_reports *reports, int64_t id) {
    if (!reports->has_first) {
        *reports = (struct ue_packet_reports){.has_first = true, .first_id = id, .newest_id = id - 1};
    }
    if (id <= reports->newest_id - UE_ID_BITS) {
        return;
    }
    int64_t skipped = id - UE_ID_BITS;
    for (skipped = skipped > reports->newest_id ? skipped : reports->newest_id; ++skipped < id;) {
        ue_id_bits_set(&reports->reported, skipped, false);
    }
    reports->newest_id = id > reports->newest_id ? id : reports->newest_id;
    ue_id_bits_set(&reports->reported, id, true);
}

/* Whether later packets were reported, and this one was not: it may have been lost, too. */
static bool is_skipped(const struct ue_findings *findings, unsigned side, int64_t id) {
    const struct ue_packet_reports *reports = &findings->reports[side];
    bool is_known = id > reports->newest_id - UE_ID_BITS && id > reports->first_id && id < reports->newest_id;
    return is_known && !ue_id_bits_is_set(&reports->reported, id);
}

/* ---- bursts ---- */

/* Ids before the first packet of the capture can be negative: on the wire they wrap. */
static int64_t shown_id(int64_t id) {
    return id < 0 ? id + UE_PACKET_SEQ_MAX : id;
}

void ue_packet_loss_clear(struct ue_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        ue_array_clear(&findings->memory, &findings->unseen_bursts[side]);
    }
}

static void report_burst(const struct ue_findings *findings, unsigned side, const struct ue_loss_burst *burst) {
    uint64_t count = burst->count;
    bool is_seen = burst->first_frame != 0;
    struct ue_finding finding = ue_finding_of_count(is_seen ? UE_FINDING_LOSS_BURST : UE_FINDING_UNSEEN_BURST, side,
                                                    count, is_seen ? burst->first_frame : burst->reported_frame);
    finding.values[UE_VALUE_COUNT].at_most = burst->is_at_least ? INT64_MAX : (int64_t)count;
    ue_finding_set_time(&finding, burst->begun_ns);
    finding.frames[1] = burst->last_frame;
    finding.frame_count = is_seen ? 2 : 1;
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)burst->unseen);
    ue_finding_set(&finding, UE_VALUE_LEAST, burst->is_at_least);
    ue_finding_set(&finding, UE_VALUE_FIRST_ID, shown_id(burst->last_id - (int64_t)count + 1));
    ue_finding_set(&finding, UE_VALUE_LAST_ID, shown_id(burst->last_id));
    ue_findings_report(findings, &finding);
}

static void report_oldest(struct ue_findings *findings, unsigned side) {
    struct ue_array *unseen = &findings->unseen_bursts[side];
    report_burst(findings, side, ue_array_at(unseen, 0));
    ue_array_remove(&findings->memory, unseen, 0, 1);
}

/* What was reported before it passed the capture point may be captured later. */
static void end_burst(struct ue_findings *findings, unsigned side) {
    struct ue_array *unseen = &findings->unseen_bursts[side];
    struct ue_loss_burst burst = findings->bursts[side];
    burst.is_at_least = is_skipped(findings, side, burst.last_id - (int64_t)burst.count) ||
                        is_skipped(findings, side, burst.last_id + 1);
    findings->bursts[side].count = 0;
    if (burst.count < UE_THRESHOLD_LOSS_BURST) {
        return;
    }
    if (unseen->count == UNSEEN_BURSTS_MAX) {
        report_oldest(findings, side);
    }
    if (burst.unseen == 0 || !ue_array_insert(&findings->memory, unseen, unseen->count, &burst)) {
        report_burst(findings, side, &burst);
    }
}

static void end_bursts(struct ue_findings *findings, unsigned side) {
    end_burst(findings, side);
    while (findings->unseen_bursts[side].count != 0) {
        report_oldest(findings, side);
    }
}

/* A packet of the burst is in the capture. */
static void add_frame(struct ue_loss_burst *burst, uint64_t frame, int64_t time_ns) {
    if (burst->first_frame == 0 || frame < burst->first_frame) {
        burst->first_frame = frame;
        burst->begun_ns = time_ns;
    }
    burst->last_frame = frame > burst->last_frame ? frame : burst->last_frame;
}

static void find_packet(struct ue_loss_burst *burst, const struct ue_observed_event *event) {
    int64_t first_id = burst->last_id - (int64_t)burst->count + 1;
    if (burst->unseen != 0 && event->packet_id >= first_id && event->packet_id <= burst->last_id) {
        burst->unseen--;
        add_frame(burst, event->frame, event->time_ns);
    }
}

void ue_packet_loss_on_packet(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_array *unseen = &findings->unseen_bursts[event->side];
    if (event->type != UE_OBSERVED_PACKET || event->packet.is_duplicate) {
        return;
    }
    if (findings->bursts[event->side].count != 0) {
        find_packet(&findings->bursts[event->side], event);
    }
    for (size_t i = 0; i < unseen->count; i++) {
        find_packet(ue_array_at(unseen, i), event);
    }
}

void ue_packet_loss_on_report(struct ue_findings *findings, const struct ue_observed_event *event) {
    bool is_lost = event->type == UE_OBSERVED_NAK;
    struct ue_loss_burst *burst = &findings->bursts[!event->side];
    if (event->ack.is_withdrawn) {
        return;
    }
    add_report(&findings->reports[!event->side], event->ack.packet_id);
    if (burst->count != 0 && (!is_lost || event->ack.packet_id != burst->last_id + 1)) {
        end_burst(findings, !event->side);
    }
    if (!is_lost) {
        return;
    }
    if (burst->count == 0) {
        burst->first_frame = burst->last_frame = 0;
        burst->unseen = 0;
        burst->reported_frame = event->frame;
        burst->begun_ns = event->time_ns;
    }
    burst->count++;
    burst->unseen += event->ack.frame == 0;
    burst->last_id = event->ack.packet_id;
    if (event->ack.frame != 0) {
        int64_t span_ns = event->ack.span_ns >= 0 ? event->ack.span_ns : 0;
        add_frame(burst, event->ack.frame, ue_time_ns_add(event->time_ns, -span_ns));
    }
}

/* ---- the whole stream ---- */

static uint64_t reports(const struct ue_tracker_counts *counts) {
    return counts->acked + counts->nacked;
}

/* Without reports about the other side its loss is not known. */
static bool is_one_way(const struct ue_tracker_counts *counts, const struct ue_tracker_counts *peer) {
    return counts->nacked * reports(peer) > ONE_WAY_FACTOR * (peer->nacked + peer->unsure) * reports(counts);
}

/* A packet whose ack may not have reached the sender counts as delivered at best. */
static void set_loss(struct ue_finding *finding, enum ue_finding_value_id count, enum ue_finding_value_id whole,
                     const struct ue_tracker_counts *counts) {
    finding->values[count] =
        (struct ue_finding_value){(int64_t)counts->nacked, (int64_t)(counts->nacked + counts->unsure)};
    ue_finding_set(finding, whole, (int64_t)reports(counts));
}

bool ue_findings_loss(const struct ue_findings *findings, unsigned side, struct ue_finding *finding) {
    const struct ue_tracker_counts *counts = &findings->totals[side].counts;
    const struct ue_tracker_counts *peer = &findings->totals[!side].counts;
    *finding = (struct ue_finding){
        .id = is_one_way(counts, peer) ? UE_FINDING_ONE_WAY_LOSS : UE_FINDING_LOSS,
        .side = side,
        .weight = counts->nacked != 0 ? (int64_t)(counts->nacked * LOSS_WEIGHT / reports(counts)) : 0};
    set_loss(finding, UE_VALUE_COUNT, UE_VALUE_OF, counts);
    set_loss(finding, UE_VALUE_OTHERS, UE_VALUE_OTHERS_OF, peer);
    return counts->nacked >= LOSS_PACKETS_MIN &&
           ue_finding_is_share_reached(UE_FINDING_LOSS, counts->nacked, reports(counts));
}

static void report_loss(const struct ue_findings *findings, unsigned side) {
    struct ue_finding finding;
    if (ue_findings_loss(findings, side, &finding)) {
        ue_findings_report(findings, &finding);
    }
}

void ue_packet_loss_end_bursts(struct ue_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        end_bursts(findings, side);
        findings->reports[side].has_first = false;
    }
}

void ue_packet_loss_finish(struct ue_findings *findings, unsigned side) {
    end_bursts(findings, side);
    report_loss(findings, side);
}

/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"

/* Limit for one stream; above it the oldest gap is forgotten, which may still be filled. */
#define GAPS_MAX 64

/* Missing reliable bunches of a channel. */
struct ue_reliable_gap {
    unsigned side;
    uint32_t channel;
    int64_t from_id, to_id;
    uint32_t first_seq, last_seq, next_seq;
    uint64_t frame; /* of the first bunch after the gap */
    int64_t time_ns;
    struct ue_after_loss since; /* where it is missing: the last packet before which packets are missing */
    uint32_t open;              /* bunches still missing */
    bool is_first;              /* no bunch of the channel before them was captured */
};

/* The highest reliable sequence of each side of a channel. */
struct ue_newest_reliable {
    int64_t ids[2];        /* -1: none yet */
    int64_t packet_ids[2]; /* of the packets with them; none yet: before all packets */
};

void ue_reliable_gaps_init(struct ue_reliable_gaps *gaps) {
    gaps->hidden_ids[0] = gaps->hidden_ids[1] = -1;
}

void ue_reliable_gaps_clear(struct ue_findings *findings) {
    ue_array_clear(&findings->memory, &findings->gaps.gaps);
    ue_channel_entries_clear(&findings->gaps.channels, &findings->memory, sizeof(struct ue_newest_reliable));
    memset(findings->gaps.after_loss, 0, sizeof findings->gaps.after_loss);
    findings->gaps.hidden_ids[0] = findings->gaps.hidden_ids[1] = -1;
}

/* ---- channels ---- */

/* NULL: there is no memory, so that nothing is known of the channel. */
static struct ue_newest_reliable *require_newest(struct ue_findings *findings, uint32_t channel) {
    struct ue_channel_entries *channels = &findings->gaps.channels;
    struct ue_newest_reliable *newest = ue_channel_entries_find(channels, channel, sizeof *newest);
    if (newest == NULL) {
        newest = ue_channel_entries_add(channels, &findings->memory, channel, sizeof *newest);
        if (newest != NULL) {
            newest->ids[0] = newest->ids[1] = -1;
            newest->packet_ids[0] = newest->packet_ids[1] = INT64_MIN;
        }
    }
    return newest;
}

/* Whether the bunches of a gap may have arrived in packets that the capture lacks. Up to 4.21 their acks may be lost
   with packets of the other side. */
static bool may_have_arrived(const struct ue_findings *findings, const struct ue_reliable_gap *gap) {
    const struct ue_reliable_gaps *gaps = &findings->gaps;
    const struct ue_after_loss *other = &gaps->after_loss[!gap->side];
    bool are_acks_missing = gaps->is_legacy && other->frame != 0 && other->time_ns >= gap->since.before_ns;
    return are_acks_missing || gaps->hidden_ids[gap->side] >= gap->since.first_id;
}

/* ---- findings ---- */

static void report_late(const struct ue_findings *findings, const struct ue_reliable_gap *gap,
                        const struct ue_observed_event *event) {
    struct ue_finding_value late_ns = ue_findings_span(findings, gap->since.time_ns, event->time_ns);
    if (!ue_reliable_stall_is_long(findings, late_ns) || may_have_arrived(findings, gap)) {
        return;
    }
    struct ue_finding finding =
        ue_finding_of_span(UE_FINDING_STALL_SEEN, gap->side, late_ns.at_least, gap->since.frame, event->frame);
    ue_finding_set_time(&finding, gap->since.time_ns);
    finding.values[UE_VALUE_SPAN].at_most = INT64_MAX; /* an earlier packet may have held it, too */
    ue_finding_set(&finding, UE_VALUE_LEAST, ue_findings_span(findings, gap->time_ns, event->time_ns).at_least);
    ue_finding_set(&finding, UE_VALUE_CHANNEL, gap->channel);
    ue_finding_set(&finding, UE_VALUE_FIRST_SEQ, gap->first_seq);
    ue_finding_set(&finding, UE_VALUE_LAST_SEQ, gap->last_seq);
    ue_findings_report(findings, &finding);
}

/* The first bunch of a channel may be a damaged one of another channel, unless a later one of this channel follows. */
static bool is_confirmed(const struct ue_findings *findings, const struct ue_reliable_gap *gap) {
    const struct ue_newest_reliable *newest =
        ue_channel_entries_find(&findings->gaps.channels, gap->channel, sizeof *newest);
    return !gap->is_first || (newest != NULL && newest->ids[gap->side] > gap->to_id + 1);
}

static void report_open(const struct ue_findings *findings, const struct ue_reliable_gap *gap) {
    if (!is_confirmed(findings, gap)) {
        return;
    }
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_GAP, gap->side, gap->open, gap->frame);
    ue_finding_set_time(&finding, gap->time_ns);
    ue_finding_set(&finding, UE_VALUE_CHANNEL, gap->channel);
    ue_finding_set(&finding, UE_VALUE_LAST_SEQ, gap->next_seq);
    ue_findings_report(findings, &finding);
}

/* ---- gaps ---- */

static void fill_gap(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_array *gaps = &findings->gaps.gaps;
    for (size_t i = 0; i < gaps->count; i++) {
        struct ue_reliable_gap *gap = ue_array_at(gaps, i);
        if (gap->side == event->side && gap->channel == event->bunch.decoded->channel &&
            event->bunch.reliable_id >= gap->from_id && event->bunch.reliable_id <= gap->to_id) {
            gap->open--;
            if (gap->open == 0) {
                if (!findings->gaps.is_late[event->side]) {
                    report_late(findings, gap, event);
                }
                ue_array_remove(&findings->memory, gaps, i, 1);
            }
            return;
        }
    }
}

static void open_gap(struct ue_findings *findings, const struct ue_observed_event *event, int64_t before, bool is_first,
                     uint32_t bound) {
    struct ue_array *gaps = &findings->gaps.gaps;
    if (gaps->count == GAPS_MAX) {
        ue_array_remove(&findings->memory, gaps, 0, 1);
    }
    uint32_t missing = (uint32_t)(event->bunch.reliable_id - before - 1);
    uint32_t seq = event->bunch.decoded->ch_seq;
    const struct ue_reliable_gap gap = {.side = event->side,
                                        .channel = event->bunch.decoded->channel,
                                        .from_id = before + 1,
                                        .to_id = event->bunch.reliable_id - 1,
                                        .first_seq = (seq + bound - missing % bound) % bound,
                                        .last_seq = (seq + bound - 1) % bound,
                                        .frame = event->frame,
                                        .time_ns = event->time_ns,
                                        .since = findings->gaps.after_loss[event->side],
                                        .next_seq = seq,
                                        .is_first = is_first,
                                        .open = missing};
    ue_array_insert(&findings->memory, gaps, gaps->count, &gap);
}

/* Whether bunches before this one are missing. Only packets that are missing can have held them: else the sequence of
   this one is damaged. */
static bool is_gap(const struct ue_findings *findings, const struct ue_observed_event *event, int64_t before,
                   int64_t packet_id) {
    const struct ue_after_loss *lost = &findings->gaps.after_loss[event->side];
    return event->bunch.is_gap && event->bunch.reliable_id > before + 1 && lost->frame != 0 &&
           lost->packet_id > packet_id;
}

void ue_reliable_gaps_on_bunch(struct ue_findings *findings, const struct ue_observed_event *event,
                               uint32_t ch_seq_bound) {
    struct ue_newest_reliable *newest = require_newest(findings, event->bunch.decoded->channel);
    if (newest == NULL) {
        return;
    }
    int64_t before = newest->ids[event->side], packet_id = newest->packet_ids[event->side];
    uint32_t before_first = before < 0 ? ue_findings_missing_before(findings, event) : 0;
    if (before_first != 0) {
        before = event->bunch.reliable_id - before_first - 1;
    }
    if (event->bunch.reliable_id > before) {
        newest->ids[event->side] = event->bunch.reliable_id;
        newest->packet_ids[event->side] = event->packet_id;
    }
    if (event->bunch.copy != 1 || before < 0 || event->bunch.is_jump) {
        return;
    }
    if (!findings->gaps.is_late[event->side] && is_gap(findings, event, before, packet_id)) {
        open_gap(findings, event, before, before_first != 0, ch_seq_bound);
    } else if (event->bunch.reliable_id <= before) {
        fill_gap(findings, event);
    }
}

static void on_ack(struct ue_reliable_gaps *gaps, const struct ue_observed_event *event) {
    int64_t *hidden_id = &gaps->hidden_ids[!event->side];
    if (event->ack.frame == 0 && event->ack.packet_id > *hidden_id) {
        *hidden_id = event->ack.packet_id;
    }
}

void ue_reliable_gaps_on_event(struct ue_findings *findings, const struct ue_observed_event *event,
                               const struct ue_context *context) {
    struct ue_after_loss *after_loss = &findings->gaps.after_loss[event->side];
    findings->gaps.is_legacy = context->profile.packet == UE_PACKET_LEGACY;
    if (event->type == UE_OBSERVED_LOST) {
        *after_loss = (struct ue_after_loss){event->frame, event->time_ns, event->packet_id, event->lost.first_id,
                                             findings->silence[event->side].last.time_ns};
    } else if (event->type == UE_OBSERVED_ACK) {
        on_ack(&findings->gaps, event);
    } else if (event->type == UE_OBSERVED_NOT_LOST) {
        *after_loss = (struct ue_after_loss){0};
    } else if (event->type == UE_OBSERVED_PACKET) {
        findings->gaps.is_late[event->side] = event->packet.is_late;
    }
}

void ue_reliable_gaps_finish(struct ue_findings *findings) {
    for (size_t i = 0; i < findings->gaps.gaps.count; i++) {
        report_open(findings, ue_array_at(&findings->gaps.gaps, i));
    }
    ue_reliable_gaps_clear(findings);
}

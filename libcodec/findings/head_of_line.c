/* SPDX-License-Identifier: MIT */
/* How long reliable bunches that arrived waited for one that was lost. A bunch arrived if its packet was acknowledged.
   If its packet was not reported, it may have arrived: then what waits for it, and its own wait, is not counted. */
#include "libcodec/findings/findings_state.h"

/* Limit for one side of a stream; above it nothing that waits is remembered. */
#define WAITING_MAX 1024
/* The largest reliable buffer of a generation; a bunch farther ahead is impossible. */
#define AHEAD_MAX 1024

struct ue_waiting_bunch {
    int64_t reliable_id;
    int64_t arrived_ns;
    uint64_t frame;
    uint32_t channel;
    bool is_unsure;
};

void ue_head_of_line_clear(struct ue_findings *findings) {
    ue_array_clear(&findings->memory, &findings->head_of_line.channels);
    ue_array_clear(&findings->memory, &findings->head_of_line.waiting[0]);
    ue_array_clear(&findings->memory, &findings->head_of_line.waiting[1]);
}

void ue_head_of_line_forget(struct ue_findings *findings, unsigned side) {
    struct ue_head_of_line *lines = &findings->head_of_line;
    for (size_t i = 0; i < lines->channels.count; i++) {
        struct ue_channel_order *order = ue_array_at(&lines->channels, i);
        order->next_ids[side] = -1;
        order->waits[side].is_at_least |= order->newest_ids[side] >= 0;
    }
    lines->waiting[side].count = 0;
}

void ue_head_of_line_begin_tracker(struct ue_findings *findings) {
    struct ue_head_of_line *lines = &findings->head_of_line;
    for (unsigned side = 0; side < 2; side++) {
        ue_head_of_line_forget(findings, side);
        lines->has_answer[side] = lines->is_begun[side] = false;
    }
    for (size_t i = 0; i < lines->channels.count; i++) {
        struct ue_channel_order *order = ue_array_at(&lines->channels, i);
        order->newest_ids[0] = order->newest_ids[1] = -1;
    }
}

/* NULL: there is no memory. */
static struct ue_channel_order *require_channel(struct ue_findings *findings, uint32_t channel) {
    const struct ue_channel_order added = {.channel = channel, .next_ids = {-1, -1}, .newest_ids = {-1, -1}};
    return ue_array_require(&findings->memory, &findings->head_of_line.channels, &added);
}

/* Up to 4.21 a bunch that arrived is sent again if its acks were lost. A side sends all those from before the capture
   once it has received a report about a packet in the capture, as its ack of the packet with the report shows. */
void ue_head_of_line_on_report(struct ue_head_of_line *lines, const struct ue_observed_event *event) {
    unsigned side = event->side;
    if (event->type == UE_OBSERVED_ACK && lines->has_answer[side] && event->ack.packet_id >= lines->answer_ids[side]) {
        lines->is_begun[side] = true;
    }
    if (event->ack.frame != 0 && !lines->has_answer[!side]) {
        lines->answer_ids[!side] = event->packet_id;
        lines->has_answer[!side] = true;
    }
}

/* Whether a bunch was never sent before. */
static bool is_new(const struct ue_findings *findings, const struct ue_channel_order *order,
                   const struct ue_observed_event *event) {
    const bool *is_begun = findings->head_of_line.is_begun;
    return event->bunch.reliable_id > order->newest_ids[event->side] &&
           (is_begun[event->side] || !findings->gaps.is_legacy);
}

/* How many bunches that did not arrive precede the first bunch of a channel in the capture. If a packet that was not
   captured arrived, it may have held them. */
static uint32_t lost_before(const struct ue_findings *findings, const struct ue_channel_order *order,
                            const struct ue_observed_event *event) {
    bool is_known = order->newest_ids[event->side] < 0 && findings->gaps.hidden_ids[event->side] < 0;
    return is_known ? ue_findings_missing_before(findings, event) : 0;
}

/* The first new bunch that is sent is the next one to take effect, also if it is lost, after those that are lost before
   it. One before it may have been sent before the capture. */
void ue_head_of_line_on_sent(struct ue_findings *findings, const struct ue_observed_event *event) {
    if (findings->callbacks->wait == NULL) {
        return;
    }
    if (event->bunch.decoded->channel == 0 && event->bunch.decoded->open) { /* the connection begins */
        findings->head_of_line.is_begun[0] = findings->head_of_line.is_begun[1] = true;
    }
    struct ue_channel_order *order = require_channel(findings, event->bunch.decoded->channel);
    if (order == NULL || event->bunch.copy != 1 || event->bunch.is_jump) {
        return;
    }
    int64_t id = event->bunch.reliable_id;
    int64_t *next_id = &order->next_ids[event->side], *newest_id = &order->newest_ids[event->side];
    if (*next_id < 0 && is_new(findings, order, event)) {
        *next_id = id - lost_before(findings, order, event);
    }
    *newest_id = id > *newest_id ? id : *newest_id;
    order->waits[event->side].is_at_least |= *next_id < 0 || id < *next_id;
}

/* The place of a waiting bunch; the number of waiting bunches if it does not wait. */
static size_t find_waiting(const struct ue_array *waiting, uint32_t channel, int64_t reliable_id) {
    for (size_t i = 0; i < waiting->count; i++) {
        const struct ue_waiting_bunch *at = ue_array_at(waiting, i);
        if (at->reliable_id == reliable_id && at->channel == channel) {
            return i;
        }
    }
    return waiting->count;
}

static void wait(struct ue_findings *findings, const struct ue_reliable_arrival *arrival) {
    struct ue_array *waiting = &findings->head_of_line.waiting[arrival->side];
    const struct ue_waiting_bunch bunch = {arrival->reliable_id, arrival->time_ns, arrival->frame, arrival->channel,
                                           arrival->is_unsure};
    size_t place = find_waiting(waiting, arrival->channel, arrival->reliable_id);
    if (place < waiting->count) {
        struct ue_waiting_bunch *earlier = ue_array_at(waiting, place);
        *earlier = earlier->is_unsure ? bunch : *earlier;
    } else if (place == WAITING_MAX || !ue_array_insert(&findings->memory, waiting, place, &bunch)) {
        ue_head_of_line_forget(findings, arrival->side);
    }
}

static void count_wait(const struct ue_findings *findings, struct ue_channel_wait *wait,
                       const struct ue_waiting_bunch *bunch, const struct ue_reliable_arrival *end) {
    struct ue_finding_value known_ns = ue_findings_span(findings, bunch->arrived_ns, end->time_ns);
    bool is_set = known_ns.at_least != known_ns.at_most; /* the clock may have been set meanwhile */
    if (bunch->is_unsure || end->is_unsure || is_set) {
        wait->is_at_least = true;
        return;
    }
    int64_t span_ns = known_ns.at_least;
    if (span_ns <= 0) {
        return; /* the lost bunch came in the same packet */
    }
    if (wait->bunches++ == 0 || span_ns > wait->span_ns) {
        wait->span_ns = span_ns;
        wait->begin_ns = bunch->arrived_ns;
        wait->first_frame = bunch->frame;
    }
    wait->total_ns = ue_time_ns_add(wait->total_ns, span_ns);
}

static void report(struct ue_findings *findings, struct ue_channel_waits *waits, const struct ue_channel_wait *wait) {
    if (waits->bunches == 0 || wait->span_ns > waits->longest.span_ns) {
        waits->longest = *wait;
    }
    waits->bunches += wait->bunches;
    waits->total_ns = ue_time_ns_add(waits->total_ns, wait->total_ns);
    findings->callbacks->wait(findings->callbacks->user, wait);
}

/* The bunch takes effect, and with it those that waited for it alone. */
static void release(struct ue_findings *findings, struct ue_channel_order *order,
                    const struct ue_reliable_arrival *arrival) {
    struct ue_array *waiting = &findings->head_of_line.waiting[arrival->side];
    struct ue_channel_waits *waits = &order->waits[arrival->side];
    struct ue_channel_wait wait = {.frame = arrival->frame,
                                   .channel = arrival->channel,
                                   .ch_seq = arrival->ch_seq,
                                   .side = (uint8_t)arrival->side,
                                   .is_at_least = waits->is_at_least};
    order->next_ids[arrival->side] = arrival->reliable_id + 1;
    while (waiting->count != 0) {
        size_t place = find_waiting(waiting, arrival->channel, order->next_ids[arrival->side]);
        if (place == waiting->count) {
            break;
        }
        count_wait(findings, &wait, ue_array_at(waiting, place), arrival);
        ue_array_remove(&findings->memory, waiting, place, 1);
        order->next_ids[arrival->side]++;
    }
    waits->is_at_least = wait.is_at_least;
    if (wait.bunches != 0) {
        report(findings, waits, &wait);
    }
}

void ue_head_of_line_on_arrival(struct ue_findings *findings, const struct ue_reliable_arrival *arrival) {
    if (findings->callbacks->wait == NULL) {
        return;
    }
    struct ue_channel_order *order = require_channel(findings, arrival->channel);
    if (order == NULL || order->next_ids[arrival->side] < 0) {
        return;
    }
    int64_t ahead = arrival->reliable_id - order->next_ids[arrival->side];
    if (ahead == 0) {
        release(findings, order, arrival);
    } else if (ahead > 0 && ahead <= AHEAD_MAX) {
        wait(findings, arrival);
    }
}

static void mark_at_least(struct ue_findings *findings, unsigned side, uint32_t channel) {
    struct ue_channel_order *order = require_channel(findings, channel);
    if (order != NULL) {
        order->waits[side].is_at_least = true;
    }
}

void ue_head_of_line_on_unreported(struct ue_findings *findings, const struct ue_reliable_arrival *arrival) {
    ue_head_of_line_on_arrival(findings, arrival);
    if (findings->callbacks->wait != NULL) {
        mark_at_least(findings, arrival->side, arrival->channel);
    }
}

/* What still waits is not counted. */
void ue_head_of_line_finish(struct ue_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_array *waiting = &findings->head_of_line.waiting[side];
        for (size_t i = 0; i < waiting->count; i++) {
            mark_at_least(findings, side, ((const struct ue_waiting_bunch *)ue_array_at(waiting, i))->channel);
        }
    }
}

const struct ue_channel_order *ue_findings_channel_orders(const struct ue_findings *findings, size_t *count) {
    *count = findings->head_of_line.channels.count;
    return *count != 0 ? ue_array_at(&findings->head_of_line.channels, 0) : NULL;
}

/* SPDX-License-Identifier: MIT */
/* The findings of one stream: passes the events to the parts, each of which knows one subject. */
#include "libcodec/findings/findings_state.h"

struct ue_findings *ue_findings_new(const struct ue_allocator *allocator) {
    struct ue_limited_allocator memory = {*allocator, 0, UE_FINDINGS_BYTES_MAX};
    struct ue_findings *findings = ue_limited_allocator_resize(&memory, NULL, 0, sizeof *findings);
    if (findings != NULL) {
        *findings = (struct ue_findings){.memory = memory};
        ue_reliable_stalls_init(&findings->stalls);
        ue_reliable_gaps_init(&findings->gaps);
    }
    return findings;
}

void ue_findings_free(struct ue_findings *findings) {
    if (findings != NULL) {
        struct ue_allocator allocator = findings->memory.allocator;
        ue_timing_clear(findings);
        ue_reliable_stalls_clear(findings);
        ue_reliable_gaps_clear(findings);
        allocator.resize(allocator.user, findings, 0);
    }
}

/* A connection whose tracker was dropped (observer.h), and another attempt to connect, continue with a new tracker,
   whose packet ids and channel sequences have nothing to do with the earlier ones. */
static void begin_tracker(struct ue_findings *findings, bool is_attempt) {
    ue_reliable_stalls_finish(findings, findings->last_ns);
    ue_reliable_gaps_finish(findings);
    ue_packet_loss_end_bursts(findings);
    ue_silence_begin_tracker(findings, is_attempt);
    ue_side_totals_begin_tracker(&findings->totals[0]);
    ue_side_totals_begin_tracker(&findings->totals[1]);
}

void ue_findings_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                             const struct ue_decode_result *result, const struct ue_findings_callbacks *callbacks) {
    findings->callbacks = callbacks;
    findings->reliable_limit = datagram->context.reliable_limit;
    if (ue_observer_tracker(datagram->record.connection) == NULL) {
        begin_tracker(findings, datagram->record.connection != findings->connection);
    }
    findings->connection = datagram->record.connection;
    findings->last_ns = datagram->time_ns > findings->last_ns ? datagram->time_ns : findings->last_ns;
    ue_timing_on_datagram(findings, datagram);
    ue_side_totals_on_datagram(findings, datagram, result);
}

void ue_findings_on_event(struct ue_findings *findings, const struct ue_context *context,
                          const struct ue_observed_event *event, const struct ue_findings_callbacks *callbacks) {
    findings->callbacks = callbacks;
    ue_silence_on_event(findings, event);
    ue_timing_on_event(findings, event);
    ue_side_totals_on_event(findings, event);
    ue_packet_loss_on_event(findings, event);
    ue_reliable_stalls_on_event(findings, event);
    ue_reliable_gaps_on_event(findings, event, context->ch_seq_bound);
}

void ue_findings_forget_times(struct ue_findings *findings) {
    ue_timing_clear_spans(findings);
}

void ue_findings_finish(struct ue_findings *findings, const struct ue_stream_end *end,
                        const struct ue_findings_callbacks *callbacks) {
    findings->callbacks = callbacks;
    ue_reliable_stalls_finish(findings, end->last_ns);
    ue_reliable_gaps_finish(findings);
    ue_silence_finish(findings, end->is_closed);
    ue_timing_finish(findings);
    for (unsigned side = 0; side < 2; side++) {
        ue_packet_loss_finish(findings, side);
        ue_side_totals_finish(findings, side);
    }
}

const struct ue_side_totals *ue_findings_totals(const struct ue_findings *findings, unsigned side) {
    return &findings->totals[side];
}

const struct ue_timing *ue_findings_timing(const struct ue_findings *findings) {
    return &findings->timing;
}

const struct ue_last_packet *ue_findings_last_packet(const struct ue_findings *findings, unsigned side) {
    return &findings->silence[side].last;
}

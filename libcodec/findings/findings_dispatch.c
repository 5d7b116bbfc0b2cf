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
        ue_round_trip_samples_clear(findings);
        ue_reliable_stalls_clear(findings);
        ue_reliable_gaps_clear(findings);
        ue_head_of_line_clear(findings);
        ue_packet_loss_clear(findings);
        ue_silence_clear(findings);
        ue_handshake_login_clear(findings);
        ue_side_totals_clear(findings);
        allocator.resize(allocator.user, findings, 0);
    }
}

/* A connection whose tracker was dropped (observer.h), and another attempt to connect, continue with a new tracker,
   whose packet ids and channel sequences have nothing to do with the earlier ones. */
static void begin_tracker(struct ue_findings *findings, bool is_attempt) {
    ue_reliable_stalls_finish(findings);
    ue_reliable_gaps_finish(findings);
    ue_head_of_line_begin_tracker(findings);
    ue_packet_loss_end_bursts(findings);
    ue_ack_gaps_begin_tracker(findings);
    ue_silence_begin_tracker(findings, is_attempt);
    ue_round_trip_samples_end_tracker(findings);
    findings->login.is_restarting = false;
    if (is_attempt) {
        ue_sender_saturation_stop(findings);
    }
    ue_side_totals_end_tracker(&findings->totals[0]);
    ue_side_totals_end_tracker(&findings->totals[1]);
}

void ue_findings_on_datagram(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                             const struct ue_findings_callbacks *callbacks) {
    findings->callbacks = callbacks;
    findings->reliable_limit = datagram->context.reliable_limit;
    if (ue_observer_tracker(datagram->record.connection) == NULL) {
        begin_tracker(findings, datagram->record.connection != findings->connection);
    }
    findings->connection = datagram->record.connection;
    ue_capture_clock_advance(findings, datagram);
    ue_data_rate_add(findings, datagram);
    ue_sender_saturation_on_datagram(findings, datagram);
    ue_timing_on_datagram(findings, datagram);
    findings->totals[datagram->role].datagrams++;
}

void ue_findings_on_result(struct ue_findings *findings, const struct ue_observed_datagram *datagram,
                           const struct ue_decode_result *result, const struct ue_findings_callbacks *callbacks) {
    findings->callbacks = callbacks;
    ue_side_totals_on_result(findings, datagram, result);
    ue_ack_gaps_on_result(findings, datagram, result);
    ue_silence_on_result(findings, datagram, result);
    ue_reliable_stalls_on_result(findings, datagram, result);
}

static void on_event(struct ue_findings *findings, const struct ue_context *context,
                     const struct ue_observed_event *event) {
    switch (event->type) {
    case UE_OBSERVED_BUNCH:
        ue_side_totals_on_bunch(&findings->totals[event->side], event);
        ue_handshake_login_on_bunch(findings, event);
        ue_sender_saturation_on_event(findings, event);
        if (event->bunch.reliable_id >= 0 && !context->settings.internal_ack) {
            ue_reliable_stalls_on_bunch(findings, event);
            ue_head_of_line_on_sent(findings, event);
            ue_reliable_gaps_on_bunch(findings, event, context->ch_seq_bound);
        }
        break;
    case UE_OBSERVED_MESSAGE: ue_handshake_login_on_message(findings, event, context); break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK:
        ue_ack_gaps_on_event(findings, event);
        ue_silence_on_event(findings, event);
        ue_round_trip_samples_on_event(findings, event);
        ue_side_totals_on_event(findings, event);
        ue_sender_saturation_on_event(findings, event);
        ue_packet_loss_on_report(findings, event);
        ue_reliable_stalls_on_report(findings, event);
        ue_head_of_line_on_report(&findings->head_of_line, event);
        ue_reliable_gaps_on_event(findings, event, context);
        break;
    case UE_OBSERVED_FIRST_ACK: ue_round_trip_samples_on_event(findings, event); break;
    case UE_OBSERVED_NEVER_SENT: ue_side_totals_on_event(findings, event); break;
    case UE_OBSERVED_OTHER_VIEW:
        ue_data_rate_on_event(findings, event);
        ue_silence_on_event(findings, event);
        break;
    case UE_OBSERVED_CHANNEL_CLOSED: ue_connection_end_on_event(findings, event); break;
    case UE_OBSERVED_HANDSHAKE:
    case UE_OBSERVED_RESTARTING:
    case UE_OBSERVED_RESTARTED:
    case UE_OBSERVED_OPAQUE:
    case UE_OBSERVED_NOT_LOST:
    case UE_OBSERVED_LOST:
    case UE_OBSERVED_PACKET:
        findings->course.is_replay |= context->settings.internal_ack;
        ue_capture_clock_on_event(findings, event);
        ue_reliable_stalls_on_event(&findings->stalls, event);
        ue_reliable_gaps_on_event(findings, event, context);
        ue_packet_loss_on_packet(findings, event);
        ue_side_totals_on_event(findings, event);
        ue_ack_gaps_on_event(findings, event);
        ue_timing_on_event(findings, event);
        ue_silence_on_event(findings, event);
        ue_handshake_login_on_event(findings, event, context);
        ue_client_ids_on_event(findings, event, context);
        ue_data_rate_on_event(findings, event);
        ue_sender_saturation_on_event(findings, event);
        break;
    default: break;
    }
}

/* The clock of the capture proved wrong: its time stands still. Not inline: other events need no registers for this. */
static __attribute__((noinline)) void on_event_without_clock(struct ue_findings *findings,
                                                             const struct ue_context *context,
                                                             const struct ue_observed_event *event) {
    struct ue_observed_event stopped = *event;
    stopped.time_ns = findings->course.now_ns;
    on_event(findings, context, &stopped);
}

void ue_findings_on_event(struct ue_findings *findings, const struct ue_context *context,
                          const struct ue_observed_event *event, const struct ue_findings_callbacks *callbacks) {
    findings->callbacks = callbacks;
    if (findings->course.implausible == 0) {
        on_event(findings, context, event);
    } else {
        on_event_without_clock(findings, context, event);
    }
}

/* Forgets what was measured with a clock that proved wrong. */
static void report_clock(struct ue_findings *findings) {
    const struct ue_stream_course *course = &findings->course;
    bool is_set = course->set_back_ns != 0;
    const struct ue_finding finding =
        is_set ? ue_finding_of_span(UE_FINDING_SET_BACK, 0, course->set_back_ns, course->implausible_frame, 0)
               : ue_finding_of_count(UE_FINDING_TIMES, 0, course->implausible, course->implausible_frame);
    ue_timing_clear_spans(findings);
    ue_handshake_login_clear_spans(&findings->login);
    ue_head_of_line_clear(findings);
    findings->totals[0].rate = findings->totals[1].rate = (struct ue_side_rate){0};
    findings->saturation[0] = findings->saturation[1] = (struct ue_saturation){0};
    ue_findings_report(findings, &finding);
}

void ue_findings_finish(struct ue_findings *findings, int64_t end_ns, const struct ue_findings_callbacks *callbacks) {
    findings->callbacks = callbacks;
    ue_side_totals_end_tracker(&findings->totals[0]);
    ue_side_totals_end_tracker(&findings->totals[1]);
    ue_round_trip_samples_end_tracker(findings);
    ue_capture_clock_finish(&findings->course, end_ns);
    if (findings->course.implausible != 0) {
        report_clock(findings);
    }
    ue_reliable_stalls_finish(findings);
    ue_reliable_gaps_finish(findings);
    ue_head_of_line_finish(findings);
    ue_ack_gaps_finish(findings);
    ue_silence_finish(findings);
    ue_timing_finish(findings);
    ue_handshake_login_finish(findings);
    ue_connection_end_finish(findings);
    for (unsigned side = 0; side < 2; side++) {
        ue_client_ids_finish(findings, side);
        ue_packet_loss_finish(findings, side);
        ue_side_totals_finish(findings, side);
        ue_data_rate_finish(findings, side);
        ue_sender_saturation_finish(findings, side);
    }
}

const struct ue_stream_course *ue_findings_course(const struct ue_findings *findings) {
    return &findings->course;
}

const struct ue_side_totals *ue_findings_totals(const struct ue_findings *findings, unsigned side) {
    return &findings->totals[side];
}

const struct ue_timing *ue_findings_timing(const struct ue_findings *findings) {
    return &findings->timing;
}

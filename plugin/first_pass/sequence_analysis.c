/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/sequence_analysis.h"

#include <uerudp/findings.h>

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/frame_state.h"

/* ---- other datagrams of the stream ---- */

struct uerudp_frame_state *uerudp_sequence_analysis_find_datagram(const struct uerudp_frame_state *state,
                                                                  uint64_t frame, const int64_t *packet_id) {
    struct uerudp_frame_state *other = uerudp_frame_state_of_frame((uint32_t)frame);
    while (other != NULL && (other->connection->stream != state->connection->stream ||
                             (packet_id != NULL && other->decode.packet_ids.packet_id != *packet_id))) {
        other = other->next;
    }
    return other;
}

static void add_to_other(const struct uerudp_frame_state *state, struct uerudp_frame_state *other,
                         enum uerudp_analysis_result_type type, uint32_t item) {
    if (other != NULL) {
        const struct uerudp_analysis_result result = {.type = type, .item = item, .frame = state->frame_number};
        uerudp_analysis_results_add(other, &result);
    }
}

/* ---- events ---- */

static void add_missing(struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    bool are_known =
        event->lost.missing == event->lost.last_id - event->lost.first_id + 1; /* else opaque packets have some ids */
    const struct uerudp_analysis_result result = {.type = UERUDP_RESULT_MISSING,
                                                  .number = event->lost.missing,
                                                  .id = are_known ? event->lost.last_id : -1,
                                                  .is_set = event->lost.damaged != 0};
    uerudp_analysis_results_add(state, &result);
}

/* A packet was damaged and had a wrong id: removes the results that followed from that id. */
static void remove_disproved(const struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    const int64_t wrong_id = event->lost.last_id + 1;
    const struct uerudp_frame_state *other =
        uerudp_sequence_analysis_find_datagram(state, event->lost.jump_frame, &wrong_id);
    if (other != NULL) {
        uerudp_analysis_results_remove(other, UERUDP_RESULT_MISSING, NULL);
        uerudp_analysis_results_remove(other, UERUDP_RESULT_PACKETS_IN_FLIGHT, NULL);
    }
}

static void add_jitter(struct uerudp_sequence_analysis *analysis, struct uerudp_frame_state *state,
                       const struct ue_observed_event *event) {
    struct ue_clock_jitter *jitter = &analysis->jitter[event->side];
    const struct ue_packet *packet = event->packet.decoded;
    bool has_clock = packet->has_info && !event->packet.is_late && !event->packet.is_duplicate;
    if (has_clock && ue_clock_jitter_feed(jitter, event->time_ns, packet->jitter_ms)) {
        uerudp_analysis_results_add(
            state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_JITTER, .span_ns = jitter->average_ns});
    }
}

/* An ack or nak of this packet was captured before it: a receiver reports a packet that comes after a later one as not
   delivered before it comes, and where an ack overtakes its packet, it was captured first. */
static void add_earlier_report(struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    struct uerudp_frame_state *other = uerudp_sequence_analysis_find_datagram(state, event->packet.report_frame, NULL);
    bool is_ack = event->packet.is_reported_delivered;
    const struct uerudp_analysis_result report = {.type = is_ack ? UERUDP_RESULT_ACK : UERUDP_RESULT_NAK,
                                                  .frame = state->frame_number,
                                                  .id = event->packet_id,
                                                  .span_ns = -1};
    if (other != NULL && uerudp_analysis_results_remove(other, report.type, &report.id)) {
        uerudp_analysis_results_add(other, &report);
        add_to_other(other, state, is_ack ? UERUDP_RESULT_ACKED_IN : UERUDP_RESULT_NACKED_IN, 0);
    }
}

static void add_packet(struct uerudp_sequence_analysis *analysis, struct uerudp_frame_state *state,
                       const struct ue_observed_event *event) {
    if (event->packet.is_duplicate) {
        const struct uerudp_analysis_result result = {.type = UERUDP_RESULT_DUPLICATE,
                                                      .frame = (uint32_t)event->packet.first_frame};
        uerudp_analysis_results_add(state, &result);
    }
    if (event->packet.report_frame != 0) {
        add_earlier_report(state, event);
    }
    if (event->packet.is_late) {
        uerudp_analysis_results_add(state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_OUT_OF_ORDER});
    }
    if (event->packet.in_flight != 0) {
        const struct uerudp_analysis_result result = {.type = UERUDP_RESULT_PACKETS_IN_FLIGHT,
                                                      .number = event->packet.in_flight};
        uerudp_analysis_results_add(state, &result);
    }
    add_jitter(analysis, state, event);
}

static void add_other_view(struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    const struct uerudp_analysis_result result = {.type = UERUDP_RESULT_OTHER_VIEW,
                                                  .frame = (uint32_t)event->other_view.first_frame};
    state->is_other_view = true;
    uerudp_analysis_results_add(state, &result);
}

static void add_never_sent(const struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    struct uerudp_frame_state *other = uerudp_sequence_analysis_find_datagram(state, event->never_sent.frame, NULL);
    const struct uerudp_analysis_result result = {
        .type = UERUDP_RESULT_NEVER_SENT, .frame = state->frame_number, .id = event->never_sent.last_id};
    if (other != NULL) {
        uerudp_analysis_results_add(other, &result);
    }
}

static void add_ack(struct uerudp_frame_state *current, const struct ue_observed_event *event) {
    bool is_ack = event->type == UE_OBSERVED_ACK;
    struct uerudp_frame_state *held =
        event->frame != current->frame_number
            ? uerudp_sequence_analysis_find_datagram(current, event->frame, &event->packet_id)
            : NULL;
    struct uerudp_frame_state *state = held != NULL ? held : current;
    if (event->ack.is_excused) {
        return;
    }
    const struct uerudp_analysis_result result = {.type = is_ack ? UERUDP_RESULT_ACK : UERUDP_RESULT_NAK,
                                                  .frame = (uint32_t)event->ack.frame,
                                                  .id = event->ack.packet_id,
                                                  .span_ns = event->ack.may_be_repeated ? -1 : event->ack.span_ns,
                                                  .is_set = event->ack.is_withdrawn};
    uerudp_analysis_results_add(state, &result);
    if (event->ack.is_withdrawn) {
        return;
    }
    add_to_other(state, uerudp_sequence_analysis_find_datagram(state, event->ack.frame, &event->ack.packet_id),
                 is_ack ? UERUDP_RESULT_ACKED_IN : UERUDP_RESULT_NACKED_IN, 0);
}

static void add_first_ack(const struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    const struct ue_observed_first_ack *ack = &event->first_ack;
    struct uerudp_frame_state *other =
        ack->span_ns >= 0 ? uerudp_sequence_analysis_find_datagram(state, ack->frame, &ack->packet_id) : NULL;
    if (other != NULL && uerudp_analysis_results_remove(other, UERUDP_RESULT_ACK, &ack->acked_id)) {
        uerudp_analysis_results_add(other, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_ACK,
                                                                            .frame = (uint32_t)ack->acked_frame,
                                                                            .id = ack->acked_id,
                                                                            .span_ns = ack->span_ns});
    }
}

static void add_retransmission(struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    const struct uerudp_analysis_result result = {.type = UERUDP_RESULT_RETRANSMISSION,
                                                  .item = event->bunch.item,
                                                  .frame = (uint32_t)event->bunch.previous_frame,
                                                  .first_frame = (uint32_t)event->bunch.first_frame,
                                                  .number = event->bunch.copy,
                                                  .is_set = event->bunch.is_spurious};
    uerudp_analysis_results_add(state, &result);
    add_to_other(state, uerudp_sequence_analysis_find_datagram(state, event->bunch.previous_frame, NULL),
                 UERUDP_RESULT_RETRANSMITTED_IN, event->bunch.previous_item);
}

static bool is_high(const struct ue_context *x, uint32_t in_flight) {
    return x->reliable_limit != 0 && ue_finding_is_share_reached(UE_FINDING_BUFFER_HIGH, in_flight, x->reliable_limit);
}

static void add_reliable(struct uerudp_frame_state *state, const struct ue_context *x,
                         const struct ue_observed_event *event) {
    const struct uerudp_analysis_result result = {.type = UERUDP_RESULT_RELIABLE,
                                                  .item = event->bunch.item,
                                                  .id = event->bunch.reliable_id,
                                                  .number = event->bunch.in_flight.at_least,
                                                  .is_set = is_high(x, event->bunch.in_flight.at_least)};
    uerudp_analysis_results_add(state, &result);
    if (event->bunch.copy > 1) {
        add_retransmission(state, event);
    }
}

static void add_bunch(struct uerudp_frame_state *state, const struct ue_context *x,
                      const struct ue_observed_event *event, enum ue_reassembly_problem problem) {
    if (event->bunch.reliable_id >= 0) {
        add_reliable(state, x, event);
    }
    if (event->bunch.is_jump || event->bunch.is_gap) {
        uerudp_analysis_results_add(state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_RELIABLE_GAP,
                                                                            .item = event->bunch.item,
                                                                            .is_set = event->bunch.is_jump});
    }
    if (event->bunch.is_opening && !event->bunch.decoded->open) {
        uerudp_analysis_results_add(
            state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_OPENING, .item = event->bunch.item});
    }
    if (event->bunch.is_partial_error) {
        uerudp_analysis_results_add(state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_PARTIAL_ERROR,
                                                                            .item = event->bunch.item,
                                                                            .number = problem});
    }
}

static void add_handshake(struct uerudp_frame_state *state, const struct ue_observed_event *event) {
    if (event->handshake.answer_ns >= 0) {
        uerudp_analysis_results_add(state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_HANDSHAKE_RTT,
                                                                            .span_ns = event->handshake.answer_ns});
    }
}

void uerudp_sequence_analysis_add_event(struct uerudp_sequence_analysis *analysis, struct uerudp_frame_state *state,
                                        const struct ue_context *context, const struct ue_observed_event *event,
                                        enum ue_reassembly_problem problem) {
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: add_handshake(state, event); break;
    case UE_OBSERVED_PACKET: add_packet(analysis, state, event); break;
    case UE_OBSERVED_OTHER_VIEW: add_other_view(state, event); break;
    case UE_OBSERVED_LOST: add_missing(state, event); break;
    case UE_OBSERVED_NOT_LOST: remove_disproved(state, event); break;
    case UE_OBSERVED_NEVER_SENT: add_never_sent(state, event); break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK: add_ack(state, event); break;
    case UE_OBSERVED_FIRST_ACK: add_first_ack(state, event); break;
    case UE_OBSERVED_BUNCH: add_bunch(state, context, event, problem); break;
    default: break;
    }
}

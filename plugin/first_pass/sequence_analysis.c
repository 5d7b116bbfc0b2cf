/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/sequence_analysis.h"

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/conversation.h"
#include "plugin/first_pass/frame_state.h"

/* A reliable buffer counts as nearly full from here on. */
#define HIGH_NUMERATOR 7
#define HIGH_DENOMINATOR 8

void ue_findings_cut(struct ue_findings *findings, unsigned side) {
    findings->cut[side]++;
    findings->has_cut[side] = true;
}

/* ---- the datagram that an event speaks of ---- */

struct ue_visit *ue_findings_other(const struct ue_visit *visit, uint64_t frame, const int64_t *packet_id) {
    struct ue_visit *other = ue_visit_of_frame((uint32_t)frame);
    while (other != NULL && (other->connection->observer != visit->connection->observer ||
                             (packet_id != NULL && other->frame.links.packet_id != *packet_id))) {
        other = other->next;
    }
    return other;
}

static void tell_other(const struct ue_visit *visit, struct ue_visit *other, enum ue_note_type type, uint32_t item) {
    if (other != NULL) {
        const struct ue_note note = {.type = type, .item = item, .frame = visit->number};
        ue_notes_add(other, &note);
    }
}

/* ---- events ---- */

static void note_missing(const struct ue_findings *findings, struct ue_visit *visit,
                         const struct ue_track_event *event) {
    uint64_t count = (uint64_t)(event->last_id - event->packet_id) + 1;
    uint32_t cut = findings->cut[event->side];
    if (count > cut) {
        const struct ue_note note = {
            .type = UE_NOTE_MISSING, .number = (uint32_t)(count - cut), .id = cut == 0 ? event->last_id : -1};
        ue_notes_add(visit, &note);
    }
}

/* With its number goes what followed from it. */
static void take_back(const struct ue_visit *visit, const struct ue_track_event *event) {
    const int64_t damaged_id = event->last_id + 1;
    const struct ue_visit *other = ue_findings_other(visit, event->other_frame, &damaged_id);
    if (other != NULL) {
        ue_notes_void(other, UE_NOTE_MISSING);
        ue_notes_void(other, UE_NOTE_IN_FLIGHT);
    }
}

static void note_jitter(struct ue_findings *findings, struct ue_visit *visit, const struct ue_track_event *event) {
    struct ue_clock_jitter *jitter = &findings->jitter[event->side];
    const struct ue_packet *packet = &event->datagram->packet;
    bool is_heard = packet->has_info && !event->is_late && !event->is_duplicate;
    if (is_heard && ue_clock_jitter_feed(jitter, event->time_ns, packet->jitter_ms)) {
        ue_notes_add(visit, &(struct ue_note){.type = UE_NOTE_JITTER, .span_ns = jitter->average_ns});
    }
}

static void note_packet(struct ue_findings *findings, struct ue_visit *visit, const struct ue_track_event *event) {
    findings->cut[event->side] = 0;
    if (event->is_duplicate) {
        const struct ue_note note = {.type = UE_NOTE_DUPLICATE, .frame = (uint32_t)event->other_frame};
        ue_notes_add(visit, &note);
    }
    if (event->is_late) {
        ue_notes_add(visit, &(struct ue_note){.type = UE_NOTE_LATE});
    }
    if (event->packets_in_flight != 0) {
        const struct ue_note note = {.type = UE_NOTE_IN_FLIGHT, .number = event->packets_in_flight};
        ue_notes_add(visit, &note);
    }
    note_jitter(findings, visit, event);
}

static void note_verdict(const struct ue_findings *findings, struct ue_visit *visit,
                         const struct ue_track_event *event) {
    bool is_ack = event->type == UE_TRACK_ACKED;
    if (event->other_frame == 0 && findings->has_cut[!event->side]) {
        return;
    }
    const struct ue_note note = {.type = is_ack ? UE_NOTE_ACKS : UE_NOTE_NACKS,
                                 .frame = (uint32_t)event->other_frame,
                                 .id = event->packet_id,
                                 .span_ns = event->span_ns,
                                 .is_set = event->is_withdrawn};
    ue_notes_add(visit, &note);
    if (event->is_withdrawn) {
        return;
    }
    tell_other(visit, ue_findings_other(visit, event->other_frame, &event->packet_id),
               is_ack ? UE_NOTE_ACKED_IN : UE_NOTE_NACKED_IN, 0);
}

static void note_copy(struct ue_visit *visit, const struct ue_track_event *event) {
    const struct ue_note note = {.type = UE_NOTE_COPY,
                                 .item = event->item,
                                 .frame = (uint32_t)event->other_frame,
                                 .first_frame = (uint32_t)event->first_frame,
                                 .number = event->copy,
                                 .is_set = event->is_spurious};
    ue_notes_add(visit, &note);
    tell_other(visit, ue_findings_other(visit, event->other_frame, NULL), UE_NOTE_COPIED_IN, event->other_item);
}

static bool is_high(const struct ue_context *x, uint32_t in_flight) {
    return in_flight >= x->reliable_buffer * HIGH_NUMERATOR / HIGH_DENOMINATOR;
}

static void note_reliable(struct ue_visit *visit, const struct ue_context *x, const struct ue_track_event *event) {
    const struct ue_note note = {.type = UE_NOTE_RELIABLE,
                                 .item = event->item,
                                 .id = event->reliable_id,
                                 .number = event->reliable_in_flight,
                                 .is_set = is_high(x, event->reliable_in_flight)};
    ue_notes_add(visit, &note);
    if (event->copy > 1) {
        note_copy(visit, event);
    }
}

static void note_bunch(const struct ue_findings *findings, struct ue_visit *visit, const struct ue_context *x,
                       const struct ue_track_event *event, enum ue_assembly_problem problem) {
    bool is_whole = !findings->has_cut[event->side];
    if (event->reliable_id >= 0) {
        note_reliable(visit, x, event);
    }
    if (event->is_jump || (event->is_gap && is_whole)) {
        ue_notes_add(visit, &(struct ue_note){.type = UE_NOTE_GAP, .item = event->item, .is_set = event->is_jump});
    }
    if (event->is_partial_error && is_whole) {
        ue_notes_add(visit, &(struct ue_note){.type = UE_NOTE_PARTIAL_ERROR, .item = event->item, .number = problem});
    }
}

static void note_handshake(struct ue_visit *visit, const struct ue_track_event *event) {
    if (event->span_ns >= 0) {
        ue_notes_add(visit, &(struct ue_note){.type = UE_NOTE_HANDSHAKE, .span_ns = event->span_ns});
    }
}

void ue_findings_take(struct ue_findings *findings, struct ue_visit *visit, const struct ue_context *context,
                      const struct ue_track_event *event, enum ue_assembly_problem problem) {
    switch (event->type) {
    case UE_TRACK_HANDSHAKE: note_handshake(visit, event); break;
    case UE_TRACK_PACKET: note_packet(findings, visit, event); break;
    case UE_TRACK_MISSING: note_missing(findings, visit, event); break;
    case UE_TRACK_DISPROVED: take_back(visit, event); break;
    case UE_TRACK_ACKED:
    case UE_TRACK_NACKED: note_verdict(findings, visit, event); break;
    case UE_TRACK_BUNCH: note_bunch(findings, visit, context, event, problem); break;
    case UE_TRACK_OPENED:
    case UE_TRACK_CLOSED:
    case UE_TRACK_RESET: break;
    }
}

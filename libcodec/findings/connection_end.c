/* SPDX-License-Identifier: MIT */
/* How a connection ended: who closed it and why, or which side fell silent. */
#include <string.h>

#include <uerudp/close_reason.h>
#include <uerudp/message.h>
#include "libcodec/findings/findings_state.h"

/* Reasons are separated by commas. */
static bool has_reason(const char *reasons, enum ue_close_reason reason) {
    const char *name = ue_close_reason_name(reason);
    for (const char *at = reasons; *at != '\0'; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strcspn(at, ",") == strlen(name) && memcmp(at, name, strlen(name)) == 0) {
            return true;
        }
    }
    return false;
}

/* The message of a side that it closes because it received nothing; NULL: none. */
static const struct ue_login_step *timeout_step(const struct ue_findings *findings) {
    const struct ue_login_step *step = ue_findings_login_step(findings, false, UE_MESSAGE_CLOSE_REASON);
    return step != NULL && has_reason(step->text, UE_CLOSE_CONNECTION_TIMEOUT) ? step : NULL;
}

bool ue_findings_has_timed_out(const struct ue_findings *findings) {
    return timeout_step(findings) != NULL || ue_findings_gone_side(findings) >= 0;
}

int ue_findings_gone_side(const struct ue_findings *findings) {
    const struct ue_login_step *step = timeout_step(findings);
    bool may_end_later = findings->course.goes_on && !findings->course.is_closed;
    for (unsigned side = 0; side < 2; side++) {
        bool is_reported = step != NULL && step->side != side;
        enum ue_finding_id limit = is_reported ? UE_FINDING_SILENCE : UE_FINDING_TIMEOUT;
        if ((is_reported || !may_end_later) && !ue_findings_last_packet(findings, side)->is_unread &&
            ue_findings_silence_ns(findings, side).at_least >= ue_finding_threshold_ns(limit)) {
            return (int)side;
        }
    }
    return -1;
}

const char *ue_findings_close_text(const struct ue_findings *findings) {
    static const uint8_t types[] = {UE_MESSAGE_CLOSE_REASON, UE_MESSAGE_FAILURE};
    for (size_t i = 0; i < sizeof types; i++) {
        const struct ue_login_step *step = ue_findings_login_step(findings, false, types[i]);
        if (step != NULL && step->text[0] != '\0') {
            return step->text;
        }
    }
    return NULL;
}

void ue_connection_end_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_stream_course *course = &findings->course;
    if (event->type == UE_OBSERVED_CHANNEL_CLOSED && event->channel.bunch->channel == 0 && !course->is_closed) {
        course->is_closed = true;
        course->closed_by = event->side;
        course->closed_frame = event->frame;
        course->closed_ns = event->time_ns;
        findings->last_at_close[0] = findings->silence[0].last;
        findings->last_at_close[1] = findings->silence[1].last;
    }
}

/* By edit --redact: it may have been a normal end. */
static bool is_masked(const char *reason, size_t length) {
    size_t narrow = strspn(reason, "X"), wide = strspn(reason, "\xc3\x97");
    return narrow == length || wide == length;
}

static bool is_normal_end(const char *reasons) {
    bool all = true;
    for (const char *at = reasons; all && *at != '\0'; at += strcspn(at, ",")) {
        at += *at == ',';
        size_t length = strcspn(at, ",");
        enum ue_close_reason reason = ue_close_reason_find(at, length);
        all = is_masked(at, length) || (reason != UE_CLOSE_NONE && ue_close_reason_is_normal(reason));
    }
    return all;
}

/* A refusal or a timeout already reports the end. */
static void report_close(const struct ue_findings *findings, int gone) {
    const struct ue_login_step *step = ue_findings_login_step(findings, false, UE_MESSAGE_CLOSE_REASON);
    if (step != NULL && gone < 0 && !ue_handshake_login_is_refused(findings) && !is_normal_end(step->text)) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_CLOSED, step->side, 0, step->frame);
        ue_finding_set_time(&finding, step->time_ns);
        finding.text = step->text;
        ue_findings_report(findings, &finding);
    }
}

/* Since the last ack, if later packets than the last captured one were acknowledged. */
static struct ue_finding_value known_silence_ns(const struct ue_findings *findings, unsigned side) {
    struct ue_finding_value span_ns = ue_findings_silence_ns(findings, side);
    bool is_acked = ue_findings_last_packet(findings, side)->acked_frame != 0;
    return is_acked ? (struct ue_finding_value)UE_EXACTLY(span_ns.at_least) : span_ns;
}

static void report_timeout(const struct ue_findings *findings, unsigned gone) {
    const struct ue_last_packet *last = ue_findings_last_packet(findings, gone);
    bool is_acked = last->acked_frame != 0;
    struct ue_finding finding =
        ue_finding_of_bounded_span(is_acked ? UE_FINDING_ACKED_TIMEOUT : UE_FINDING_TIMEOUT, gone,
                                   known_silence_ns(findings, gone), last->frame, last->acked_frame);
    ue_finding_set_time(&finding, last->time_ns);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)(is_acked ? last->peer_packets_after_ack : last->peer_packets));
    ue_finding_set(&finding, UE_VALUE_SINCE, last->time_ns - findings->course.first_ns);
    ue_finding_set(&finding, UE_VALUE_OTHERS, findings->course.is_closed);
    ue_finding_set(&finding, UE_VALUE_OF, (int64_t)last->acked);
    ue_findings_report(findings, &finding);
}

/* Whether a side sent messages of a handshake after this packet: it was not silent. */
static bool has_handshake_after(const struct ue_findings *findings, unsigned side, const struct ue_last_packet *last) {
    const struct ue_stream_course *course = &findings->course;
    uint64_t frame = findings->silence[side].handshake_frame;
    return frame > last->frame && (!course->is_closed || frame < course->closed_frame);
}

static bool is_silence(struct ue_finding_value gap_ns, uint64_t peer_packets) {
    return gap_ns.at_least >= ue_finding_threshold_ns(UE_FINDING_SILENCE) && peer_packets >= UE_PEER_PACKETS_MIN;
}

static void report_silence(const struct ue_findings *findings, enum ue_finding_id id, unsigned side,
                           struct ue_finding_value gap_ns, uint64_t peer_packets) {
    const struct ue_last_packet *last = ue_findings_last_packet(findings, side);
    uint64_t last_frame = last->acked_frame != 0 ? last->acked_frame : findings->course.closed_frame;
    struct ue_finding finding = ue_finding_of_bounded_span(id, side, gap_ns, last->frame, last_frame);
    ue_finding_set_time(&finding, last->time_ns);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)last->acked);
    ue_finding_set(&finding, UE_VALUE_OTHERS, (int64_t)peer_packets);
    ue_finding_set(&finding, UE_VALUE_OF, findings->course.is_closed);
    ue_findings_report(findings, &finding);
}

/* Until the end, or until the other side closed. */
static void report_last_silence(const struct ue_findings *findings, unsigned side) {
    const struct ue_last_packet *last = ue_findings_last_packet(findings, side);
    if (has_handshake_after(findings, side, last)) {
        return;
    }
    bool is_closed = findings->course.is_closed, is_acked = last->acked_frame != 0;
    uint64_t peer_packets = is_acked ? last->peer_packets_after_ack : last->peer_packets;
    struct ue_finding_value known_ns = known_silence_ns(findings, side);
    struct ue_finding_value uncaptured_ns =
        ue_findings_span(findings, last->time_ns, ue_findings_last_packet(findings, !side)->time_ns);
    if (is_silence(known_ns, peer_packets)) {
        enum ue_finding_id id = is_acked          ? UE_FINDING_ACKED_LAST_SILENCE
                                : last->is_unread ? UE_FINDING_UNREAD_SILENCE
                                : is_closed       ? UE_FINDING_SILENCE_BEFORE_CLOSE
                                                  : UE_FINDING_LAST_SILENCE;
        report_silence(findings, id, side, known_ns, peer_packets);
    } else if (is_acked && is_silence(uncaptured_ns, last->peer_packets)) {
        report_silence(findings, UE_FINDING_INCOMPLETE_END, side, uncaptured_ns, last->peer_packets);
    }
}

void ue_connection_end_finish(const struct ue_findings *findings) {
    int gone = ue_findings_gone_side(findings);
    report_close(findings, gone);
    if (gone >= 0) {
        report_timeout(findings, (unsigned)gone);
    }
    for (unsigned side = 0; side < 2; side++) {
        if ((int)side != gone) {
            report_last_silence(findings, side);
        }
    }
}

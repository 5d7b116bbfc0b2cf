/* SPDX-License-Identifier: MIT */
#include "tools/info/diagnosis.h"

#include <inttypes.h>

#include <uerudp/close_reason.h>
#include "tools/print/phrase.h"

/* Thresholds of findings. */
#define LOSS_MIN_PERCENT 1.0
#define LOSS_PACKETS_MIN 5 /* a smaller number makes no meaningful percentage */
#define ONE_WAY_FACTOR 5   /* ratio to the loss of the other direction */
#define PING_HIGH_MS 150
#define FRAME_TIME_HIGH_MS 50 /* the default of servers is 30 frames per second */
#define BUFFER_HIGH_PERCENT 80
#define SPURIOUS_MIN_PERCENT 1

#define FINDING(id, level, how_much)                                                                                   \
    {.kind = INFO_FINDING_##id, .severity = INFO_SEVERITY_##level, .weight = (double)(how_much)}
#define FINDING_AT(id, level, how_much, frame)                                                                         \
    {                                                                                                                  \
        .kind = INFO_FINDING_##id, .severity = INFO_SEVERITY_##level, .weight = (double)(how_much), .frame_count = 1,  \
        .frames = {                                                                                                    \
            frame                                                                                                      \
        }                                                                                                              \
    }

#define ADD(info, finding, ...) info_findings_add(&(info)->findings, finding, __VA_ARGS__)

/* ---- malformed ---- */

void info_diagnosis_add_malformed(struct info_connection *info, const struct input_datagram *captured) {
    const struct ue_fault *fault = &captured->result.fault;
    struct info_finding finding = FINDING_AT(MALFORMED, ERROR, 0, captured->held->frame);
    ADD(info, &finding, "malformed datagram of the %s in frame %" PRIu64 ": %s at bit %zu: %s",
        phrase_side(captured->role), captured->held->frame, ue_field_row(fault->field)->name, fault->bit,
        ue_status_text(fault->status));
}

static void report_messages(struct info_connection *info) {
    if (info->login.undecodable != 0) {
        struct info_finding finding =
            FINDING_AT(MESSAGE, WARNING, info->login.undecodable, info->login.undecodable_frame);
        ADD(info, &finding, "%s of the control channel %s a message that does not decode, the first in frame %" PRIu64,
            phrase_count(info->login.undecodable, "bunch").text, info->login.undecodable == 1 ? "has" : "have",
            info->login.undecodable_frame);
    }
}

/* ---- handshake and login ---- */

static void report_silence_of_server(struct info_connection *info, const struct info_login_step *initial) {
    int64_t waited_ns = info->last_ns - initial->time_ns;
    struct info_finding finding = FINDING_AT(NO_ANSWER, ERROR, initial->count, initial->frame);
    finding.severity = initial->count > 1 ? INFO_SEVERITY_ERROR : INFO_SEVERITY_NOTE;
    ADD(info, &finding,
        "no answer of the server is in the capture: the client sent the first handshake message %s, "
        "from frame %" PRIu64 " on, in %s",
        phrase_times(initial->count).text, initial->frame, phrase_duration(waited_ns).text);
}

/* A handshake after which no packet was sent. */
static void report_handshake(struct info_connection *info) {
    const struct info_login_step *initial = info_login_find(&info->login, true, UE_HANDSHAKE_INITIAL);
    const struct info_login_step *response = info_login_find(&info->login, true, UE_HANDSHAKE_RESPONSE);
    if (info->login.steps == NULL || info->sides[0].packets + info->sides[1].packets != 0) {
        return;
    }
    if (initial != NULL && response == NULL && info->sides[1].datagrams == 0) {
        report_silence_of_server(info, initial);
        return;
    }
    const struct info_login_step *last =
        &g_array_index(info->login.steps, struct info_login_step, info->login.steps->len - 1);
    struct info_finding finding = FINDING_AT(NO_ANSWER, WARNING, 0, last->frame);
    ADD(info, &finding, "no packet followed the handshake, whose last message is %s of the %s in frame %" PRIu64,
        info_login_step_name(last), phrase_side(last->side), last->frame);
}

static void report_refusal(struct info_connection *info, uint8_t type, const char *what) {
    const struct info_login_step *step = info_login_find(&info->login, false, type);
    if (step != NULL) {
        struct info_finding finding = FINDING_AT(REFUSED, ERROR, 0, step->frame);
        ADD(info, &finding, "the %s %s: \"%s\" (%s in frame %" PRIu64 ")", phrase_side(step->side), what, step->text,
            info_login_step_name(step), step->frame);
    }
}

static void report_upgrade(struct info_connection *info) {
    const struct info_login_step *step = info_login_find(&info->login, false, UE_MESSAGE_UPGRADE);
    const struct info_login_step *hello = info_login_find(&info->login, false, UE_MESSAGE_HELLO);
    if (step != NULL) {
        struct info_finding finding = FINDING_AT(REFUSED, ERROR, 1, step->frame);
        ADD(info, &finding, "the %s refused the version: it has %s, the other %s (%s in frame %" PRIu64 ")",
            phrase_side(step->side), step->text, hello != NULL ? hello->text : "one that is not in the capture",
            info_login_step_name(step), step->frame);
    }
}

static void report_versions(struct info_connection *info) {
    const struct info_login_step *step = info_login_find(&info->login, true, UE_HANDSHAKE_VERSION_UPGRADE);
    if (step != NULL) {
        struct info_finding finding = FINDING_AT(VERSION, WARNING, step->count, step->frame);
        ADD(info, &finding,
            "the server did not accept the client's handshake (VersionUpgrade in frame %" PRIu64 ": %s)", step->frame,
            step->text);
    }
}

static void report_retries(struct info_connection *info) {
    for (guint i = 0; info->login.steps != NULL && i < info->login.steps->len; i++) {
        const struct info_login_step *step = &g_array_index(info->login.steps, struct info_login_step, i);
        if (step->is_handshake && step->side == 0 && step->count > 1 && info->sides[1].datagrams != 0) {
            struct info_finding finding = FINDING_AT(RETRIED, NOTE, step->count, step->frame);
            ADD(info, &finding, "the client sent handshake message %s %s in %s, from frame %" PRIu64 " on",
                info_login_step_name(step), phrase_times(step->count).text,
                phrase_duration(step->last_ns - step->time_ns).text, step->frame);
        }
    }
}

static void report_restarts(struct info_connection *info) {
    if (info->login.epoch > info->login.restarts) {
        struct info_finding finding = FINDING(RESTART, WARNING, info->login.epoch);
        ADD(info, &finding, "a restart of the connection was not completed");
    }
    if (info->login.restarts != 0) {
        struct info_finding finding = FINDING(RESTART, NOTE, info->login.restarts);
        ADD(info, &finding, "the connection was restarted %s%s%s", phrase_times(info->login.restarts).text,
            info->former[0] != '\0' ? "; before, the client was " : "", info->former);
    }
}

/* ---- the end ---- */

static bool is_usual(const char *reasons) {
    static const enum ue_close_reason usual[] = {UE_CLOSE_NONE, UE_CLOSE_CONTROL_CHANNEL_CLOSE, UE_CLOSE_CLEANUP,
                                                 UE_CLOSE_DISCONNECT, UE_CLOSE_HOST_CLOSED};
    char **names = g_strsplit(reasons, ",", -1);
    bool all = true;
    for (size_t i = 0; all && names[i] != NULL; i++) {
        enum ue_close_reason reason = ue_close_reason_find(names[i], strlen(names[i]));
        bool is_listed = false;
        for (size_t j = 0; j < G_N_ELEMENTS(usual); j++) {
            is_listed |= reason == usual[j] && (reason != UE_CLOSE_NONE || names[i][0] == '\0');
        }
        all = is_listed;
    }
    g_strfreev(names);
    return all;
}

/* A refusal or a timeout already reports the end. */
static void report_close(struct info_connection *info) {
    const struct info_login_step *step = info_login_find(&info->login, false, UE_MESSAGE_CLOSE_REASON);
    bool is_reported = info->findings.counts[INFO_FINDING_REFUSED] != 0 || info_connection_gone_side(info) >= 0;
    if (step == NULL || is_reported || is_usual(step->text)) {
        return;
    }
    struct info_finding finding = FINDING_AT(CLOSED, ERROR, 0, step->frame);
    ADD(info, &finding, "the %s closed the connection because of %s (frame %" PRIu64 ")", phrase_side(step->side),
        step->text, step->frame);
}

static void report_timeout(struct info_connection *info) {
    int gone = info_connection_gone_side(info);
    if (gone < 0) {
        return;
    }
    const struct info_silence_side *self = &info->silence.sides[gone];
    struct info_finding finding = FINDING_AT(TIMEOUT, ERROR, 0, self->last_frame);
    ADD(info, &finding,
        "the %s fell silent after frame %" PRIu64 ", %s into the connection, without closing it; the %s "
        "sent %s in the %s that followed%s",
        phrase_side((unsigned)gone), self->last_frame, phrase_duration(self->last_ns - info->first_ns).text,
        phrase_side(gone == 0), phrase_count(self->peer_packets, "packet").text,
        phrase_duration(info_silence_at_end_ns(&info->silence, (unsigned)gone)).text,
        info->is_closed ? ", then closed" : "");
}

/* ---- the network ---- */

static double loss_percent(const struct ue_tracker_counts *counts) {
    uint64_t verdicts = counts->acked + counts->nacked;
    return verdicts == 0 ? 0 : 100.0 * (double)counts->nacked / (double)verdicts;
}

static void report_loss(struct info_connection *info, unsigned side) {
    const struct ue_tracker_counts *counts = &info->sides[side].counts;
    double percent = loss_percent(counts), other = loss_percent(&info->sides[!side].counts);
    if (percent < LOSS_MIN_PERCENT || counts->nacked < LOSS_PACKETS_MIN) {
        return;
    }
    bool is_one_way = percent > ONE_WAY_FACTOR * other;
    struct info_finding finding = FINDING(LOSS, WARNING, percent);
    finding.kind = is_one_way ? INFO_FINDING_ONE_WAY_LOSS : INFO_FINDING_LOSS;
    char other_way[48] = "";
    if (is_one_way) {
        g_snprintf(other_way, sizeof other_way, ", but only %.1f %% in the other direction", other);
    }
    ADD(info, &finding, "%.1f %% of the packets %s were not delivered (%" PRIu64 " of %" PRIu64 ")%s", percent,
        phrase_direction(side), counts->nacked, counts->acked + counts->nacked, other_way);
}

static void report_order(struct info_connection *info, unsigned side) {
    const struct ue_tracker_counts *counts = &info->sides[side].counts;
    if (counts->late != 0) {
        struct info_finding finding = FINDING(REORDERED, NOTE, counts->late);
        ADD(info, &finding, "%s %s after a higher packet id: the network reorders packets",
            phrase_count(counts->late, "packet").text, phrase_direction(side));
    }
    if (counts->duplicates != 0) {
        struct info_finding finding = FINDING(DUPLICATES, NOTE, counts->duplicates);
        ADD(info, &finding, "%s %s seen twice", phrase_count(counts->duplicates, "packet").text,
            phrase_direction(side));
    }
    if (counts->spurious * 100 > counts->reliable * SPURIOUS_MIN_PERCENT) {
        struct info_finding finding = FINDING(SPURIOUS, NOTE, counts->spurious);
        ADD(info, &finding, "%" PRIu64 " of %s %s repeated bunches that had been reported as delivered",
            counts->spurious, phrase_count(counts->resends, "resend").text, phrase_direction(side));
    }
}

static void report_reliable(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    uint32_t peak = figures->reliable_peak, limit = info->reliable_limit;
    if (figures->jumps != 0) {
        struct info_finding finding = FINDING(RELIABLE_JUMP, ERROR, figures->jumps);
        ADD(info, &finding, "%s %s so far ahead that no reliable buffer reaches there",
            phrase_count(figures->jumps, "reliable bunch").text, phrase_direction(side));
    }
    if (peak * 100 >= limit * BUFFER_HIGH_PERCENT && peak != 0) {
        struct info_finding finding = FINDING_AT(BUFFER_HIGH, WARNING, peak, figures->reliable_peak_frame);
        finding.severity = peak >= limit ? INFO_SEVERITY_ERROR : INFO_SEVERITY_WARNING;
        ADD(info, &finding,
            "reliable buffer of channel %" PRIu32 " (%s) held %" PRIu32 " of %" PRIu32 " bunches in frame %" PRIu64
            "%s",
            figures->reliable_peak_channel, phrase_direction(side), peak, limit, figures->reliable_peak_frame,
            peak >= limit ? ": at the limit an engine closes the connection" : "");
    }
    if (figures->partial_errors != 0) {
        struct info_finding finding = FINDING_AT(PARTIAL_ERROR, ERROR, figures->partial_errors, figures->partial_frame);
        ADD(info, &finding, "%s %s not continuing what came before, the first in frame %" PRIu64,
            phrase_count(figures->partial_errors, "fragment").text, phrase_direction(side), figures->partial_frame);
    }
}

/* ---- time ---- */

static void report_ping(struct info_connection *info) {
    const struct info_histogram *rtt = &info->timing.rtt;
    double p50 = phrase_milliseconds(info_histogram_percentile(rtt, 50)), least = phrase_milliseconds(rtt->min);
    if (p50 < PING_HIGH_MS) {
        return;
    }
    struct info_finding finding = FINDING(PING, WARNING, p50);
    ADD(info, &finding, "round trips are long: %.0f ms in the median, %.0f ms at best%s", p50, least,
        least * 2 < p50 ? "; the difference is waiting, in queues or until an end acknowledges" : "");
}

static void report_frame_time(struct info_connection *info) {
    int64_t p90_ms = info_histogram_percentile(&info->timing.frame_time_ms, 90);
    if (p90_ms >= FRAME_TIME_HIGH_MS) {
        struct info_finding finding = FINDING(FRAME_TIME, WARNING, p90_ms);
        ADD(info, &finding,
            "the server's frames are long: %" PRId64 " ms in the median, a tenth of %" PRId64 " ms or more",
            info_histogram_percentile(&info->timing.frame_time_ms, 50), p90_ms);
    }
}

static void report_rate(struct info_connection *info, unsigned side) {
    const struct info_rate *rate = &info->sides[side].rate;
    if (rate->saturated_seconds != 0) {
        struct info_finding finding = FINDING(SATURATED, WARNING, rate->saturated_seconds);
        ADD(info, &finding,
            "the %s used up the rate of %" PRId32 " bytes/s that the client asked for in %s; the most was "
            "%" PRIu64 " bytes, %" PRId64 " s into the connection",
            phrase_side(side), info->login.rate, phrase_count(rate->saturated_seconds, "second").text, rate->peak_bytes,
            rate->peak_second);
    }
}

/* ---- the capture ---- */

static void report_capture(struct info_connection *info, unsigned side) {
    const struct info_side *figures = &info->sides[side];
    if (figures->not_captured != 0) {
        struct info_finding finding =
            FINDING_AT(INCOMPLETE, WARNING, figures->not_captured, figures->not_captured_frame);
        ADD(info, &finding,
            "the capture is incomplete: %s %s %s acknowledged but %s not in it, the first reported in frame "
            "%" PRIu64,
            phrase_count(figures->not_captured, "packet").text, phrase_direction(side),
            figures->not_captured == 1 ? "was" : "were", figures->not_captured == 1 ? "is" : "are",
            figures->not_captured_frame);
    }
    bool is_alone = figures->packets != 0 && info->sides[!side].datagrams == 0;
    if (is_alone) {
        struct info_finding finding = FINDING(ONE_WAY, WARNING, figures->datagrams);
        ADD(info, &finding,
            "the capture has only datagrams %s: round trips, and what the %s received from the %s, are unknown",
            phrase_direction(side), phrase_side(!side), phrase_side(side));
    }
    if (figures->opaque != 0) {
        struct info_finding finding = FINDING(OPAQUE, NOTE, figures->opaque);
        ADD(info, &finding, "%s %s encrypted or compressed: the content was not decoded",
            phrase_count(figures->opaque, "packet").text, phrase_direction(side));
    }
    if (figures->cut != 0) {
        struct info_finding finding = FINDING(CUT, WARNING, figures->cut);
        ADD(info, &finding, "%s %s cut by the snap length of the capture, and left out",
            phrase_count(figures->cut, "datagram").text, phrase_direction(side));
    }
}

static void report_times(struct info_connection *info) {
    if (info->implausible != 0) {
        struct info_finding finding = FINDING_AT(TIMES, WARNING, info->implausible, info->implausible_frame);
        ADD(info, &finding,
            "%s captured before 1970 or after 2116, the first in frame %" PRIu64
            ": such times are implausible; no time, span or rate of this connection is shown",
            phrase_count(info->implausible, "datagram").text, info->implausible_frame);
    }
}

void info_diagnosis_finish(struct info_connection *info) {
    report_times(info);
    report_messages(info);
    report_handshake(info);
    report_refusal(info, UE_MESSAGE_FAILURE, "refused the connection");
    report_refusal(info, UE_MESSAGE_SECURITY_VIOLATION, "reported a security violation");
    report_upgrade(info);
    report_versions(info);
    report_retries(info);
    report_restarts(info);
    report_close(info);
    report_timeout(info);
    report_ping(info);
    report_frame_time(info);
    for (unsigned side = 0; side < 2; side++) {
        report_loss(info, side);
        report_order(info, side);
        report_reliable(info, side);
        report_rate(info, side);
        report_capture(info, side);
    }
}

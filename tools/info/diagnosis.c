/* SPDX-License-Identifier: MIT */
#include "tools/info/diagnosis.h"

#include <inttypes.h>

#include <uerudp/close_reason.h>
#include "tools/print/phrase.h"

/* Thresholds of what is worth a sentence. */
#define LOSS_MIN_PERCENT 1.0
#define LOSS_PACKETS_MIN 5 /* a share of fewer means nothing */
#define ONE_WAY_FACTOR 5   /* so much more than the other way */
#define PING_HIGH_MS 150
#define FRAME_TIME_HIGH_MS 50 /* servers run 30 frames a second by default */
#define BUFFER_HIGH_PERCENT 80
#define SPURIOUS_MIN_PERCENT 1

#define FINDING(id, level, how_much)                                                                                   \
    { .kind = UE_FINDING_##id, .severity = UE_SEVERITY_##level, .weight = (double)(how_much) }
#define FINDING_AT(id, level, how_much, frame)                                                                         \
    {                                                                                                                  \
        .kind = UE_FINDING_##id, .severity = UE_SEVERITY_##level, .weight = (double)(how_much), .frame_count = 1,      \
        .frames = {                                                                                                    \
            frame                                                                                                      \
        }                                                                                                              \
    }

#define ADD(info, finding, ...) ue_findings_add(&(info)->findings, finding, __VA_ARGS__)

/* ---- malformed ---- */

void ue_diagnosis_malformed(struct ue_info *info, const struct ue_seen *seen) {
    const struct ue_fault *fault = &seen->verdict.fault;
    struct ue_finding finding = FINDING_AT(MALFORMED, ERROR, 0, seen->held->frame);
    ADD(info, &finding, "malformed datagram of the %s in frame %" PRIu64 ": %s at bit %zu: %s",
        ue_side_name(seen->role), seen->held->frame, ue_field_row(fault->field)->name, fault->bit,
        ue_status_text(fault->status));
}

static void judge_messages(struct ue_info *info) {
    if (info->story.undecodable != 0) {
        struct ue_finding finding =
            FINDING_AT(MESSAGE, WARNING, info->story.undecodable, info->story.undecodable_frame);
        ADD(info, &finding, "%s of the control channel %s a message that does not decode, the first in frame %" PRIu64,
            ue_count_words(info->story.undecodable, "bunch").text, info->story.undecodable == 1 ? "has" : "have",
            info->story.undecodable_frame);
    }
}

/* ---- handshake and login ---- */

static void judge_silence_of_server(struct ue_info *info, const struct ue_step *initial) {
    int64_t waited_ns = info->last_ns - initial->time_ns;
    struct ue_finding finding = FINDING_AT(NO_ANSWER, ERROR, initial->count, initial->frame);
    finding.severity = initial->count > 1 ? UE_SEVERITY_ERROR : UE_SEVERITY_NOTE;
    ADD(info, &finding,
        "no answer of the server is in the capture: the client sent the first handshake message %s, "
        "from frame %" PRIu64 " on, in %s",
        ue_times_words(initial->count).text, initial->frame, ue_span_words(waited_ns).text);
}

/* A handshake that led to no packet. */
static void judge_handshake(struct ue_info *info) {
    const struct ue_step *initial = ue_story_find(&info->story, true, UE_HANDSHAKE_INITIAL);
    const struct ue_step *response = ue_story_find(&info->story, true, UE_HANDSHAKE_RESPONSE);
    if (info->story.steps == NULL || info->sides[0].ordinary + info->sides[1].ordinary != 0) {
        return;
    }
    if (initial != NULL && response == NULL && info->sides[1].datagrams == 0) {
        judge_silence_of_server(info, initial);
        return;
    }
    const struct ue_step *last = &g_array_index(info->story.steps, struct ue_step, info->story.steps->len - 1);
    struct ue_finding finding = FINDING_AT(NO_ANSWER, WARNING, 0, last->frame);
    ADD(info, &finding, "no packet followed the handshake: its last step is %s of the %s in frame %" PRIu64,
        ue_step_name(last), ue_side_name(last->side), last->frame);
}

static void judge_refusal(struct ue_info *info, uint8_t type, const char *what) {
    const struct ue_step *step = ue_story_find(&info->story, false, type);
    if (step != NULL) {
        struct ue_finding finding = FINDING_AT(REFUSED, ERROR, 0, step->frame);
        ADD(info, &finding, "the %s %s: \"%s\" (%s in frame %" PRIu64 ")", ue_side_name(step->side), what, step->text,
            ue_step_name(step), step->frame);
    }
}

static void judge_upgrade(struct ue_info *info) {
    const struct ue_step *step = ue_story_find(&info->story, false, UE_MESSAGE_UPGRADE);
    const struct ue_step *hello = ue_story_find(&info->story, false, UE_MESSAGE_HELLO);
    if (step != NULL) {
        struct ue_finding finding = FINDING_AT(REFUSED, ERROR, 1, step->frame);
        ADD(info, &finding, "the %s refused the version: it has %s, the other %s (%s in frame %" PRIu64 ")",
            ue_side_name(step->side), step->text, hello != NULL ? hello->text : "one that is not in the capture",
            ue_step_name(step), step->frame);
    }
}

static void judge_versions(struct ue_info *info) {
    const struct ue_step *step = ue_story_find(&info->story, true, UE_HANDSHAKE_VERSION_UPGRADE);
    if (step != NULL) {
        struct ue_finding finding = FINDING_AT(VERSION, WARNING, step->count, step->frame);
        ADD(info, &finding,
            "the server did not accept the client's handshake (VersionUpgrade in frame %" PRIu64 ": %s)", step->frame,
            step->text);
    }
}

static void judge_retries(struct ue_info *info) {
    for (guint i = 0; info->story.steps != NULL && i < info->story.steps->len; i++) {
        const struct ue_step *step = &g_array_index(info->story.steps, struct ue_step, i);
        if (step->is_handshake && step->side == 0 && step->count > 1 && info->sides[1].datagrams != 0) {
            struct ue_finding finding = FINDING_AT(RETRIED, NOTE, step->count, step->frame);
            ADD(info, &finding, "the client sent handshake message %s %s in %s, from frame %" PRIu64 " on",
                ue_step_name(step), ue_times_words(step->count).text, ue_span_words(step->last_ns - step->time_ns).text,
                step->frame);
        }
    }
}

static void judge_restarts(struct ue_info *info) {
    if (info->story.epoch > info->story.restarts) {
        struct ue_finding finding = FINDING(RESTART, WARNING, info->story.epoch);
        ADD(info, &finding, "a restart of the connection was begun and not finished");
    }
    if (info->story.restarts != 0) {
        struct ue_finding finding = FINDING(RESTART, NOTE, info->story.restarts);
        ADD(info, &finding, "the connection was restarted %s%s%s", ue_times_words(info->story.restarts).text,
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

/* A refusal and a timeout have said it already. */
static void judge_close(struct ue_info *info) {
    const struct ue_step *step = ue_story_find(&info->story, false, UE_MESSAGE_CLOSE_REASON);
    bool is_said = info->findings.counts[UE_FINDING_REFUSED] != 0 || ue_info_gone(info) >= 0;
    if (step == NULL || is_said || is_usual(step->text)) {
        return;
    }
    struct ue_finding finding = FINDING_AT(CLOSED, ERROR, 0, step->frame);
    ADD(info, &finding, "the %s closed the connection because of %s (frame %" PRIu64 ")", ue_side_name(step->side),
        step->text, step->frame);
}

static void judge_timeout(struct ue_info *info) {
    int gone = ue_info_gone(info);
    if (gone < 0) {
        return;
    }
    const struct ue_voice *voice = &info->silence.voices[gone];
    struct ue_finding finding = FINDING_AT(TIMEOUT, ERROR, 0, voice->last_frame);
    ADD(info, &finding,
        "the %s fell silent after frame %" PRIu64 ", %s into the connection, without closing it; the %s "
        "sent %s in the %s that followed%s",
        ue_side_name((unsigned)gone), voice->last_frame, ue_span_words(voice->last_ns - info->first_ns).text,
        ue_side_name(gone == 0), ue_count_words(voice->heard, "packet").text,
        ue_span_words(ue_silence_at_end_ns(&info->silence, (unsigned)gone)).text,
        info->is_closed ? ", then closed" : "");
}

/* ---- the network ---- */

static double loss_percent(const struct ue_track_counts *counts) {
    uint64_t verdicts = counts->acked + counts->nacked;
    return verdicts == 0 ? 0 : 100.0 * (double)counts->nacked / (double)verdicts;
}

static void judge_loss(struct ue_info *info, unsigned side) {
    const struct ue_track_counts *counts = &info->sides[side].counts;
    double percent = loss_percent(counts), other = loss_percent(&info->sides[!side].counts);
    if (percent < LOSS_MIN_PERCENT || counts->nacked < LOSS_PACKETS_MIN) {
        return;
    }
    bool is_one_way = percent > ONE_WAY_FACTOR * other;
    struct ue_finding finding = FINDING(LOSS, WARNING, percent);
    finding.kind = is_one_way ? UE_FINDING_ONE_WAY_LOSS : UE_FINDING_LOSS;
    char other_way[48] = "";
    if (is_one_way) {
        g_snprintf(other_way, sizeof other_way, ", but only %.1f %% the other way", other);
    }
    ADD(info, &finding, "%.1f %% of the packets %s were not delivered (%" PRIu64 " of %" PRIu64 ")%s", percent,
        ue_direction_words(side), counts->nacked, counts->acked + counts->nacked, other_way);
}

static void judge_order(struct ue_info *info, unsigned side) {
    const struct ue_track_counts *counts = &info->sides[side].counts;
    if (counts->late != 0) {
        struct ue_finding finding = FINDING(REORDERED, NOTE, counts->late);
        ADD(info, &finding, "%s %s behind a higher id: the network reorders",
            ue_count_words(counts->late, "packet").text, ue_direction_words(side));
    }
    if (counts->duplicates != 0) {
        struct ue_finding finding = FINDING(DUPLICATES, NOTE, counts->duplicates);
        ADD(info, &finding, "%s %s seen twice", ue_count_words(counts->duplicates, "packet").text,
            ue_direction_words(side));
    }
    if (counts->spurious * 100 > counts->reliable * SPURIOUS_MIN_PERCENT) {
        struct ue_finding finding = FINDING(SPURIOUS, NOTE, counts->spurious);
        ADD(info, &finding, "%" PRIu64 " of %s %s were of bunches that had been reported as delivered",
            counts->spurious, ue_count_words(counts->resends, "resend").text, ue_direction_words(side));
    }
}

static void judge_reliable(struct ue_info *info, unsigned side) {
    const struct ue_info_side *figures = &info->sides[side];
    uint32_t peak = figures->reliable_peak, limit = info->reliable_limit;
    if (figures->jumps != 0) {
        struct ue_finding finding = FINDING(RELIABLE_JUMP, ERROR, figures->jumps);
        ADD(info, &finding, "%s %s so far ahead that no reliable buffer reaches there",
            ue_count_words(figures->jumps, "reliable bunch").text, ue_direction_words(side));
    }
    if (peak * 100 >= limit * BUFFER_HIGH_PERCENT && peak != 0) {
        struct ue_finding finding = FINDING_AT(BUFFER_HIGH, WARNING, peak, figures->reliable_peak_frame);
        finding.severity = peak >= limit ? UE_SEVERITY_ERROR : UE_SEVERITY_WARNING;
        ADD(info, &finding,
            "reliable buffer of channel %" PRIu32 " (%s) held %" PRIu32 " of %" PRIu32 " bunches in frame %" PRIu64
            "%s",
            figures->reliable_peak_channel, ue_direction_words(side), peak, limit, figures->reliable_peak_frame,
            peak >= limit ? ": an engine closes the connection then" : "");
    }
    if (figures->partial_errors != 0) {
        struct ue_finding finding = FINDING_AT(PARTIAL_ERROR, ERROR, figures->partial_errors, figures->partial_frame);
        ADD(info, &finding, "%s %s not continuing what came before, the first in frame %" PRIu64,
            ue_count_words(figures->partial_errors, "fragment").text, ue_direction_words(side), figures->partial_frame);
    }
}

/* ---- time ---- */

static void judge_ping(struct ue_info *info) {
    const struct ue_histogram *rtt = &info->timing.rtt;
    double p50 = ue_ms(ue_histogram_percentile(rtt, 50)), least = ue_ms(rtt->min);
    if (p50 < PING_HIGH_MS) {
        return;
    }
    struct ue_finding finding = FINDING(PING, WARNING, p50);
    ADD(info, &finding, "round trips are long: %.0f ms in the median, %.0f ms at best%s", p50, least,
        least * 2 < p50 ? "; the difference is waiting, in queues or until an end acknowledges" : "");
}

static void judge_frame_time(struct ue_info *info) {
    int64_t p90_ms = ue_histogram_percentile(&info->timing.frame_time_ms, 90);
    if (p90_ms >= FRAME_TIME_HIGH_MS) {
        struct ue_finding finding = FINDING(FRAME_TIME, WARNING, p90_ms);
        ADD(info, &finding,
            "the server's frames are long: %" PRId64 " ms in the median, a tenth of %" PRId64 " ms or more",
            ue_histogram_percentile(&info->timing.frame_time_ms, 50), p90_ms);
    }
}

static void judge_rate(struct ue_info *info, unsigned side) {
    const struct ue_rate *rate = &info->sides[side].rate;
    if (rate->saturated_seconds != 0) {
        struct ue_finding finding = FINDING(SATURATED, WARNING, rate->saturated_seconds);
        ADD(info, &finding,
            "the %s used up the rate of %" PRId32 " bytes/s that the client asked for in %s; the most was "
            "%" PRIu64 " bytes, %" PRId64 " s into the connection",
            ue_side_name(side), info->story.rate, ue_count_words(rate->saturated_seconds, "second").text,
            rate->peak_bytes, rate->peak_second);
    }
}

/* ---- the capture ---- */

static void judge_capture(struct ue_info *info, unsigned side) {
    const struct ue_info_side *figures = &info->sides[side];
    if (figures->unseen != 0) {
        struct ue_finding finding = FINDING_AT(INCOMPLETE, WARNING, figures->unseen, figures->unseen_frame);
        ADD(info, &finding,
            "the capture is incomplete: %s %s %s acknowledged but %s not in it, the first reported in frame "
            "%" PRIu64,
            ue_count_words(figures->unseen, "packet").text, ue_direction_words(side),
            figures->unseen == 1 ? "was" : "were", figures->unseen == 1 ? "is" : "are", figures->unseen_frame);
    }
    bool is_alone = figures->ordinary != 0 && info->sides[!side].datagrams == 0;
    if (is_alone) {
        struct ue_finding finding = FINDING(ONE_WAY, WARNING, figures->datagrams);
        ADD(info, &finding,
            "only datagrams %s are in the capture: nothing tells of round trips or of what the %s received "
            "from the %s",
            ue_direction_words(side), ue_side_name(!side), ue_side_name(side));
    }
    if (figures->opaque != 0) {
        struct ue_finding finding = FINDING(OPAQUE, NOTE, figures->opaque);
        ADD(info, &finding, "%s %s encrypted or compressed: what is inside was not looked at",
            ue_count_words(figures->opaque, "packet").text, ue_direction_words(side));
    }
    if (figures->cut != 0) {
        struct ue_finding finding = FINDING(CUT, WARNING, figures->cut);
        ADD(info, &finding, "%s %s cut by the snap length of the capture, and left out",
            ue_count_words(figures->cut, "datagram").text, ue_direction_words(side));
    }
}

static void judge_times(struct ue_info *info) {
    if (info->implausible != 0) {
        struct ue_finding finding = FINDING_AT(TIMES, WARNING, info->implausible, info->implausible_frame);
        ADD(info, &finding,
            "%s captured before 1970 or after 2116, the first in frame %" PRIu64
            ": such times are implausible; no time, span or rate of this connection is shown",
            ue_count_words(info->implausible, "datagram").text, info->implausible_frame);
    }
}

void ue_diagnosis_finish(struct ue_info *info) {
    judge_times(info);
    judge_messages(info);
    judge_handshake(info);
    judge_refusal(info, UE_MESSAGE_FAILURE, "refused the connection");
    judge_refusal(info, UE_MESSAGE_SECURITY_VIOLATION, "reported a security violation");
    judge_upgrade(info);
    judge_versions(info);
    judge_retries(info);
    judge_restarts(info);
    judge_close(info);
    judge_timeout(info);
    judge_ping(info);
    judge_frame_time(info);
    for (unsigned side = 0; side < 2; side++) {
        judge_loss(info, side);
        judge_order(info, side);
        judge_reliable(info, side);
        judge_rate(info, side);
        judge_capture(info, side);
    }
}

/* SPDX-License-Identifier: MIT */
#include "tools/info/silence.h"

#include <inttypes.h>

#include "tools/print/phrase.h"

/* So many packets of one side show that it was there while the other was silent. */
#define WITNESSES_MIN 2

/* ---- silence ---- */

static void report_pause(const struct ue_tracker_event *event, const struct info_silence_side *last,
                         struct info_findings *findings) {
    int64_t gap_ns = event->time_ns - last->last_ns;
    struct info_finding finding = {.kind = INFO_FINDING_PAUSE,
                                 .severity = INFO_SEVERITY_WARNING,
                                 .weight = (double)gap_ns,
                                 .frame_count = 2,
                                 .frames = {last->last_frame, event->frame}};
    info_findings_add(findings, &finding,
                    "no packet from either side for %s, between frames %" PRIu64 " and %" PRIu64
                    ": both stopped, or the capture did",
                    phrase_duration(gap_ns).text, last->last_frame, event->frame);
}

static void report_silence(const struct ue_tracker_event *event, const struct info_silence_side *voice, int64_t gap_ns,
                           struct info_findings *findings) {
    struct info_finding finding = {.kind = INFO_FINDING_SILENCE,
                                 .severity = INFO_SEVERITY_WARNING,
                                 .weight = (double)gap_ns,
                                 .frame_count = 2,
                                 .frames = {voice->last_frame, event->frame}};
    const char *who = phrase_side(event->side);
    char why[128];
    if (voice->missing != 0) {
        g_snprintf(why, sizeof why, "%s of it missing here: it sent, they were lost or not captured",
                   phrase_count(voice->missing, "packet").text);
    } else {
        g_snprintf(why, sizeof why, "no packet id missing: the %s did not send", who);
    }
    info_findings_add(findings, &finding,
                    "no packet from the %s for %s, between frames %" PRIu64 " and %" PRIu64
                    ", while the %s sent %" PRIu64 "; %s",
                    who, phrase_duration(gap_ns).text, voice->last_frame, event->frame, phrase_side(!event->side),
                    voice->heard, why);
}

static void hear(struct info_silence *silence, const struct ue_tracker_event *event, struct info_findings *findings) {
    struct info_silence_side *voice = &silence->voices[event->side];
    struct info_silence_side *other = &silence->voices[!event->side];
    int64_t gap_ns = event->time_ns - voice->last_ns;
    int64_t alone_ns = other->last_ns - voice->last_ns; /* so long the other went on */
    bool is_pause = event->time_ns - other->last_ns >= INFO_SILENCE_MIN_NS && alone_ns < INFO_SILENCE_MIN_NS;
    if (voice->packets != 0 && gap_ns >= INFO_SILENCE_MIN_NS) {
        if (is_pause) {
            report_pause(event, alone_ns > 0 ? other : voice, findings);
        } else if (voice->heard >= WITNESSES_MIN) {
            report_silence(event, voice, gap_ns, findings);
        }
    }
    voice->packets++;
    voice->last_ns = event->time_ns;
    voice->last_frame = event->frame;
    voice->missing = 0;
    voice->heard = 0;
    other->heard++;
    other->unanswering++;
}

/* ---- gaps between verdicts ---- */

static void report_gap(struct info_silence_side *voice, unsigned side, struct info_findings *findings) {
    struct info_finding finding = {.kind = INFO_FINDING_ACK_GAP,
                                 .severity = INFO_SEVERITY_WARNING,
                                 .weight = (double)voice->gap_ns,
                                 .frame_count = 2,
                                 .frames = {voice->gap_from_frame, voice->gap_frame}};
    voice->gap_frame = 0;
    info_findings_add(findings, &finding,
                    "the %s acknowledged nothing for %s, between frames %" PRIu64 " and %" PRIu64
                    ", although it kept sending; then it reported %s of the %s as not delivered",
                    phrase_side(!side), phrase_duration(voice->gap_ns).text, finding.frames[0], finding.frames[1],
                    phrase_count(voice->gap_nacked, "packet").text, phrase_side(side));
}

static void end_gap(struct info_silence *silence, uint64_t frame, struct info_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        struct info_silence_side *voice = &silence->voices[side];
        if (voice->gap_frame != 0 && voice->gap_frame != frame) {
            report_gap(voice, side, findings);
        }
    }
}

static void begin_wait(struct info_silence_side *voice, const struct ue_tracker_event *event) {
    voice->verdict_ns = event->time_ns;
    voice->verdict_frame = event->frame;
    voice->unanswering = 0;
}

static void judge(struct info_silence *silence, const struct ue_tracker_event *event) {
    struct info_silence_side *voice = &silence->voices[!event->side];
    int64_t gap_ns = event->time_ns - voice->verdict_ns;
    /* the packet with the verdict itself is one of the unanswering */
    if (voice->is_waiting && gap_ns >= INFO_SILENCE_MIN_NS && voice->unanswering > WITNESSES_MIN) {
        voice->gap_ns = gap_ns;
        voice->gap_from_frame = voice->verdict_frame;
        voice->gap_frame = event->frame;
        voice->gap_nacked = 0;
    }
    voice->gap_nacked += event->type == UE_TRACKER_NAK;
    voice->is_waiting = event->packet_id < voice->newest_id;
    begin_wait(voice, event);
}

/* Nothing is waited for until there is a packet. */
static void await(struct info_silence *silence, const struct ue_tracker_event *event) {
    struct info_silence_side *voice = &silence->voices[event->side];
    voice->newest_id = MAX(voice->newest_id, event->packet_id);
    if (!voice->is_waiting) {
        voice->is_waiting = true;
        begin_wait(voice, event);
    }
}

void info_silence_on_event(struct info_silence *silence, const struct ue_tracker_event *event, struct info_findings *findings) {
    end_gap(silence, event->frame, findings);
    switch (event->type) {
    case UE_TRACKER_LOST:
        silence->voices[event->side].missing += (uint64_t)(event->last_id - event->packet_id + 1);
        break;
    case UE_TRACKER_PACKET:
        hear(silence, event, findings);
        await(silence, event);
        break;
    case UE_TRACKER_ACK:
    case UE_TRACKER_NAK:
        if (!event->is_withdrawn) {
            judge(silence, event);
        }
        break;
    default: break;
    }
}

/* ---- the end ---- */

int64_t info_silence_at_end_ns(const struct info_silence *silence, unsigned side) {
    const struct info_silence_side *voice = &silence->voices[side];
    const struct info_silence_side *other = &silence->voices[!side];
    return voice->packets != 0 && other->last_ns > voice->last_ns ? other->last_ns - voice->last_ns : 0;
}

void info_silence_finish(struct info_silence *silence, bool is_closed, struct info_findings *findings) {
    end_gap(silence, 0, findings);
    for (unsigned side = 0; !is_closed && side < 2; side++) {
        const struct info_silence_side *voice = &silence->voices[side];
        int64_t gap_ns = info_silence_at_end_ns(silence, side);
        if (gap_ns < INFO_SILENCE_MIN_NS || gap_ns >= INFO_GONE_MIN_NS || voice->heard < WITNESSES_MIN) {
            continue; /* one that is gone is a timeout */
        }
        struct info_finding finding = {.kind = INFO_FINDING_SILENCE,
                                     .severity = INFO_SEVERITY_WARNING,
                                     .weight = (double)gap_ns,
                                     .frame_count = 1,
                                     .frames = {voice->last_frame}};
        info_findings_add(findings, &finding,
                        "no packet from the %s in the last %s, after frame %" PRIu64 ", while the %s sent %" PRIu64,
                        phrase_side(side), phrase_duration(gap_ns).text, voice->last_frame, phrase_side(!side),
                        voice->heard);
    }
}

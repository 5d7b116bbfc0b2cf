/* SPDX-License-Identifier: MIT */
/* The clock of the capture: implausible times, steps back, and pauses that may be steps forward. */
#include <string.h>

#include "libcodec/findings/findings_state.h"

/* From 1970 to 2116, so that sums and differences of two times fit in 64 bits. Only damaged captures have other
   times. */
static bool is_plausible(int64_t time_ns) {
    return time_ns >= 0 && time_ns <= INT64_MAX / 2;
}

/* Datagrams of several queues or interfaces are out of order by less. */
static bool is_set_back(const struct ue_stream_course *course, int64_t time_ns) {
    return course->datagrams != 0 &&
           ue_time_ns_since(course->last_ns, time_ns) >= ue_finding_threshold_ns(UE_FINDING_SET_BACK);
}

static void check_time(struct ue_stream_course *course, const struct ue_observed_datagram *datagram) {
    bool is_first = course->implausible == 0;
    if (!is_plausible(datagram->time_ns)) {
        course->implausible++;
    } else if (is_first && is_set_back(course, datagram->time_ns)) {
        course->implausible++;
        course->set_back_ns = ue_time_ns_since(course->last_ns, datagram->time_ns);
    }
    if (is_first && course->implausible != 0) {
        course->implausible_frame = datagram->frame;
    }
}

/* ---- pauses ---- */

static struct ue_capture_pause *latest_pause(struct ue_capture_pauses *pauses) {
    return pauses->count != 0 ? &pauses->latest[(pauses->count - 1) % UE_CAPTURE_PAUSES_MAX] : NULL;
}

static void add_pause(struct ue_capture_pauses *pauses, int64_t begin_ns, int64_t end_ns, bool was_alone) {
    pauses->latest[pauses->count++ % UE_CAPTURE_PAUSES_MAX] =
        (struct ue_capture_pause){begin_ns, end_ns, was_alone, false};
}

/* A side that stays connected sends about this often at least (KeepAliveTime is 0.2 s; embedding.md 8). */
#define MISSING_EVERY_NS INT64_C(250000000)

/* Whether a side that sends as before needs at least half of this time for the packets that are missing after it: a few
   of many may be lost when a clock is set. */
static bool takes_long(const struct ue_findings *findings, const struct ue_silence_side *side, int64_t missing,
                       int64_t length_ns) {
    int64_t sending_ns = ue_time_ns_since(side->last.time_ns, findings->course.first_ns);
    double before_pause = (double)(side->packets - 1) * (double)length_ns;
    return length_ns / MISSING_EVERY_NS <= missing && before_pause <= 2.0 * (double)missing * (double)sending_ns;
}

void ue_capture_clock_on_event(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_capture_pause *pause = latest_pause(&findings->pauses);
    const struct ue_silence_side *side = &findings->silence[event->side];
    if (event->type == UE_OBSERVED_LOST && pause != NULL && side->last.time_ns <= pause->begin_ns) {
        int64_t length_ns = ue_time_ns_since(pause->end_ns, pause->begin_ns);
        pause->has_passed |= takes_long(findings, side, (int64_t)event->lost.missing, length_ns);
    }
}

/* A side that sends slowly makes many pauses, of which a clock that is set explains one. */
static int64_t doubtful_ns(const struct ue_capture_pauses *pauses, int64_t from_ns, int64_t to_ns) {
    int64_t sum_ns = 0, longest_alone_ns = 0;
    for (size_t i = 0; i < pauses->count && i < UE_CAPTURE_PAUSES_MAX; i++) {
        const struct ue_capture_pause *pause = &pauses->latest[i];
        int64_t begin_ns = pause->begin_ns > from_ns ? pause->begin_ns : from_ns;
        int64_t end_ns = pause->end_ns < to_ns ? pause->end_ns : to_ns;
        int64_t span_ns = !pause->has_passed && end_ns > begin_ns ? ue_time_ns_since(end_ns, begin_ns) : 0;
        if (pause->was_alone) {
            longest_alone_ns = span_ns > longest_alone_ns ? span_ns : longest_alone_ns;
        } else {
            sum_ns += span_ns;
        }
    }
    return sum_ns + longest_alone_ns;
}

struct ue_finding_value ue_findings_span(const struct ue_findings *findings, int64_t from_ns, int64_t to_ns) {
    if (findings->course.implausible != 0) {
        return (struct ue_finding_value){0, 0}; /* the clock stands still */
    }
    int64_t span_ns = ue_time_ns_since(to_ns, from_ns);
    return (struct ue_finding_value){span_ns - doubtful_ns(&findings->pauses, from_ns, to_ns), span_ns};
}

/* Whether the latest datagram was a packet: a client repeats messages of a handshake after a second. */
static bool was_packet(const struct ue_silence_side sides[2]) {
    uint64_t packet = sides[0].last.frame > sides[1].last.frame ? sides[0].last.frame : sides[1].last.frame;
    return packet > sides[0].handshake_frame && packet > sides[1].handshake_frame;
}

/* Whether a side was sending packets, so that it does not stop at the same time as the other by chance. */
static bool is_sending(const struct ue_silence_side *side, int64_t now_ns) {
    return side->packets != 0 && side->handshake_frame <= side->last.frame &&
           ue_time_ns_since(now_ns, side->last.time_ns) < ue_finding_threshold_ns(UE_FINDING_PAUSE);
}

void ue_capture_clock_advance(struct ue_findings *findings, const struct ue_observed_datagram *datagram) {
    struct ue_stream_course *course = &findings->course;
    int64_t before_ns = course->last_ns;
    check_time(course, datagram);
    course->now_ns = course->implausible != 0 ? course->last_ns : datagram->time_ns;
    course->first_ns = course->datagrams++ == 0 ? course->now_ns : course->first_ns;
    course->last_ns = course->now_ns > course->last_ns ? course->now_ns : course->last_ns;
    if (was_packet(findings->silence) &&
        ue_time_ns_since(course->now_ns, before_ns) >= ue_finding_threshold_ns(UE_FINDING_PAUSE)) {
        bool are_both = is_sending(&findings->silence[0], before_ns) && is_sending(&findings->silence[1], before_ns);
        add_pause(&findings->pauses, before_ns, course->now_ns, !are_both);
    }
}

void ue_capture_clock_finish(struct ue_stream_course *course, int64_t end_ns) {
    course->goes_on = end_ns == UE_FINDINGS_GO_ON;
    course->end_ns = is_plausible(end_ns) && end_ns > course->last_ns ? end_ns : course->last_ns;
}

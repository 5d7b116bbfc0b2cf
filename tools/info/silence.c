/* SPDX-License-Identifier: MIT */
#include "tools/info/silence.h"

#include <inttypes.h>

#include "tools/print/phrase.h"

/* Packets of one side that prove that it was alive while the other was silent. */
#define PEER_PACKETS_MIN 2

/* ---- silence ---- */

static void report_pause(const struct ue_tracker_event *event, const struct info_silence_side *last,
                         struct info_findings *findings) {
    int64_t gap_ns = event->time_ns - last->last_ns;
    struct info_finding finding = {
        .id = UE_FINDING_PAUSE, .weight = (double)gap_ns, .frame_count = 2, .frames = {last->last_frame, event->frame}};
    info_findings_add(findings, &finding,
                      "no packet from either side for %s, between frames %" PRIu64 " and %" PRIu64
                      ": both stopped, or the capture did",
                      phrase_duration(gap_ns).text, last->last_frame, event->frame);
}

static void report_silence(const struct ue_tracker_event *event, const struct info_silence_side *self, int64_t gap_ns,
                           struct info_findings *findings) {
    struct info_finding finding = {.id = self->missing != 0 ? UE_FINDING_LOST_SILENCE : UE_FINDING_SILENCE,
                                   .weight = (double)gap_ns,
                                   .frame_count = 2,
                                   .frames = {self->last_frame, event->frame}};
    const char *who = phrase_side(event->side);
    char why[128];
    if (self->missing != 0) {
        g_snprintf(why, sizeof why, "%s of it missing here: it sent, they were lost or not captured",
                   phrase_count(self->missing, "packet").text);
    } else {
        g_snprintf(why, sizeof why, "no packet id missing: the %s did not send", who);
    }
    info_findings_add(findings, &finding,
                      "no packet from the %s for %s, between frames %" PRIu64 " and %" PRIu64
                      ", while the %s sent %" PRIu64 "; %s",
                      who, phrase_duration(gap_ns).text, self->last_frame, event->frame, phrase_side(!event->side),
                      self->peer_packets, why);
}

static void on_packet(struct info_silence *silence, const struct ue_tracker_event *event,
                      struct info_findings *findings) {
    struct info_silence_side *self = &silence->sides[event->side];
    struct info_silence_side *other = &silence->sides[!event->side];
    int64_t gap_ns = event->time_ns - self->last_ns;
    int64_t alone_ns = other->last_ns - self->last_ns; /* time that the other side went on sending */
    bool is_pause = event->time_ns - other->last_ns >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
                    alone_ns < ue_finding_threshold_ns(UE_FINDING_SILENCE);
    if (self->packets != 0 && gap_ns >= ue_finding_threshold_ns(UE_FINDING_SILENCE)) {
        if (is_pause) {
            report_pause(event, alone_ns > 0 ? other : self, findings);
        } else if (self->peer_packets >= PEER_PACKETS_MIN) {
            report_silence(event, self, gap_ns, findings);
        }
    }
    self->packets++;
    self->last_ns = event->time_ns;
    self->last_frame = event->frame;
    self->missing = 0;
    self->peer_packets = 0;
    other->peer_packets++;
    other->peer_packets_since_report++;
}

/* ---- gaps between acks ---- */

static void report_gap(struct info_silence_side *self, unsigned side, struct info_findings *findings) {
    struct info_finding finding = {.id = UE_FINDING_ACK_GAP,
                                   .weight = (double)self->gap_ns,
                                   .frame_count = 2,
                                   .frames = {self->gap_from_frame, self->gap_frame}};
    self->gap_frame = 0;
    info_findings_add(findings, &finding,
                      "the %s acknowledged nothing for %s, between frames %" PRIu64 " and %" PRIu64
                      ", although it kept sending; then it reported %s of the %s as not delivered",
                      phrase_side(!side), phrase_duration(self->gap_ns).text, finding.frames[0], finding.frames[1],
                      phrase_count(self->gap_nacked, "packet").text, phrase_side(side));
}

static void end_gap(struct info_silence *silence, uint64_t frame, struct info_findings *findings) {
    for (unsigned side = 0; side < 2; side++) {
        struct info_silence_side *self = &silence->sides[side];
        if (self->gap_frame != 0 && self->gap_frame != frame) {
            report_gap(self, side, findings);
        }
    }
}

static void begin_wait(struct info_silence_side *self, const struct ue_tracker_event *event) {
    self->report_ns = event->time_ns;
    self->report_frame = event->frame;
    self->peer_packets_since_report = 0;
}

static void on_report(struct info_silence *silence, const struct ue_tracker_event *event) {
    struct info_silence_side *self = &silence->sides[!event->side];
    int64_t gap_ns = event->time_ns - self->report_ns;
    /* the packet with the ack is itself counted in unanswering */
    if (self->is_waiting && gap_ns >= ue_finding_threshold_ns(UE_FINDING_SILENCE) &&
        self->peer_packets_since_report > PEER_PACKETS_MIN) {
        self->gap_ns = gap_ns;
        self->gap_from_frame = self->report_frame;
        self->gap_frame = event->frame;
        self->gap_nacked = 0;
    }
    self->gap_nacked += event->type == UE_TRACKER_NAK;
    self->is_waiting = event->packet_id < self->newest_id;
    begin_wait(self, event);
}

/* Starts waiting for an ack when a packet is sent. */
static void start_waiting(struct info_silence *silence, const struct ue_tracker_event *event) {
    struct info_silence_side *self = &silence->sides[event->side];
    self->newest_id = MAX(self->newest_id, event->packet_id);
    if (!self->is_waiting) {
        self->is_waiting = true;
        begin_wait(self, event);
    }
}

void info_silence_on_event(struct info_silence *silence, const struct ue_tracker_event *event,
                           struct info_findings *findings) {
    end_gap(silence, event->frame, findings);
    switch (event->type) {
    case UE_TRACKER_LOST:
        silence->sides[event->side].missing += (uint64_t)(event->last_id - event->packet_id + 1);
        break;
    case UE_TRACKER_PACKET:
        on_packet(silence, event, findings);
        start_waiting(silence, event);
        break;
    case UE_TRACKER_ACK:
    case UE_TRACKER_NAK:
        if (!event->is_withdrawn) {
            on_report(silence, event);
        }
        break;
    default: break;
    }
}

/* ---- the end ---- */

int64_t info_silence_at_end_ns(const struct info_silence *silence, unsigned side) {
    const struct info_silence_side *self = &silence->sides[side];
    const struct info_silence_side *other = &silence->sides[!side];
    return self->packets != 0 && other->last_ns > self->last_ns ? other->last_ns - self->last_ns : 0;
}

void info_silence_finish(struct info_silence *silence, bool is_closed, struct info_findings *findings) {
    end_gap(silence, 0, findings);
    for (unsigned side = 0; !is_closed && side < 2; side++) {
        const struct info_silence_side *self = &silence->sides[side];
        int64_t gap_ns = info_silence_at_end_ns(silence, side);
        if (gap_ns < ue_finding_threshold_ns(UE_FINDING_SILENCE) ||
            gap_ns >= ue_finding_threshold_ns(UE_FINDING_TIMEOUT) || self->peer_packets < PEER_PACKETS_MIN) {
            continue; /* a side that went silent is reported as a timeout */
        }
        struct info_finding finding = {
            .id = UE_FINDING_LAST_SILENCE, .weight = (double)gap_ns, .frame_count = 1, .frames = {self->last_frame}};
        info_findings_add(findings, &finding,
                          "no packet from the %s in the last %s, after frame %" PRIu64 ", while the %s sent %" PRIu64,
                          phrase_side(side), phrase_duration(gap_ns).text, self->last_frame, phrase_side(!side),
                          self->peer_packets);
    }
}

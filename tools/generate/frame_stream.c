/* SPDX-License-Identifier: MIT */
#include "tools/generate/frame_stream.h"

#define FRAMES_TAKEN_MAX 4096 /* that stand in front of waiting ones before their room is used again */

static bool leaves_here(const struct ue_feed *feed, enum ue_role from) {
    return feed->point == UE_CAPTURE_SENDER || (feed->point == UE_CAPTURE_CLIENT) == (from == UE_ROLE_CLIENT);
}

static void capture(struct ue_feed *feed, const struct ue_sim_datagram *datagram) {
    const struct ue_link_report *report = datagram->report;
    struct ue_feed_frame frame = {.time_ns = report->now_ns + feed->offset_ns,
                                  .from = datagram->from,
                                  .number = report->number,
                                  .copy = report->copy,
                                  .is_corrupted = report->corrupted,
                                  .begin = feed->bytes->len,
                                  .size_bytes = report->size_bytes};
    g_byte_array_append(feed->bytes, report->bytes, (guint)report->size_bytes);
    g_array_append_val(feed->frames, frame);
}

/* A server has none before it accepts: it then writes as the client does, the other way. */
static void learn_context(struct ue_feed *feed, const struct ue_sim_datagram *datagram) {
    struct ue_context *other = &feed->contexts[!datagram->from];
    feed->contexts[datagram->from] = *datagram->context;
    if (other->direction == UE_DIRECTION_UNKNOWN) {
        *other = *datagram->context;
        other->direction = ue_direction_reverse(datagram->context->direction);
    }
}

static void see(void *user, const struct ue_sim_datagram *datagram) {
    struct ue_feed *feed = user;
    const struct ue_link_report *report = datagram->report;
    struct ue_journey *journey = ue_journeys_note(&feed->journeys[datagram->from], datagram);
    if (datagram->context != NULL && report->fate == UE_FATE_SENT) {
        learn_context(feed, datagram);
    }
    if (feed->truth != NULL && report->fate == UE_FATE_SENT) {
        ue_truth_sent(feed->truth, datagram);
    }
    if (report->fate == (leaves_here(feed, datagram->from) ? UE_FATE_SENT : UE_FATE_ARRIVED)) {
        capture(feed, datagram);
        journey->frames++;
    }
}

static void say(void *user, const struct ue_sim_saying *saying) {
    ue_truth_said(((struct ue_feed *)user)->truth, saying);
}

static void deliver(void *user, const struct ue_sim_delivery *delivery) {
    ue_truth_delivered(((struct ue_feed *)user)->truth, delivery);
}

static void judge(void *user, enum ue_role side, int64_t packet_id, bool delivered) {
    ue_truth_verdict(((struct ue_feed *)user)->truth, side, packet_id, delivered);
}

static void end(void *user, enum ue_role side, enum ue_close_reason reason) {
    ue_truth_closed(((struct ue_feed *)user)->truth, side, reason);
}

bool ue_feed_init(struct ue_feed *feed, const struct ue_scenario *scenario, enum ue_capture_point point,
                  uint64_t offset_ns, bool with_truth) {
    *feed = (struct ue_feed){.scenario = *scenario, .point = point, .offset_ns = offset_ns};
    struct ue_sim_watch watch = {.datagram = see, .user = feed};
    feed->scenario.unchecked = !with_truth;
    if (with_truth) {
        feed->truth = ue_truth_new();
        watch = (struct ue_sim_watch){say, deliver, see, judge, end, feed};
    }
    feed->frames = g_array_new(FALSE, FALSE, sizeof(struct ue_feed_frame));
    feed->bytes = g_byte_array_new();
    feed->sim = ue_sim_new(&feed->scenario, &watch);
    return feed->sim != NULL;
}

void ue_feed_clear(struct ue_feed *feed) {
    ue_sim_free(feed->sim);
    ue_truth_free(feed->truth);
    ue_journeys_clear(&feed->journeys[0]);
    ue_journeys_clear(&feed->journeys[1]);
    if (feed->frames != NULL) {
        g_array_unref(feed->frames);
        g_byte_array_unref(feed->bytes);
    }
    *feed = (struct ue_feed){0};
}

/* What is captured where it leaves waits until its fate is known, for the remark. */
static bool is_ready(const struct ue_feed *feed, const struct ue_feed_frame *frame) {
    return feed->is_over || !leaves_here(feed, frame->from) || ue_feed_journey(feed, frame)->flying == 0;
}

const struct ue_feed_frame *ue_feed_peek(struct ue_feed *feed) {
    while (true) {
        if (feed->head < feed->frames->len) {
            const struct ue_feed_frame *frame = &g_array_index(feed->frames, struct ue_feed_frame, feed->head);
            if (is_ready(feed, frame)) {
                return frame;
            }
        } else if (feed->is_over) {
            return NULL;
        }
        feed->is_over = !ue_sim_step(feed->sim);
    }
}

void ue_feed_remark(const struct ue_feed *feed, const struct ue_feed_frame *frame, char text[UE_REMARK_BYTES]) {
    ue_journey_remark(ue_feed_journey(feed, frame), leaves_here(feed, frame->from), frame->copy, frame->is_corrupted,
                      frame->time_ns - feed->offset_ns, text);
}

/* Frames are taken from the front; their room is used again once it is worth moving the others. */
static void reuse_room(struct ue_feed *feed) {
    bool is_empty = feed->head == feed->frames->len;
    if (!is_empty && feed->head < FRAMES_TAKEN_MAX) {
        return;
    }
    size_t begin = is_empty ? feed->bytes->len : g_array_index(feed->frames, struct ue_feed_frame, feed->head).begin;
    g_array_remove_range(feed->frames, 0, feed->head);
    g_byte_array_remove_range(feed->bytes, 0, (guint)begin);
    for (guint i = 0; i < feed->frames->len; i++) {
        g_array_index(feed->frames, struct ue_feed_frame, i).begin -= begin;
    }
    feed->head = 0;
}

void ue_feed_take(struct ue_feed *feed, uint64_t frame_number) {
    const struct ue_feed_frame *frame = &g_array_index(feed->frames, struct ue_feed_frame, feed->head);
    struct ue_journey *journey = ue_feed_journey(feed, frame);
    journey->frames--;
    journey->frame = journey->frame == 0 ? frame_number : journey->frame;
    if (feed->truth != NULL) {
        struct ue_truth_sight sight = {.from = frame->from,
                                       .number = frame->number,
                                       .time_ns = frame->time_ns,
                                       .size_bytes = frame->size_bytes,
                                       .is_corrupted = frame->is_corrupted};
        ue_truth_captured(feed->truth, &sight);
    }
    feed->head++;
    reuse_room(feed);
    if (feed->truth == NULL) {
        ue_journeys_forget(&feed->journeys[0]);
        ue_journeys_forget(&feed->journeys[1]);
    }
}

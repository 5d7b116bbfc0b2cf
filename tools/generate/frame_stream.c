/* SPDX-License-Identifier: MIT */
#include "tools/generate/frame_stream.h"

#define FRAMES_TAKEN_MAX 4096 /* that stand in front of waiting ones before their room is used again */

static bool leaves_here(const struct frame_stream *feed, enum ue_role from) {
    return feed->point == GENERATE_CAPTURE_SENDER || (feed->point == GENERATE_CAPTURE_CLIENT) == (from == UE_ROLE_CLIENT);
}

static void capture(struct frame_stream *feed, const struct sim_datagram *datagram) {
    const struct sim_link_report *report = datagram->report;
    struct frame_stream_frame frame = {.time_ns = report->now_ns + feed->offset_ns,
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
static void learn_context(struct frame_stream *feed, const struct sim_datagram *datagram) {
    struct ue_context *other = &feed->contexts[!datagram->from];
    feed->contexts[datagram->from] = *datagram->context;
    if (other->direction == UE_DIRECTION_UNKNOWN) {
        *other = *datagram->context;
        other->direction = ue_direction_reverse(datagram->context->direction);
    }
}

static void see(void *user, const struct sim_datagram *datagram) {
    struct frame_stream *feed = user;
    const struct sim_link_report *report = datagram->report;
    struct datagram_outcome *journey = datagram_outcome_ring_update(&feed->journeys[datagram->from], datagram);
    if (datagram->context != NULL && report->fate == SIM_DATAGRAM_SENT) {
        learn_context(feed, datagram);
    }
    if (feed->truth != NULL && report->fate == SIM_DATAGRAM_SENT) {
        run_log_add_datagram(feed->truth, datagram);
    }
    if (report->fate == (leaves_here(feed, datagram->from) ? SIM_DATAGRAM_SENT : SIM_DATAGRAM_ARRIVED)) {
        capture(feed, datagram);
        journey->frames++;
    }
}

static void say(void *user, const struct sim_message *saying) {
    run_log_add_message(((struct frame_stream *)user)->truth, saying);
}

static void deliver(void *user, const struct sim_delivery *delivery) {
    run_log_add_delivery(((struct frame_stream *)user)->truth, delivery);
}

static void judge(void *user, enum ue_role side, int64_t packet_id, bool delivered) {
    run_log_add_ack(((struct frame_stream *)user)->truth, side, packet_id, delivered);
}

static void end(void *user, enum ue_role side, enum ue_close_reason reason) {
    run_log_add_close(((struct frame_stream *)user)->truth, side, reason);
}

bool frame_stream_init(struct frame_stream *feed, const struct sim_scenario *scenario, enum generate_capture_point point,
                  uint64_t offset_ns, bool with_truth) {
    *feed = (struct frame_stream){.scenario = *scenario, .point = point, .offset_ns = offset_ns};
    struct sim_callbacks watch = {.datagram = see, .user = feed};
    feed->scenario.unchecked = !with_truth;
    if (with_truth) {
        feed->truth = run_log_new();
        watch = (struct sim_callbacks){say, deliver, see, judge, end, feed};
    }
    feed->frames = g_array_new(FALSE, FALSE, sizeof(struct frame_stream_frame));
    feed->bytes = g_byte_array_new();
    feed->sim = sim_new(&feed->scenario, &watch);
    return feed->sim != NULL;
}

void frame_stream_clear(struct frame_stream *feed) {
    sim_free(feed->sim);
    run_log_free(feed->truth);
    datagram_outcome_ring_clear(&feed->journeys[0]);
    datagram_outcome_ring_clear(&feed->journeys[1]);
    if (feed->frames != NULL) {
        g_array_unref(feed->frames);
        g_byte_array_unref(feed->bytes);
    }
    *feed = (struct frame_stream){0};
}

/* What is captured where it leaves waits until its fate is known, for the remark. */
static bool is_ready(const struct frame_stream *feed, const struct frame_stream_frame *frame) {
    return feed->is_over || !leaves_here(feed, frame->from) || frame_stream_outcome(feed, frame)->flying == 0;
}

const struct frame_stream_frame *frame_stream_peek(struct frame_stream *feed) {
    while (true) {
        if (feed->head < feed->frames->len) {
            const struct frame_stream_frame *frame = &g_array_index(feed->frames, struct frame_stream_frame, feed->head);
            if (is_ready(feed, frame)) {
                return frame;
            }
        } else if (feed->is_over) {
            return NULL;
        }
        feed->is_over = !sim_step(feed->sim);
    }
}

void frame_stream_comment(const struct frame_stream *feed, const struct frame_stream_frame *frame, char text[DATAGRAM_OUTCOME_COMMENT_BYTES]) {
    datagram_outcome_comment(frame_stream_outcome(feed, frame), leaves_here(feed, frame->from), frame->copy, frame->is_corrupted,
                      frame->time_ns - feed->offset_ns, text);
}

/* Frames are taken from the front; their room is used again once it is worth moving the others. */
static void reuse_room(struct frame_stream *feed) {
    bool is_empty = feed->head == feed->frames->len;
    if (!is_empty && feed->head < FRAMES_TAKEN_MAX) {
        return;
    }
    size_t begin = is_empty ? feed->bytes->len : g_array_index(feed->frames, struct frame_stream_frame, feed->head).begin;
    g_array_remove_range(feed->frames, 0, feed->head);
    g_byte_array_remove_range(feed->bytes, 0, (guint)begin);
    for (guint i = 0; i < feed->frames->len; i++) {
        g_array_index(feed->frames, struct frame_stream_frame, i).begin -= begin;
    }
    feed->head = 0;
}

void frame_stream_pop(struct frame_stream *feed, uint64_t frame_number) {
    const struct frame_stream_frame *frame = &g_array_index(feed->frames, struct frame_stream_frame, feed->head);
    struct datagram_outcome *journey = frame_stream_outcome(feed, frame);
    journey->frames--;
    journey->frame = journey->frame == 0 ? frame_number : journey->frame;
    if (feed->truth != NULL) {
        struct run_log_frame sight = {.from = frame->from,
                                       .number = frame->number,
                                       .time_ns = frame->time_ns,
                                       .size_bytes = frame->size_bytes,
                                       .is_corrupted = frame->is_corrupted};
        run_log_add_frame(feed->truth, &sight);
    }
    feed->head++;
    reuse_room(feed);
    if (feed->truth == NULL) {
        datagram_outcome_ring_drop(&feed->journeys[0]);
        datagram_outcome_ring_drop(&feed->journeys[1]);
    }
}

/* SPDX-License-Identifier: MIT */
/* One simulated connection as a stream of captured frames, in the order of their times. */
#ifndef UERUDP_TOOLS_GENERATE_FRAME_STREAM_H
#define UERUDP_TOOLS_GENERATE_FRAME_STREAM_H

#include <glib.h>

#include "tools/generate/datagram_outcome.h"
#include "tools/generate/run_log.h"

/* Where a capture is taken: at one end, or of each datagram where it leaves. */
enum generate_capture_point { GENERATE_CAPTURE_CLIENT, GENERATE_CAPTURE_SERVER, GENERATE_CAPTURE_SENDER };

struct frame_stream_frame {
    uint64_t time_ns; /* virtual */
    enum ue_role from;
    uint64_t number; /* of the datagram in its link */
    uint32_t copy;
    bool is_corrupted;
    size_t begin; /* in the bytes of what waits */
    size_t size_bytes;
};

struct frame_stream {
    struct sim_scenario scenario;
    enum generate_capture_point point;
    uint64_t offset_ns; /* of its times */
    struct simulation *sim;
    bool is_over;
    struct datagram_outcome_ring journeys[2]; /* by sender */
    struct run_log *truth;         /* NULL: not wanted */
    struct ue_context contexts[2];  /* in which each side wrote last */
    GArray *frames;                 /* struct frame_stream_frame, of which head are taken */
    GByteArray *bytes;
    guint head;
};

/* Begins; stays where it is until it is cleared. False: no memory. with_truth: everything that happens is kept. */
bool frame_stream_init(struct frame_stream *feed, const struct sim_scenario *scenario, enum generate_capture_point point,
                  uint64_t offset_ns, bool with_truth);
void frame_stream_clear(struct frame_stream *feed);

/* The next frame, which stays the next one until it is taken; NULL: that was all. */
const struct frame_stream_frame *frame_stream_peek(struct frame_stream *feed);
static inline const uint8_t *frame_stream_bytes(const struct frame_stream *feed, const struct frame_stream_frame *frame) {
    return feed->bytes->data + frame->begin;
}
static inline struct datagram_outcome *frame_stream_outcome(const struct frame_stream *feed, const struct frame_stream_frame *frame) {
    return datagram_outcome_ring_at(&feed->journeys[frame->from], frame->number);
}
/* The remark about a frame; an empty text where there is nothing to say. */
void frame_stream_comment(const struct frame_stream *feed, const struct frame_stream_frame *frame, char text[DATAGRAM_OUTCOME_COMMENT_BYTES]);
/* Takes it: it was written under this number. */
void frame_stream_pop(struct frame_stream *feed, uint64_t frame_number);

#endif

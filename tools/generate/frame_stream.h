/* SPDX-License-Identifier: MIT */
/* One simulated connection as a stream of captured frames, in the order of their times. */
#ifndef UERUDP_TOOLS_GENERATE_FRAME_STREAM_H
#define UERUDP_TOOLS_GENERATE_FRAME_STREAM_H

#include <glib.h>

#include "tools/generate/datagram_outcome.h"
#include "tools/generate/run_log.h"

/* Where a capture is taken: at one end, or of each datagram where it leaves. */
enum ue_capture_point { UE_CAPTURE_CLIENT, UE_CAPTURE_SERVER, UE_CAPTURE_SENDER };

struct ue_feed_frame {
    uint64_t time_ns; /* virtual */
    enum ue_role from;
    uint64_t number; /* of the datagram in its link */
    uint32_t copy;
    bool is_corrupted;
    size_t begin; /* in the bytes of what waits */
    size_t size_bytes;
};

struct ue_feed {
    struct ue_scenario scenario;
    enum ue_capture_point point;
    uint64_t offset_ns; /* of its times */
    struct ue_sim *sim;
    bool is_over;
    struct ue_journeys journeys[2]; /* by sender */
    struct ue_truth *truth;         /* NULL: not wanted */
    struct ue_context contexts[2];  /* in which each side wrote last */
    GArray *frames;                 /* struct ue_feed_frame, of which head are taken */
    GByteArray *bytes;
    guint head;
};

/* Begins; stays where it is until it is cleared. False: no memory. with_truth: everything that happens is kept. */
bool ue_feed_init(struct ue_feed *feed, const struct ue_scenario *scenario, enum ue_capture_point point,
                  uint64_t offset_ns, bool with_truth);
void ue_feed_clear(struct ue_feed *feed);

/* The next frame, which stays the next one until it is taken; NULL: that was all. */
const struct ue_feed_frame *ue_feed_peek(struct ue_feed *feed);
static inline const uint8_t *ue_feed_bytes(const struct ue_feed *feed, const struct ue_feed_frame *frame) {
    return feed->bytes->data + frame->begin;
}
static inline struct ue_journey *ue_feed_journey(const struct ue_feed *feed, const struct ue_feed_frame *frame) {
    return ue_journeys_at(&feed->journeys[frame->from], frame->number);
}
/* The remark about a frame; an empty text where there is nothing to say. */
void ue_feed_remark(const struct ue_feed *feed, const struct ue_feed_frame *frame, char text[UE_REMARK_BYTES]);
/* Takes it: it was written under this number. */
void ue_feed_take(struct ue_feed *feed, uint64_t frame_number);

#endif

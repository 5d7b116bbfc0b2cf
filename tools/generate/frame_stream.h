/* SPDX-License-Identifier: MIT */
/* One simulated connection as a stream of captured frames, in the order of time. */
#ifndef UERUDP_TOOLS_GENERATE_FRAME_STREAM_H
#define UERUDP_TOOLS_GENERATE_FRAME_STREAM_H

#include <glib.h>

#include "tools/generate/game_sidecar.h"
#include "tools/generate/packet_comment.h"
#include "tools/generate/run_log.h"

/* Where the capture is taken: on one side, or for each datagram where it leaves. */
enum generate_capture_point { GENERATE_CAPTURE_CLIENT, GENERATE_CAPTURE_SERVER, GENERATE_CAPTURE_SENDER };

struct frame_stream_frame {
    uint64_t time_ns; /* virtual */
    enum ue_role from;
    uint64_t number; /* of the datagram in its link */
    uint32_t copy;
    bool is_corrupted;
    size_t begin; /* in the stream's bytes */
    size_t size_bytes;
};

struct frame_stream {
    struct sim_scenario scenario;
    enum generate_capture_point point;
    uint64_t offset_ns;                       /* added to its times */
    struct simulation *sim;                   /* of the run */
    bool is_over;                             /* the run */
    struct frame_stream *first;               /* the stream that started the run; NULL: this one */
    struct frame_stream *second;              /* of the same run at another capture point; NULL: none */
    struct datagram_outcome_ring outcomes[2]; /* [sender] */
    struct run_log *run_log;                  /* NULL: not wanted */
    struct game_sidecar *game_sidecar;        /* NULL: the scenario has no game, or it is not wanted */
    struct ue_context contexts[2];            /* in which each side encoded last */
    GArray *frames;                           /* struct frame_stream_frame; the first head ones were popped */
    GByteArray *bytes;
    guint head;
};

/* Starts a run; the stream must not move until it is cleared. False: no memory. */
bool frame_stream_init(struct frame_stream *source, const struct sim_scenario *scenario,
                       enum generate_capture_point point, uint64_t offset_ns, bool with_run_log);
/* Captures the run of another stream at another point, too. Call it before the first frame; `first` must be cleared
   after this one. */
void frame_stream_init_second(struct frame_stream *source, struct frame_stream *first,
                              enum generate_capture_point point);
void frame_stream_clear(struct frame_stream *source);

/* The next frame, until it is popped. NULL: there are no more. */
const struct frame_stream_frame *frame_stream_peek(struct frame_stream *source);
static inline const uint8_t *frame_stream_bytes(const struct frame_stream *source,
                                                const struct frame_stream_frame *frame) {
    return source->bytes->data + frame->begin;
}
static inline struct datagram_outcome *frame_stream_outcome(const struct frame_stream *source,
                                                            const struct frame_stream_frame *frame) {
    return datagram_outcome_ring_at(&source->outcomes[frame->from], frame->number);
}
/* The comment on a frame; empty: nothing happened to it. */
void frame_stream_comment(const struct frame_stream *source, const struct frame_stream_frame *frame,
                          char text[PACKET_COMMENT_BYTES]);
/* Removes the frame, which was written with this number. */
void frame_stream_pop(struct frame_stream *source, uint64_t frame_number);

#endif

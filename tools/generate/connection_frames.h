/* SPDX-License-Identifier: MIT */
/* One simulated connection as a stream of captured frames, in the order of time. */
#ifndef UERUDP_TOOLS_GENERATE_CONNECTION_FRAMES_H
#define UERUDP_TOOLS_GENERATE_CONNECTION_FRAMES_H

#include <glib.h>

#include "tools/generate/game_sidecar.h"
#include "tools/generate/packet_comment.h"
#include "tools/generate/run_log.h"

/* Where the capture is taken: on one side, or for each datagram where it leaves. */
enum generate_capture_point { GENERATE_CAPTURE_CLIENT, GENERATE_CAPTURE_SERVER, GENERATE_CAPTURE_SENDER };

struct connection_frame {
    uint64_t time_ns; /* virtual */
    enum ue_role from;
    uint64_t number; /* of the datagram in its link */
    uint32_t copy;
    bool is_corrupted;
    size_t begin; /* in the stream's bytes */
    size_t size_bytes;
};

struct connection_frames {
    struct sim_scenario scenario;
    enum generate_capture_point point;
    uint64_t offset_ns;                       /* added to its times */
    struct simulation *sim;                   /* of the run */
    bool is_over;                             /* the run */
    struct connection_frames *first;          /* the stream that started the run; NULL: this one */
    struct connection_frames *second;         /* of the same run at another capture point; NULL: none */
    struct datagram_outcome_ring outcomes[2]; /* [sender] */
    struct run_log *run_log;                  /* NULL: not wanted */
    struct game_sidecar *game_sidecar;        /* NULL: the scenario has no game, or it is not wanted */
    struct ue_context contexts[2];            /* in which each side encoded last */
    GArray *frames;                           /* struct connection_frame; the first head ones were popped */
    GByteArray *bytes;
    guint head;
};

/* Starts a run; the stream must not move until it is cleared. False: no memory. */
bool connection_frames_init(struct connection_frames *source, const struct sim_scenario *scenario,
                            enum generate_capture_point point, uint64_t offset_ns, bool with_run_log);
/* Captures the run of another stream at another point, too. Call it before the first frame; `first` must be cleared
   after this one. */
void connection_frames_init_second(struct connection_frames *source, struct connection_frames *first,
                                   enum generate_capture_point point);
void connection_frames_clear(struct connection_frames *source);

/* The next frame, until it is popped. NULL: there are no more. */
const struct connection_frame *connection_frames_peek(struct connection_frames *source);
static inline const uint8_t *connection_frames_bytes(const struct connection_frames *source,
                                                     const struct connection_frame *frame) {
    return source->bytes->data + frame->begin;
}
static inline struct datagram_outcome *connection_frames_outcome(const struct connection_frames *source,
                                                                 const struct connection_frame *frame) {
    return datagram_outcome_ring_at(&source->outcomes[frame->from], frame->number);
}
/* The comment on a frame; empty: nothing happened to it. */
void connection_frames_comment(const struct connection_frames *source, const struct connection_frame *frame,
                               char text[PACKET_COMMENT_BYTES]);
/* Removes the frame, which was written with this number. */
void connection_frames_pop(struct connection_frames *source, uint64_t frame_number);

#endif

/* SPDX-License-Identifier: MIT */
/* What the passive tracker tells of a datagram, as lines of text: one for the datagram, and further ones, indented, for
   what it acknowledges and what its bunches do. */
#ifndef UERUDP_TOOLS_REPLAY_OBSERVATION_TEXT_H
#define UERUDP_TOOLS_REPLAY_OBSERVATION_TEXT_H

#include <uerudp/packet_tracker.h>
#include "tools/print/text_buffer.h"

/* Zeroed but for what the caller sets. */
struct ue_transcript {
    struct ue_out out;  /* the caller flushes it */
    bool is_wanted;     /* the datagram that is being told is to be printed */
    bool names_streams; /* there may be several connections */
    uint32_t stream;    /* of the datagram */
    size_t size_bytes;  /* ... and its length */
    const struct ue_context *context;

    bool has_begun;
    int64_t first_ns; /* times count from the first datagram */
    bool in_run;      /* verdicts that wait to be told together, in this and the next members */
    const char *run_verb;
    int64_t run_first, run_last;
    uint64_t run_first_frame, run_last_frame;
    int64_t run_span_ns;
};

/* The event function of a struct ue_track_sink whose user is a transcript. */
void ue_transcript_tell(void *user, const struct ue_track_event *event);

/* The datagram is over. */
void ue_transcript_end(struct ue_transcript *transcript);

/* A datagram of which the tracker tells nothing: what it is instead. */
void ue_transcript_other(struct ue_transcript *transcript, uint64_t frame, int64_t time_ns, unsigned role,
                         const char *what);

void ue_transcript_free(struct ue_transcript *transcript);

#endif

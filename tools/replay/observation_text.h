/* SPDX-License-Identifier: MIT */
/* Prints what the passive tracker reports of a datagram: one line for the datagram, and indented lines for its
   acknowledgements and bunches. */
#ifndef UERUDP_TOOLS_REPLAY_OBSERVATION_TEXT_H
#define UERUDP_TOOLS_REPLAY_OBSERVATION_TEXT_H

#include <uerudp/packet_tracker.h>
#include "tools/print/text_buffer.h"

/* Zeroed, except for what the caller sets. */
struct observation_text {
    struct text_buffer out; /* the caller flushes it */
    bool is_wanted;         /* whether the current datagram is printed */
    bool names_streams;     /* there may be several connections */
    uint32_t stream;        /* of the datagram */
    size_t size_bytes;      /* ... and its length */
    const struct ue_context *context;

    bool has_begun;
    int64_t first_ns;   /* times count from the first datagram */
    uint64_t frame;     /* of the datagram that was printed last */
    bool in_run;        /* acks that will be printed together, in this and the next members */
    uint64_t run_frame; /* that has these acks: an earlier one, if this datagram confirms them */
    const char *run_verb;
    int64_t run_first, run_last;
    uint64_t run_first_frame, run_last_frame;
    int64_t run_span_ns;
};

/* The event function of a struct ue_observer_callbacks whose user is a struct observation_text. */
void observation_text_event(void *user, const struct ue_observed_event *event);

/* The current datagram is complete. */
void observation_text_end_datagram(struct observation_text *text);

/* Prints a datagram of which the tracker reports nothing; what: a description. */
void observation_text_other(struct observation_text *text, uint64_t frame, int64_t time_ns, unsigned role,
                            const char *what);

void observation_text_free(struct observation_text *text);

#endif

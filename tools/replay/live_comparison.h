/* SPDX-License-Identifier: MIT */
/* What a live server says, against what the captured one said: channels in the order in which it opens them, reliable
   messages on each, and how it ended. */
#ifndef UERUDP_TOOLS_REPLAY_LIVE_COMPARISON_H
#define UERUDP_TOOLS_REPLAY_LIVE_COMPARISON_H

#include <uerudp/login.h>
#include "tools/replay/session_transcript.h"

/* The present counterpart of a captured life. */
struct live_comparison_channel {
    bool is_open;
    uint32_t channel;
    uint64_t heard[2]; /* whole messages of the server, by reliable */
};

struct live_comparison {
    const struct session_transcript *tale;
    struct live_comparison_channel *lives; /* by captured life */
    GArray *by_server;          /* captured lives that the server opened, in order */
    guint opened;               /* by the live server */
    uint64_t heard;             /* messages on all channels */
    bool is_closed;             /* by it */
    char reason[SESSION_TRANSCRIPT_REASON_BYTES];
    uint64_t differences;
};

/* The tale must outlive it. */
void live_comparison_init(struct live_comparison *comparison, const struct session_transcript *tale);
void live_comparison_clear(struct live_comparison *comparison);

struct live_comparison_channel *live_comparison_find_channel(const struct live_comparison *comparison, uint32_t life);

/* An event of the live connection. */
void live_comparison_event(struct live_comparison *comparison, const struct ue_event *event);

/* Whether the server has said all that it said in the capture, or more. */
bool live_comparison_is_complete(const struct live_comparison *comparison);

/* The live connection ended before the client left. */
void live_comparison_closed(struct live_comparison *comparison, const struct ue_login *login, enum ue_close_reason reason);

/* Counts the differences; then report prints each. */
void live_comparison_end(struct live_comparison *comparison);
void live_comparison_report(const struct live_comparison *comparison, bool as_json);

#endif

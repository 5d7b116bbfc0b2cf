/* SPDX-License-Identifier: MIT */
/* What a live server says, against what the captured one said: channels in the order in which it opens them, reliable
   messages on each, and how it ended. */
#ifndef UERUDP_TOOLS_REPLAY_LIVE_COMPARISON_H
#define UERUDP_TOOLS_REPLAY_LIVE_COMPARISON_H

#include <uerudp/login.h>
#include "tools/replay/session_transcript.h"

/* The present counterpart of a captured life. */
struct ue_live_life {
    bool is_open;
    uint32_t channel;
    uint64_t heard[2]; /* whole messages of the server, by reliable */
};

struct ue_comparison {
    const struct ue_tale *tale;
    struct ue_live_life *lives; /* by captured life */
    GArray *by_server;          /* captured lives that the server opened, in order */
    guint opened;               /* by the live server */
    uint64_t heard;             /* messages on all channels */
    bool is_closed;             /* by it */
    char reason[UE_TALE_REASON_BYTES];
    uint64_t differences;
};

/* The tale must outlive it. */
void ue_comparison_init(struct ue_comparison *comparison, const struct ue_tale *tale);
void ue_comparison_clear(struct ue_comparison *comparison);

struct ue_live_life *ue_comparison_life(const struct ue_comparison *comparison, uint32_t life);

/* An event of the live connection. */
void ue_comparison_take(struct ue_comparison *comparison, const struct ue_event *event);

/* Whether the server has said all that it said in the capture, or more. */
bool ue_comparison_is_complete(const struct ue_comparison *comparison);

/* The live connection ended before the client left. */
void ue_comparison_closed(struct ue_comparison *comparison, const struct ue_login *login, enum ue_close_reason reason);

/* Counts the differences; then report prints each. */
void ue_comparison_end(struct ue_comparison *comparison);
void ue_comparison_report(const struct ue_comparison *comparison, bool as_json);

#endif

/* SPDX-License-Identifier: MIT */
/* Compares a live server with the captured one: the channels in the order in which it opens them, the reliable messages
   on each, and the close. */
#ifndef UERUDP_TOOLS_REPLAY_LIVE_COMPARISON_H
#define UERUDP_TOOLS_REPLAY_LIVE_COMPARISON_H

#include <uerudp/endpoint.h>
#include "tools/replay/recorded_session.h"

/* The live counterpart of a captured channel. */
struct live_comparison_channel {
    bool is_open;
    uint32_t channel;
    uint64_t received[2]; /* whole messages of the server [reliable] */
};

struct live_comparison {
    const struct recorded_session *session;
    struct live_comparison_channel *channels;   /* by captured channel */
    GArray *by_server;                          /* captured channels that the server opened, in order */
    guint opened;                               /* by the live server */
    uint64_t received;                          /* messages on all channels */
    bool is_closed;                             /* by the live server */
    char reason[RECORDED_SESSION_REASON_BYTES]; /* of the side that closed the live connection */
    uint64_t differences;
};

/* The recorded session must outlive it. */
void live_comparison_init(struct live_comparison *comparison, const struct recorded_session *session);
void live_comparison_clear(struct live_comparison *comparison);

struct live_comparison_channel *live_comparison_find_channel(const struct live_comparison *comparison, uint32_t slot);

/* An event of the live connection. */
void live_comparison_event(struct live_comparison *comparison, const struct ue_event *event);

/* Whether the server has sent everything that it sent in the capture. */
bool live_comparison_is_complete(const struct live_comparison *comparison);

/* The live connection ended before the client closed it. */
void live_comparison_closed(struct live_comparison *comparison, const struct ue_login_status *login,
                            enum ue_close_reason reason);

/* The client closes the live connection. */
void live_comparison_left(struct live_comparison *comparison, enum ue_close_reason reason);

/* Counts the differences; live_comparison_report prints them. */
void live_comparison_end(struct live_comparison *comparison);
void live_comparison_report(const struct live_comparison *comparison, bool as_json);

#endif

/* SPDX-License-Identifier: MIT */
/* What is known of one connection. Its memory is bounded, however long the connection is. */
#ifndef UERUDP_TOOLS_INFO_CONNECTION_INFO_H
#define UERUDP_TOOLS_INFO_CONNECTION_INFO_H

#include "tools/info/bit_cost.h"
#include "tools/info/channel_usage.h"
#include "tools/info/handshake_login.h"
#include "tools/info/loss_bursts.h"
#include "tools/info/reliable_gaps.h"
#include "tools/info/reliable_stalls.h"
#include "tools/info/send_rate.h"
#include "tools/info/silence.h"
#include "tools/info/timing.h"
#include "tools/observe/tracker_table.h"

/* What one side sent. */
struct ue_info_side {
    char address[UE_ADDRESS_TEXT_BYTES]; /* the latest */
    uint64_t datagrams, bytes;           /* all, and their UDP payload */
    uint64_t ordinary, empty;            /* packets; those without a bunch */
    uint64_t malformed, opaque, cut;
    uint64_t malformed_frame;
    struct ue_track_counts counts;   /* of all trackers: */
    struct ue_track_counts tracked;  /* ... of the latest */
    struct ue_track_counts given_up; /* ... of those before it */
    uint64_t unseen, unseen_frame;   /* reported as delivered and not in the capture; where first reported */
    uint64_t partial_errors, partial_frame;
    uint64_t jumps;
    uint32_t reliable_peak, reliable_peak_channel; /* of the reliable buffer */
    uint64_t reliable_peak_frame;
    struct ue_losses losses;
    struct ue_rate rate;
};

enum ue_end { UE_END_NONE, UE_END_CLIENT, UE_END_SERVER, UE_END_TIMEOUT };

struct ue_info {
    uint32_t stream;
    const char *generation;           /* static, or the user's own */
    char generations[UE_RANGE_CHARS]; /* the releases that it stands for */
    struct ue_choice choice;          /* from which these come */
    const char *reason;               /* why that one; static */
    const struct ue_profile *profile;
    uint32_t reliable_limit;      /* bunches per channel without acknowledgement */
    char former[UE_FORMER_BYTES]; /* addresses of the client before the last; empty: none */
    int64_t first_ns, last_ns;
    uint64_t implausible;       /* datagrams with an impossible capture time: then no time, span or rate is known */
    uint64_t implausible_frame; /* the first of them */
    uint64_t first_frame, last_frame;
    const char *first_path, *last_path; /* where these stand, of several files; NULL: there is one. The caller's */
    char *interface;                    /* that the first datagram was captured at, UTF-8; NULL: not known */
    struct ue_info_side sides[2];       /* client, server */

    bool is_closed; /* by closing channel 0 */
    unsigned closed_by;
    uint64_t closed_frame;
    int64_t closed_ns;
    uint64_t after_close; /* datagrams behind it */

    struct ue_story story;
    struct ue_timing timing;
    struct ue_silence silence;
    struct ue_stalls stalls;
    struct ue_holes holes;
    struct ue_channels channels;
    struct ue_findings findings;
    struct ue_cost *cost; /* NULL: not wanted */
};

/* channel_budget: see ue_channels; it must outlive the result. */
struct ue_info *ue_info_new(uint32_t stream, unsigned findings_max, bool with_cost, size_t *channel_budget);
void ue_info_free(struct ue_info *info);

/* Takes a datagram of the connection. */
void ue_info_feed(struct ue_info *info, const struct ue_seen *seen, struct ue_tracks *tracks);

/* At the end of the capture: makes the diagnosis. Nothing may be fed afterwards. */
void ue_info_finish(struct ue_info *info);

/* Who ended the connection; "timeout" when a side was gone. */
const char *ue_end_name(enum ue_end end);
enum ue_end ue_info_end(const struct ue_info *info);

/* The side that fell silent for good: for UE_GONE_MIN_NS until the other spoke last, or the other says
   ConnectionTimeout; -1: none. */
int ue_info_gone(const struct ue_info *info);

/* Why it was closed, in the words of the wire: a CloseReason, or a Failure. NULL: nothing says it. */
const char *ue_info_close_text(const struct ue_info *info);

/* Packets of a side that are missing in the capture. False: the capture point cannot show losses, since none is missing
   of those that were reported as not delivered. */
bool ue_info_lost(const struct ue_info *info, unsigned side, uint64_t *lost);

#endif

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
struct info_side {
    char address[CAPTURE_ADDRESS_TEXT_BYTES]; /* the latest */
    uint64_t datagrams, bytes;           /* all, and their UDP payload */
    uint64_t ordinary, empty;            /* packets; those without a bunch */
    uint64_t malformed, opaque, cut;
    uint64_t malformed_frame;
    struct ue_tracker_counts counts;   /* of all trackers: */
    struct ue_tracker_counts tracked;  /* ... of the latest */
    struct ue_tracker_counts given_up; /* ... of those before it */
    uint64_t unseen, unseen_frame;   /* reported as delivered and not in the capture; where first reported */
    uint64_t partial_errors, partial_frame;
    uint64_t jumps;
    uint32_t reliable_peak, reliable_peak_channel; /* of the reliable buffer */
    uint64_t reliable_peak_frame;
    struct info_loss_bursts losses;
    struct info_rate rate;
};

enum info_end { INFO_END_NONE, INFO_END_CLIENT, INFO_END_SERVER, INFO_END_TIMEOUT };

struct info_connection {
    uint32_t stream;
    const char *generation;           /* static, or the user's own */
    char generations[UE_RANGE_CHARS]; /* the releases that it stands for */
    struct ue_detection_result choice;          /* from which these come */
    const char *reason;               /* why that one; static */
    const struct ue_profile *profile;
    uint32_t reliable_limit;      /* bunches per channel without acknowledgement */
    char former[CONNECTION_FORMER_BYTES]; /* addresses of the client before the last; empty: none */
    int64_t first_ns, last_ns;
    uint64_t implausible;       /* datagrams with an impossible capture time: then no time, span or rate is known */
    uint64_t implausible_frame; /* the first of them */
    uint64_t first_frame, last_frame;
    const char *first_path, *last_path; /* where these stand, of several files; NULL: there is one. The caller's */
    char *interface;                    /* that the first datagram was captured at, UTF-8; NULL: not known */
    struct info_side sides[2];       /* client, server */

    bool is_closed; /* by closing channel 0 */
    unsigned closed_by;
    uint64_t closed_frame;
    int64_t closed_ns;
    uint64_t after_close; /* datagrams behind it */

    struct info_login story;
    struct info_timing timing;
    struct info_silence silence;
    struct info_stalls stalls;
    struct info_gaps holes;
    struct info_channels channels;
    struct info_findings findings;
    struct info_cost *cost; /* NULL: not wanted */
};

/* channel_budget: see info_channels; it must outlive the result. */
struct info_connection *info_connection_new(uint32_t stream, unsigned findings_max, bool with_cost, size_t *channel_budget);
void info_connection_free(struct info_connection *info);

/* Takes a datagram of the connection. */
void info_connection_on_datagram(struct info_connection *info, const struct input_datagram *seen, struct tracker_table *tracks);

/* At the end of the capture: makes the diagnosis. Nothing may be fed afterwards. */
void info_connection_finish(struct info_connection *info);

/* Who ended the connection; "timeout" when a side was gone. */
const char *info_end_name(enum info_end end);
enum info_end info_connection_end(const struct info_connection *info);

/* The side that fell silent for good: for INFO_GONE_MIN_NS until the other spoke last, or the other says
   ConnectionTimeout; -1: none. */
int info_connection_gone_side(const struct info_connection *info);

/* Why it was closed, in the words of the wire: a CloseReason, or a Failure. NULL: nothing says it. */
const char *info_connection_close_text(const struct info_connection *info);

/* Packets of a side that are missing in the capture. False: the capture point cannot show losses, since none is missing
   of those that were reported as not delivered. */
bool info_connection_lost_packets(const struct info_connection *info, unsigned side, uint64_t *lost);

#endif

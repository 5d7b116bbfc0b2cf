/* SPDX-License-Identifier: MIT */
/* What is known of one connection, in bounded memory. */
#ifndef UERUDP_TOOLS_INFO_CONNECTION_INFO_H
#define UERUDP_TOOLS_INFO_CONNECTION_INFO_H

#include <uerudp/bandwidth.h>
#include "tools/both_ends/both_ends.h"
#include "tools/info/bandwidth_options.h"
#include "tools/info/field_cost.h"
#include "tools/info/channel_usage.h"
#include "tools/info/talkers.h"
#include "tools/info/finding_list.h"
#include "tools/input/capture_reader.h"

/* The traffic of one side. */
struct info_side {
    char address[CAPTURE_ADDRESS_TEXT_BYTES]; /* the latest */
    uint64_t bytes;                           /* of the UDP payload of all datagrams */
    const struct ue_side_totals *totals;
};

/* Receives the events of a connection, after they are counted, and all findings, also those that are not kept. */
struct info_listener {
    void (*on_event)(void *user, const struct ue_observed_event *event);
    void (*on_finding)(void *user, const struct ue_finding *finding);
    void (*on_wait)(void *user, const struct ue_channel_wait *wait);
    void (*on_round_trip)(void *user, int64_t acked_ns, int64_t rtt_ns); /* as of struct ue_findings_callbacks */
    void *user;
};

struct info_connection {
    uint32_t stream;
    const char *generation;                    /* static, or owned by the user's profile */
    char generations[UE_RANGE_CHARS];          /* the releases of that generation */
    struct ue_detection_result result;         /* the detection result */
    char bounds[CAPTURE_SUMMARY_BOUNDS_BYTES]; /* that are not the engine's */
    const char *reason;                        /* why this generation was detected; static */
    const struct ue_profile *profile;
    uint32_t ch_seq_bound;   /* of channel sequences on the wire */
    uint32_t reliable_limit; /* reliable bunches without acknowledgement per channel; 0: not certain */
    char former[CAPTURE_SUMMARY_FORMER_BYTES]; /* earlier addresses of the client; empty: none */
    uint64_t first_frame, last_frame;
    const char *first_path;    /* the file of first_frame, if there are several files; NULL: one file. Not owned */
    const char *last_path;     /* that of last_frame */
    char *interface;           /* capture interface of the first datagram, UTF-8; NULL: unknown */
    struct info_side sides[2]; /* client, server */
    bool is_server_known;      /* else assumed, see role of struct ue_observed_datagram */

    struct info_channels channels;
    struct info_talkers talkers;
    struct ue_findings *detected;
    const struct ue_stream_course *course; /* of detected; likewise timing */
    const struct ue_timing *timing;
    struct info_findings findings;
    struct info_cost *cost; /* NULL: not counted; likewise bandwidth */
    struct ue_bandwidth *bandwidth;
    const struct info_options *options;
    const struct info_listener *listener; /* NULL: none. Owned by the caller, who sets it after info_connection_new */
    const struct both_ends *ends;         /* the captures of both ends; NULL: there is one capture. Not owned */
    const struct both_ends_connection *both_ends; /* of ends; NULL: the connection is not in both */
    bool is_compared;                             /* match of its findings is set */
    const struct info_connection *other_end; /* the connection in the other capture; NULL: it was not read. Not owned */
};

struct info_options {
    unsigned findings_max; /* findings kept of each kind in each connection */
    bool with_cost;        /* count bits */
    bool is_part;          /* only a part of the capture by time or frame is reported */
    struct info_bandwidth_options bandwidth;
    const struct info_fail_rules *rules;
};

/* options and channels_left (see info_channels) must outlive the result. */
struct info_connection *info_connection_new(uint32_t stream, const struct info_options *options, size_t *channels_left);
void info_connection_free(struct info_connection *info);

/* Handles a datagram of the connection. */
void info_connection_on_datagram(struct info_connection *info, const struct input_datagram *captured);

/* Adds the findings at the end of the capture (end_ns: see ue_findings_finish). No datagram may follow. */
void info_connection_finish(struct info_connection *info, int64_t end_ns);

/* Who ended the connection; "timeout" if a side went silent. */
enum info_end { INFO_END_NONE, INFO_END_CLIENT, INFO_END_SERVER, INFO_END_TIMEOUT };
enum info_end info_connection_end(const struct info_connection *info);
const char *info_end_name(enum info_end end);

/* Counts the packets of a side that are missing in the capture. Returns false if none is known to be: because the
   capture has all packets that were reported as not delivered, which were lost after it, or because it ends with
   packets whose ids cannot be read. */
bool info_connection_lost_packets(const struct info_connection *info, unsigned side, uint64_t *lost);

/* Whether bunches waited, or may have without that the capture shows it. */
static inline bool info_waits_are_possible(const struct ue_channel_waits *waits) {
    return waits->bunches != 0 || waits->is_at_least;
}

/* The login at a beacon, by its messages. */
struct info_beacon {
    const char *type;                   /* what the client asked for; empty: not in the capture */
    const struct ue_login_step *last;   /* the last of its messages */
    const struct ue_login_step *joined; /* BeaconNetGUIDAck, with which the client has joined; NULL: none */
};

/* False: no message of a beacon is in the capture. */
bool info_connection_beacon(const struct info_connection *info, struct info_beacon *beacon);

#endif

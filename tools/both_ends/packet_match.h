/* SPDX-License-Identifier: MIT */
/* Finds the same connections and the same packets in the captures of both ends, by the content of the packets:
   addresses may differ, and packet ids repeat. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_PACKET_MATCH_H
#define UERUDP_TOOLS_BOTH_ENDS_PACKET_MATCH_H

#include "tools/both_ends/clock_fit.h"
#include "tools/both_ends/end_capture.h"

/* A connection of two captures. */
struct stream_pair {
    const struct end_stream *streams[2]; /* [capture] */
    bool is_flipped;                     /* the second capture has the roles of the sides reversed */
};

/* The pairs of the captures: an array of struct stream_pair in the order of the first capture, owned by the caller. */
GArray *stream_pairs_find(const struct end_capture *const captures[2]);

/* The datagrams of a role in one capture of a pair: struct end_datagram. */
const GArray *stream_pair_datagrams(const struct stream_pair *pair, unsigned capture, unsigned role);

/* The reports that a capture of a pair has about the packets of a role: struct end_report. */
const GArray *stream_pair_reports(const struct stream_pair *pair, unsigned capture, unsigned role);

/* The packets of a role whose content is in each capture exactly once: an array of struct clock_sample in any order,
   owned by the caller. */
GArray *stream_pair_samples(const struct stream_pair *pair, unsigned role);

/* ---- arrivals ---- */

#define PACKET_MATCH_NONE UINT32_MAX

/* How long a packet is on its way at most. Packets with equal content are farther apart, unless one of them is a copy.
 */
#define PACKET_MATCH_SPAN_NS INT64_C(30000000000)

/* For each datagram of the receiver's capture, the index of the datagram of the sender's capture that arrived; NONE:
   there is none. Each is used once: a further arrival of the same content has NONE, and is_copy. */
struct packet_arrival {
    guint sent;
    bool is_copy; /* it arrived before */
};

/* receiver_ahead_ns: of the receiver's clock at a time of that clock. tolerance_ns: by how much a packet may seem to
   arrive before it was sent. Returns an array of struct packet_arrival, owned by the caller. */
GArray *packet_arrivals_find(const GArray *sent, const GArray *arrived,
                             int64_t (*receiver_ahead_ns)(const void *user, int64_t time_ns), const void *user,
                             int64_t tolerance_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* When a sender was saturated: its bandwidth budget (QueuedBits, endpoint.md 30), rebuilt from the times and sizes of
   its packets and the rate that the client asked for. Packets that are not in the capture are missing in it, and
   away from the sender packets that waited in the network may add up. */
#ifndef UERUDP_SATURATION_H
#define UERUDP_SATURATION_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_SATURATION_GAPS 256

/* From a packet after which more bits are queued than the next tick removes, until they have left. */
struct ue_saturation_span {
    int64_t begin_ns, end_ns;
    uint64_t frame; /* of that packet; 0: there is no span */
};

/* One side of a connection. Zeroed: nothing was sent, and the rate is not known. */
struct ue_saturation {
    int32_t rate;        /* bytes per second; 0: not known */
    int64_t tick_ns;     /* of the sender, estimated from the gaps between its packets; 0: not known */
    uint64_t packets;    /* that were counted, because the rate was known */
    int64_t queued_bits; /* after the latest packet and before the end of its tick; negative: unused */
    int64_t peak_bits;   /* the most of these */
    uint64_t peak_frame;
    uint64_t spans;
    int64_t total_ns;                          /* of all spans, complete after ue_saturation_finish */
    struct ue_saturation_span longest, latest; /* likewise longest */

    bool has_sent; /* the rest is private */
    int64_t sent_ns;
    uint32_t gap_count;
    uint32_t gaps[UE_SATURATION_GAPS]; /* by milliseconds */
};

/* The client's Netspeed; 0: not known. */
void ue_saturation_set_rate(struct ue_saturation *side, int32_t bytes_per_s);

/* A datagram that the side sent, in capture order. */
void ue_saturation_add(struct ue_saturation *side, int64_t time_ns, uint64_t frame, uint64_t length_bytes);

/* The capture ends. No datagram may follow. */
void ue_saturation_finish(struct ue_saturation *side, int64_t end_ns);

/* The duration of a span. */
int64_t ue_saturation_span_ns(const struct ue_saturation_span *span);

/* How long the rate needs for these bits. */
int64_t ue_saturation_drain_ns(const struct ue_saturation *side, int64_t bits);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* What the tracker tells of a datagram, as events of a log. In a log from inside an endpoint the connection itself
   speaks of verdicts and of what the other side opens and closes; here the tracker tells the rest. */
#ifndef UERUDP_TOOLS_EVENTS_TRACKER_EVENTS_H
#define UERUDP_TOOLS_EVENTS_TRACKER_EVENTS_H

#include <uerudp/packet_tracker.h>
#include "tools/events/log.h"

/* Of one datagram. */
struct event_log_from_tracker {
    struct event_log *log;
    const struct ue_context *context;
    uint32_t stream;
    size_t size_bytes;
    bool has_frames; /* frame numbers mean something */
};

/* The event function of a struct ue_tracker_callbacks whose user is a struct event_log_from_tracker. */
void event_log_from_tracker(void *user, const struct ue_tracker_event *event);

/* A packet's verdict, a channel that opens or closes: what a connection tells in the same words. Members of the verdict
   that are not known are 0 and -1; name NULL: not known. */
struct event_log_sent_packet {
    uint64_t frame;
    int64_t elapsed_ns; /* since then */
    bool acks_lost;     /* it had been delivered, but its sender did not hear of it */
};
void event_log_delivery(struct event_log *log, const struct event_log_place *place, int64_t packet_id, bool delivered,
                    struct event_log_sent_packet sent);
void event_log_channel_opened(struct event_log *log, const struct event_log_place *place, uint32_t channel, const char *name);
void event_log_channel_closed(struct event_log *log, const struct event_log_place *place, uint32_t channel, uint8_t close_reason);

#endif

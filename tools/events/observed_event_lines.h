/* SPDX-License-Identifier: MIT */
/* The tracker's events as events of a log. In a log of an endpoint the connection itself logs acks, naks and
   channels that the peer opens or closes; the tracker provides the rest. */
#ifndef UERUDP_TOOLS_EVENTS_OBSERVED_EVENT_LINES_H
#define UERUDP_TOOLS_EVENTS_OBSERVED_EVENT_LINES_H

#include <uerudp/packet_tracker.h>
#include "tools/events/event_log.h"

/* The datagram whose events are logged. */
struct event_log_from_tracker {
    struct event_log *log;
    const struct ue_context *context;
    uint32_t stream;
    size_t size_bytes;
    bool has_frames; /* frame numbers are known */
};

/* The event function of a struct ue_observer_callbacks whose user is a struct event_log_from_tracker. */
void event_log_from_tracker(void *user, const struct ue_observed_event *event);

/* Events that a connection logs too: a packet that was reported as received or lost, a channel that opened or
   closed. Unknown members of sent are 0 and -1; name NULL: unknown. */
struct event_log_sent_packet {
    uint64_t frame;
    int64_t elapsed_ns; /* since the packet was sent; -1: not known, or another report may have come before */
    bool acks_lost;     /* it was delivered, but all acks of it were lost */
};
void event_log_delivery(struct event_log *log, const struct event_log_place *place, int64_t packet_id, bool delivered,
                        struct event_log_sent_packet sent);
void event_log_channel_opened(struct event_log *log, const struct event_log_place *place, uint32_t channel,
                              const char *name);
void event_log_channel_closed(struct event_log *log, const struct event_log_place *place, uint32_t channel,
                              uint8_t close_reason);

#endif

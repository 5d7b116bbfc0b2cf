/* SPDX-License-Identifier: MIT */
/* The record of sent packets that were not reported yet, in order: when each left and which channels wrote into it (the
   engine's WrittenChannelsRecord and OutLag; endpoint.md 15, 31). */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_SENT_PACKETS_H
#define UERUDP_TOOLS_ENDPOINT_CORE_SENT_PACKETS_H

#include "tools/endpoint/core/channel.h"

/* One channel's part in one packet. */
struct ue_written {
    int64_t packet_id;
    uint64_t sent_ns;     /* of the packet, in its last entry; else UE_NO_TIME */
    uint32_t channel;     /* UE_WRITTEN_NONE: the packet has no bunches */
    uint32_t channel_id;  /* of the channel that had the index then; void when another has it now */
    struct ue_out *first; /* reliable bunches, in OutRec order */
    struct ue_out *last;
};

#define UE_WRITTEN_NONE UINT32_MAX
#define UE_NO_TIME UINT64_MAX

/* A ring that grows by doubling. */
struct ue_sent_packets {
    struct ue_written *ring;
    uint32_t capacity;
    uint32_t begin;
    uint32_t count;
    struct ue_share *share;
};

void ue_sent_packets_init(struct ue_sent_packets *flight, struct ue_share *share);
void ue_sent_packets_free(struct ue_sent_packets *flight);
/* Records that a channel wrote into a packet; out: the reliable bunch, or NULL. False: no memory. */
bool ue_sent_packets_add_channel(struct ue_sent_packets *flight, int64_t packet_id, const struct ue_channel *channel,
                                 struct ue_out *out);
/* Records that the packet left. */
bool ue_sent_packets_push(struct ue_sent_packets *flight, int64_t packet_id, uint64_t now_ns);
/* Removes a bunch from its packet because another packet carries it now. */
void ue_sent_packets_unlink(struct ue_sent_packets *flight, int64_t packet_id, const struct ue_channel *channel,
                            struct ue_out *out);
/* The newest bunch that a channel wrote moved in memory. */
void ue_sent_packets_replace(struct ue_sent_packets *flight, int64_t packet_id, const struct ue_channel *channel,
                             const struct ue_out *old, struct ue_out *out);
/* Removes the oldest entry if it is of this packet; older ones are dropped. False: no entry of it is left. */
bool ue_sent_packets_pop(struct ue_sent_packets *flight, int64_t packet_id, struct ue_written *written);

#endif

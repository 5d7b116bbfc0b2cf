/* SPDX-License-Identifier: MIT */
/* Lists of the acknowledgements of engines up to 4.21, each of which is one item and is sent in two packets (generation
   L; endpoint.md 36). */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_ACK_LISTS_H
#define UERUDP_TOOLS_ENDPOINT_CORE_ACK_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/endpoint/base/memory_share.h"

/* A growing list of full packet ids; those before `begin` were read. */
struct ue_ack_list {
    int64_t *ids;
    uint32_t begin;
    uint32_t count;
    uint32_t capacity;
};

struct ue_legacy {
    struct ue_ack_list queued; /* QueuedAcks: sent once, in the packet being filled or one that left */
    struct ue_ack_list resend; /* ResendAcks: to be sent once more */
    int64_t out_ack_packet_id; /* OutAckPacketId */
    struct ue_share *share;
};

void ue_legacy_init(struct ue_legacy *l, int64_t out_ack_packet_id, struct ue_share *share);
void ue_legacy_free(struct ue_legacy *l);

/* A packet was processed and its ack written into the packet being filled. False: no memory; the ack is then sent once
   only. */
bool ue_legacy_add(struct ue_legacy *l, int64_t packet_id);
/* The packet being filled left: its new acks are due once more. */
void ue_legacy_flushed(struct ue_legacy *l);
/* Removes an ack that is due once more. False: none. */
bool ue_legacy_next_resend(struct ue_legacy *l, int64_t *packet_id);

/* The own packets that an arriving ack reports, oldest first: ids before it that were not acknowledged are lost. */
struct ue_legacy_acks {
    int64_t next_id;
    int64_t acked_id;
    bool is_late; /* not newer than known acks: acknowledges bunches, but reports no loss */
};
void ue_legacy_begin(struct ue_legacy *l, int64_t acked_id, struct ue_legacy_acks *acks);
bool ue_legacy_next(struct ue_legacy_acks *acks, int64_t *packet_id, bool *delivered);

#endif

/* SPDX-License-Identifier: MIT */
/* PRIVATE: own packets without verdict, in order, with what each carried: when it left and which channels wrote into it
   (the engine's WrittenChannelsRecord and OutLag; spec 6.6, 6.12). */
#ifndef UE_FLIGHT_H
#define UE_FLIGHT_H

#include "tools/endpoint/channel.h"

/* One channel's part in one packet. */
struct ue_written {
    int64_t packet_id;
    uint32_t channel; /* UE_WRITTEN_NONE: the packet itself, with its time */
    uint64_t sent_ns;
    struct ue_out *first; /* reliable bunches, in the order of writing */
    struct ue_out *last;
};

#define UE_WRITTEN_NONE UINT32_MAX

/* A ring that grows by doubling. */
struct ue_flight {
    struct ue_written *ring;
    uint32_t capacity;
    uint32_t begin;
    uint32_t count;
    struct ue_share *share;
};

void ue_flight_init(struct ue_flight *flight, struct ue_share *share);
void ue_flight_free(struct ue_flight *flight);
/* Notes that a channel wrote into a packet; out is the reliable bunch, or NULL. False: no memory. */
bool ue_flight_note(struct ue_flight *flight, int64_t packet_id, uint32_t channel, struct ue_out *out);
/* Takes a bunch out of its packet because it travels in another one now. */
void ue_flight_unlink(struct ue_flight *flight, int64_t packet_id, uint32_t channel, struct ue_out *out);
/* A bunch that moved in memory, or NULL for one that is gone. */
void ue_flight_replace(struct ue_flight *flight, int64_t packet_id, uint32_t channel, const struct ue_out *old,
                       struct ue_out *out);
/* Takes the oldest entry of a packet; false when there is none of it. */
bool ue_flight_take(struct ue_flight *flight, int64_t packet_id, struct ue_written *written);

#endif

/* SPDX-License-Identifier: MIT */
/* Reassembles partial bunches (endpoint.md 18). */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_ASSEMBLE_H
#define UERUDP_TOOLS_ENDPOINT_CORE_ASSEMBLE_H

#include "tools/endpoint/core/channel.h"

enum ue_assemble_result {
    UE_ASSEMBLE_WAIT,  /* accepted; more parts follow */
    UE_ASSEMBLE_WHOLE, /* channel->partial is complete */
    UE_ASSEMBLE_SKIP,  /* refused: the packet counts as not delivered */
    UE_ASSEMBLE_ERROR, /* a rule is violated, see reason; the packet counts as not delivered where skip is set */
    UE_ASSEMBLE_NO_MEMORY
};

struct ue_assembled {
    enum ue_assemble_result result;
    bool skip;
    enum ue_close_reason reason;
};

/* Handles one part. ch_seq: the full number of a reliable part, the packet id of an unreliable one. */
struct ue_assembled ue_assemble(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part,
                                int64_t ch_seq, int64_t packet_id, uint32_t max_bytes);

/* Drops the incomplete bunch. */
void ue_assemble_drop(struct ue_share *share, struct ue_channel *channel);

#endif

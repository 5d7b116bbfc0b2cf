/* SPDX-License-Identifier: MIT */
/* Bunches of a capture as they were sent first: each once, the reliable ones of a channel in the order of their
   sequence, and partial ones put together. */
#ifndef UERUDP_TOOLS_REPLAY_BUNCH_REASSEMBLY_H
#define UERUDP_TOOLS_REPLAY_BUNCH_REASSEMBLY_H

#include "tools/replay/session_transcript.h"

struct ue_parts;

struct ue_parts *ue_parts_new(void);
void ue_parts_free(struct ue_parts *parts);

/* Takes a bunch, which is copied; reliable_id is its full sequence. False: UE_TALE_BYTES_MAX is reached. */
bool ue_parts_add(struct ue_parts *parts, uint64_t time_ns, unsigned side, uint32_t life, const struct ue_bunch *bunch,
                  int64_t reliable_id);

/* Hands all whole messages to the tale. */
void ue_parts_tell(struct ue_parts *parts, struct ue_tale *tale);

#endif

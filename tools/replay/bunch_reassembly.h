/* SPDX-License-Identifier: MIT */
/* Bunches of a capture as they were sent first: each once, the reliable ones of a channel in the order of their
   sequence, and partial ones put together. */
#ifndef UERUDP_TOOLS_REPLAY_BUNCH_REASSEMBLY_H
#define UERUDP_TOOLS_REPLAY_BUNCH_REASSEMBLY_H

#include "tools/replay/session_transcript.h"

struct bunch_reassembly;

struct bunch_reassembly *bunch_reassembly_new(void);
void bunch_reassembly_free(struct bunch_reassembly *parts);

/* Takes a bunch, which is copied; reliable_id is its full sequence. False: SESSION_TRANSCRIPT_BYTES_MAX is reached. */
bool bunch_reassembly_add(struct bunch_reassembly *parts, uint64_t time_ns, unsigned side, uint32_t life, const struct ue_bunch *bunch,
                  int64_t reliable_id);

/* Hands all whole messages to the tale. */
void bunch_reassembly_finish(struct bunch_reassembly *parts, struct session_transcript *tale);

#endif

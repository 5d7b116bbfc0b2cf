/* SPDX-License-Identifier: MIT */
/* Reassembles the messages of a capture: each bunch once, the reliable bunches of a channel in the order of their
   sequence. */
#ifndef UERUDP_TOOLS_REPLAY_BUNCH_REASSEMBLY_H
#define UERUDP_TOOLS_REPLAY_BUNCH_REASSEMBLY_H

#include "tools/replay/recorded_session.h"

struct bunch_reassembly;

struct bunch_reassembly *bunch_reassembly_new(void);
void bunch_reassembly_free(struct bunch_reassembly *reassembly);

/* Adds a copy of a bunch; number is its full sequence, or the id of its packet if it is unreliable. False:
 * RECORDED_SESSION_BYTES_MAX is reached. */
bool bunch_reassembly_add(struct bunch_reassembly *reassembly, uint64_t time_ns, unsigned side, uint32_t slot,
                          const struct ue_bunch *bunch, int64_t number);

/* Adds all whole messages to the recorded session. */
void bunch_reassembly_finish(struct bunch_reassembly *reassembly, struct recorded_session *session);

#endif

/* SPDX-License-Identifier: MIT */
/* What the messages carry that the datagrams of a reading complete. Memory is bounded as that of tracks.h is. */
#ifndef UERUDP_TOOLS_OBSERVE_COMPLETED_MESSAGES_H
#define UERUDP_TOOLS_OBSERVE_COMPLETED_MESSAGES_H

#include "tools/observe/tracker_table.h"
#include "tools/print/datagram.h"

struct ue_contents;

struct ue_contents *ue_contents_new(void);
void ue_contents_free(struct ue_contents *contents);

/* Takes the next datagram, foreign and cut ones too, and gives the messages that it completes: until the next call. */
const struct ue_shown_messages *ue_contents_feed(struct ue_contents *contents, const struct ue_seen *seen);

#endif

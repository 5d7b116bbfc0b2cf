/* SPDX-License-Identifier: MIT */
/* What the messages carry that the datagrams of a reading complete. Memory is bounded as that of tracks.h is. */
#ifndef UERUDP_TOOLS_OBSERVE_COMPLETED_MESSAGES_H
#define UERUDP_TOOLS_OBSERVE_COMPLETED_MESSAGES_H

#include "tools/observe/tracker_table.h"
#include "tools/print/datagram.h"

struct completed_messages;

struct completed_messages *completed_messages_new(void);
void completed_messages_free(struct completed_messages *contents);

/* Takes the next datagram, foreign and cut ones too, and gives the messages that it completes: until the next call. */
const struct print_messages *completed_messages_on_datagram(struct completed_messages *contents, const struct input_datagram *seen);

#endif

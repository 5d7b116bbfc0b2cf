/* SPDX-License-Identifier: MIT */
/* The messages that each datagram of a capture completes. */
#ifndef UERUDP_TOOLS_INPUT_COMPLETED_MESSAGES_H
#define UERUDP_TOOLS_INPUT_COMPLETED_MESSAGES_H

#include "tools/input/capture_reader.h"
#include "tools/print/datagram_trace.h"

struct completed_messages;

struct completed_messages *completed_messages_new(void);
void completed_messages_free(struct completed_messages *contents);

/* Handles the next datagram, also a foreign or cut one, and returns the messages that it completes, valid until the
   next call. */
const struct print_messages *completed_messages_on_datagram(struct completed_messages *contents,
                                                            const struct input_datagram *captured);

#endif

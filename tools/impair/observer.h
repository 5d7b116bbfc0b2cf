/* SPDX-License-Identifier: MIT */
/* What the impairment proxy knows of a connection: the input of its rules, which decide about each datagram at once,
   with what is known by then. */
#ifndef UERUDP_TOOLS_IMPAIR_OBSERVER_H
#define UERUDP_TOOLS_IMPAIR_OBSERVER_H

#include "tools/cli/wire_options.h"
#include "tools/rules/datagram_facts.h"

struct impair_observer;

/* stream: number of the connection. The options must outlive the result. */
struct impair_observer *impair_observer_new(const struct wire_options *options, uint32_t stream, int64_t begun_ns);
void impair_observer_free(struct impair_observer *observer);

/* Decodes the next datagram of side 0, the client, or 1. frame: number of the datagram among those of all connections,
   from 1. The facts are valid until the next call; the bytes must be, too. */
const struct datagram_facts *impair_observer_read(struct impair_observer *observer, uint64_t frame, int64_t time_ns,
                                                  unsigned side, const uint8_t *bytes, size_t size_bytes);

/* Whether one side closed the connection. */
bool impair_observer_is_closed(const struct impair_observer *observer);

/* The engine release, as far as it is known; NULL: unknown. */
const char *impair_observer_generation(const struct impair_observer *observer);

#endif

/* SPDX-License-Identifier: MIT */
/* How unevenly packets arrive, by the milliseconds of their sender's clock that they carry (protocol.md 7;
   endpoint.md 23.2). */
#ifndef UERUDP_CLOCK_JITTER_H
#define UERUDP_CLOCK_JITTER_H

#include <stdbool.h>
#include <stdint.h>

/* Of the packets of one side; zero: none so far. */
struct ue_clock_jitter {
    int64_t delta_ns;   /* from the sender's clock to the receiver's, within a second; of the last packet */
    int64_t average_ns; /* smoothed as the engine does */
    bool has_delta;
};

/* Hears a packet; false: it carries no usable clock, or is the first, so that the average stays. */
bool ue_clock_jitter_feed(struct ue_clock_jitter *jitter, int64_t time_ns, uint16_t clock_ms);

#endif

/* SPDX-License-Identifier: MIT */
/* The jitter clock of packets, the smoothed jitter, and round-trip times (endpoint.md 31). Times are nanoseconds on a
   monotonic scale. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_JITTER_AND_PING_H
#define UERUDP_TOOLS_ENDPOINT_CORE_JITTER_AND_PING_H

#include <uerudp/endpoint.h>

#define UE_JITTER_IGNORED 1023

/* The clock of the packet info: milliseconds of `now`, or UE_JITTER_IGNORED when more than a second passed since the
   last one. */
struct ue_jitter_clock {
    uint64_t last_ns;
    bool has_last;
};
uint16_t ue_jitter_clock_read(struct ue_jitter_clock *clock, uint64_t now_ns);

/* Average difference between packet spacing here and at the sender, milliseconds (ProcessJitter). */
struct ue_jitter {
    double average_ms;
    int32_t previous_ms;
};
void ue_jitter_feed(struct ue_jitter *j, uint16_t sent_ms, uint64_t now_ns);

/* Round-trip times (endpoint.md 31). A sample counts only while its packet is among the newest UE_PING_REACH: the
   engine keeps send times in a ring of that size (OutLag). */
#define UE_PING_REACH 256

/* acked and newest are full packet ids; frame_time_ms: the peer's frame time, 0 where it is not excluded. False: no
   sample. */
bool ue_ping_feed(struct ue_ping *ping, int64_t acked, int64_t newest, uint64_t sent_ns, uint64_t now_ns,
                  uint32_t frame_time_ms);
/* Ends a second: the average is that of its samples; without one it stays. */
void ue_ping_end_second(struct ue_ping *ping);

#endif

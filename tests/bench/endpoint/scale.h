/* SPDX-License-Identifier: MIT */
/* What a connection of the reference endpoint costs in memory, and in time when there are many (rows E11 to E13). */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_SCALE_H
#define UERUDP_TESTS_BENCH_ENDPOINT_SCALE_H

#include <stdint.h>

/* Bytes that a connected end uses when nothing is under way; the larger of both ends. 0: failure. */
double scale_idle_bytes(const char *release);

/* Bytes per reliable bunch that is sent and not acknowledged, beyond its payload. */
double scale_bunch_bytes(const char *release);

/* Nanoseconds of work per packet, sending and receiving, at 300 bytes down and 60 up per tick; 0: failure. */
double scale_packet_ns(uint32_t connections, uint32_t channels, uint32_t ticks);

#endif

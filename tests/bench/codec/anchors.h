/* SPDX-License-Identifier: MIT */
/* The two codecs that the library is measured against, for the 5.1 packet, server to client.
   `limit`: unaligned 64-bit loads, no loop per bit, no branch on fields; relies on SAMPLE_SLACK_BYTES behind each
   buffer. `naive`: every header bit with its own bounds check, payloads byte by byte; the way the first version is
   written. Both refuse what the workload does not contain: handshakes, channels of three bytes, channel names as text.
 */
#ifndef UERUDP_TESTS_BENCH_CODEC_ANCHORS_H
#define UERUDP_TESTS_BENCH_CODEC_ANCHORS_H

#include "tests/bench/codec/sample.h"

/* Headers; payload positions only. */
bool limit_decode(const uint8_t *bytes, size_t size, struct sample *sample);
bool naive_decode(const uint8_t *bytes, size_t size, struct sample *sample);

/* Headers, and every payload copied to start at a byte. */
bool limit_decode_payload(const uint8_t *bytes, size_t size, struct sample *sample, uint8_t *payloads);
bool naive_decode_payload(const uint8_t *bytes, size_t size, struct sample *sample, uint8_t *payloads);

/* Header and payloads; gives the size of the packet. */
size_t limit_encode(const struct sample *sample, const uint8_t *payloads, uint8_t *bytes);
size_t naive_encode(const struct sample *sample, const uint8_t *payloads, uint8_t *bytes);

#endif

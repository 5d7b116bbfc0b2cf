/* SPDX-License-Identifier: MIT */
/* Two ideals to measure protocols against; neither is a protocol.
   model-nak: a complete ack history in every packet, a packet each tick when there is anything to acknowledge, lost
   messages again at once in the next packet: what the engine's design can reach.
   model-red: every unacknowledged message again in every packet: the floor for ends that tick. */
#ifndef UERUDP_TESTS_BENCH_RIVALS_MODEL_H
#define UERUDP_TESTS_BENCH_RIVALS_MODEL_H

#include "tests/bench/endpoint/rival.h"

#define MODEL_HEADER_BYTES 8  /* packet number, newest packet received */
#define MODEL_MESSAGE_BYTES 4 /* number, size, reliability */
#define MODEL_PACKET_BYTES 1000

#endif

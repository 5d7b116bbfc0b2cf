/* SPDX-License-Identifier: MIT */
/* A packet of the workload as an input of the encoder. */
#ifndef UERUDP_TESTS_BENCH_CODEC_INPUT_H
#define UERUDP_TESTS_BENCH_CODEC_INPUT_H

#include <uerudp/datagram.h>
#include "tests/bench/codec/workload.h"

/* Fills items, one per bunch, and a datagram over them; payloads stay in the packet. */
void input_fill(struct ue_datagram *datagram, const struct packet *packet, struct ue_item *items);

#endif

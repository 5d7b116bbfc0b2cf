/* SPDX-License-Identifier: MIT */
/* What an endpoint counts; the list is counters.def. */
#ifndef UERUDP_COUNTERS_H
#define UERUDP_COUNTERS_H

#include <stdint.h>

struct ue_counters {
#define UE_COUNTER(id, sentence) uint64_t id;
#include <uerudp/counters.def>
#undef UE_COUNTER
};

#endif

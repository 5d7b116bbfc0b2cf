/* SPDX-License-Identifier: MIT */
/* The counters of an endpoint; counters.def lists them. */
#ifndef UERUDP_COUNTERS_H
#define UERUDP_COUNTERS_H

#include <stdint.h>

struct ue_counters {
#define UE_COUNTER(id, sentence) uint64_t id;
#include <uerudp/counters.def>
#undef UE_COUNTER
};

#endif

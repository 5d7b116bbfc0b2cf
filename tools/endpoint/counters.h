/* SPDX-License-Identifier: MIT */
/* What an endpoint counts; the list is counters.def. */
#ifndef UE_COUNTERS_H
#define UE_COUNTERS_H

#include <stdint.h>

struct ue_counters {
#define UE_COUNTER(id, sentence) uint64_t id;
#include "tools/endpoint/counters.def"
#undef UE_COUNTER
};

#endif

/* SPDX-License-Identifier: MIT */
/* Private: the bits of a datagram that a rule corrupts. */
#ifndef UERUDP_TOOLS_RULES_BIT_CORRUPTION_H
#define UERUDP_TOOLS_RULES_BIT_CORRUPTION_H

#include "tools/rules/rules.h"
#include "tools/sim/rng.h"

struct rules_bit_range {
    size_t bit, bits;
};

#define RULES_ANY_ITEM UINT32_MAX

/* Finds the first such field of the datagram, or of one of its items; UE_F_NONE: the whole datagram. Returns false
   if there is none or it is encrypted. */
bool rules_bit_range_find(const struct datagram_facts *facts, enum ue_field field, uint32_t item,
                          struct rules_bit_range *range);

/* Adds `count` flips of random bits to the outcome, without repeating a bit, as far as the range has more bits. */
void rules_bit_range_corrupt(const struct rules_bit_range *range, unsigned count, struct sim_rng *rng,
                             struct rules_outcome *outcome);

#endif

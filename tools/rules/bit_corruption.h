/* SPDX-License-Identifier: MIT */
/* Private: the bits of a datagram that a rule corrupts. */
#ifndef UERUDP_TOOLS_RULES_BIT_CORRUPTION_H
#define UERUDP_TOOLS_RULES_BIT_CORRUPTION_H

#include "tools/rules/rules.h"
#include "tools/sim/rng.h"

struct ue_stretch {
    size_t bit, bits;
};

#define UE_STRETCH_ANY_ITEM UINT32_MAX

/* The first such field of the datagram, or of one of its items; UE_F_NONE: the whole datagram. False where there is
   none, or where it is inside of what is encrypted. */
bool ue_stretch_find(const struct ue_facts *facts, enum ue_field field, uint32_t item, struct ue_stretch *stretch);

/* Adds to the outcome so many flips of random bits that it does not flip yet, as far as there are any. */
void ue_stretch_corrupt(const struct ue_stretch *stretch, unsigned count, struct ue_rng *rng,
                        struct ue_outcome *outcome);

#endif

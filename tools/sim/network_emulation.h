/* SPDX-License-Identifier: MIT */
/* The engine's network emulation under the engine's names (endpoint.md 38): what a program does to the packets that it
   sends, and to those that it receives before it reads them. */
#ifndef UERUDP_TOOLS_SIM_NETWORK_EMULATION_H
#define UERUDP_TOOLS_SIM_NETWORK_EMULATION_H

#include "tools/sim/link.h"

struct sim_emulation {
    struct sim_link_config outgoing;
    struct sim_link_config incoming;
};

enum sim_emulation_result { SIM_EMULATION_OK, SIM_EMULATION_UNKNOWN, SIM_EMULATION_BAD_VALUE };

/* Sets one parameter from a text such as "PktLoss=5": percent, milliseconds, ticks or bytes, as sim_emulation_row says.
   Texts combine: PktLag=50 and PktJitter=10 delay by 50 to 60 ms. PktLagMax counts from the delay that is set when it
   is read, so PktLagMin precedes it. */
enum sim_emulation_result sim_emulation_set(struct sim_emulation *emulation, const char *text);

/* The parameters with their units, in the order of the documentation; NULL after the last. */
struct sim_emulation_row {
    const char *name;
    const char *unit;
    uint32_t max;
};
const struct sim_emulation_row *sim_emulation_row_at(size_t index);

#endif

/* SPDX-License-Identifier: MIT */
/* The engine's own network emulation by its own names (endpoint.md 26): what a program does to the packets it sends,
   and to those it receives before it looks at them. */
#ifndef UERUDP_TOOLS_SIM_NETWORK_EMULATION_H
#define UERUDP_TOOLS_SIM_NETWORK_EMULATION_H

#include "tools/sim/link.h"

struct sim_emulation {
    struct sim_link_config outgoing;
    struct sim_link_config incoming;
};

enum sim_emulation_result { SIM_EMULATION_OK, SIM_EMULATION_UNKNOWN, SIM_EMULATION_BAD_VALUE };

/* Sets one knob from "PktLoss=5" and the like: percent, milliseconds, ticks or bytes, as the table says. Later texts
   add to what earlier ones set: PktLag=50 and PktJitter=10 delay by 50 to 60 ms; PktLagMax counts from the delay set
   before it, so PktLagMin comes first. */
enum sim_emulation_result sim_emulation_set(struct sim_emulation *emulation, const char *text);

/* The knobs with their units, in documentation order; NULL behind the last. */
struct sim_emulation_row {
    const char *name;
    const char *unit;
    uint32_t max;
};
const struct sim_emulation_row *sim_emulation_row(size_t index);

#endif

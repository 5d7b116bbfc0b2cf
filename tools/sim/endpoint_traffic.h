/* SPDX-License-Identifier: MIT */
/* What the program at an end says: control messages, openings, and its streams. */
#ifndef UERUDP_TOOLS_SIM_ENDPOINT_TRAFFIC_H
#define UERUDP_TOOLS_SIM_ENDPOINT_TRAFFIC_H

#include "tools/sim/simulated_endpoint.h"

/* Client: Hello, on the control channel. */
void sim_endpoint_send_hello(struct sim_endpoint *end, uint64_t now_ns);
/* Server: opens every channel of the scenario that is free. */
void sim_endpoint_open_channels(struct sim_endpoint *end, uint64_t now_ns);
/* What the streams have to say in this tick. */
void sim_endpoint_send_streams(struct sim_endpoint *end, uint64_t now_ns);

#endif

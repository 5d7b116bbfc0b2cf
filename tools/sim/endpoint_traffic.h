/* SPDX-License-Identifier: MIT */
/* What the program of a simulated endpoint sends: control messages, channel opens, and its streams. */
#ifndef UERUDP_TOOLS_SIM_ENDPOINT_TRAFFIC_H
#define UERUDP_TOOLS_SIM_ENDPOINT_TRAFFIC_H

#include "tools/sim/simulated_endpoint.h"

/* Client: sends Hello on the control channel. */
void sim_endpoint_send_hello(struct sim_endpoint *endpoint, uint64_t now_ns);
/* Server: opens every channel of the scenario that is not open. */
void sim_endpoint_open_channels(struct sim_endpoint *endpoint, uint64_t now_ns);
/* Sends the messages that the streams have in this tick. */
void sim_endpoint_send_streams(struct sim_endpoint *endpoint, uint64_t now_ns);

#endif

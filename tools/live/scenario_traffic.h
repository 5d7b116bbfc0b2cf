/* SPDX-License-Identifier: MIT */
/* One side's part in a scenario of the simulator, on a real connection: sends that side's messages, and compares what
   comes with what the other side has to say. Channels stay open. */
#ifndef UERUDP_TOOLS_LIVE_SCENARIO_TRAFFIC_H
#define UERUDP_TOOLS_LIVE_SCENARIO_TRAFFIC_H

#include <jansson.h>

#include "tools/live/send_queue.h"
#include "tools/sim/scenario.h"

struct scenario_traffic;

/* The scenario lives as long as this. */
struct scenario_traffic *scenario_traffic_new(const struct sim_scenario *scenario, enum ue_role role);
void scenario_traffic_free(struct scenario_traffic *streams);

/* Channels that the scenario uses: from SIM_SCENARIO_CHANNEL_FIRST, this many. */
uint32_t scenario_traffic_channel_count(const struct sim_scenario *scenario);

/* Once a tick: puts into the backlog what is due; channel_count channels are open. */
void scenario_traffic_tick(struct scenario_traffic *streams, struct send_queue *backlog, uint32_t channel_count);
/* A message of the other side; false: it should not have come here, now, or so. */
bool scenario_traffic_receive(struct scenario_traffic *streams, const struct ue_event *bunch);

json_t *scenario_traffic_result(const struct scenario_traffic *streams);

/* The names of all scenarios, separated by ", ". Free it with g_free. */
char *scenario_traffic_scenario_names(void);

#endif

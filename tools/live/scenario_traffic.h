/* SPDX-License-Identifier: MIT */
/* One side's traffic of a simulator scenario on a real connection: it sends that side's messages, and compares the
   received ones with what the other side sends. Channels stay open. */
#ifndef UERUDP_TOOLS_LIVE_SCENARIO_TRAFFIC_H
#define UERUDP_TOOLS_LIVE_SCENARIO_TRAFFIC_H

#include <jansson.h>

#include "tools/live/send_queue.h"
#include "tools/sim/game.h"
#include "tools/sim/scenario.h"

struct scenario_traffic;

/* The scenario must outlive the result. */
struct scenario_traffic *scenario_traffic_new(const struct sim_scenario *scenario, enum ue_role role);
void scenario_traffic_free(struct scenario_traffic *traffic);

/* Number of channels that the scenario uses, from SIM_SCENARIO_CHANNEL_FIRST. */
uint32_t scenario_traffic_channel_count(const struct sim_scenario *scenario);

/* Call it once a tick: adds the messages that are due to the send queue; channel_count channels are open. */
void scenario_traffic_tick(struct scenario_traffic *traffic, struct send_queue *queue, uint32_t channel_count);
/* A message of the other side. False: its channel, time or content is not expected. */
bool scenario_traffic_receive(struct scenario_traffic *traffic, const struct ue_event *bunch);

json_t *scenario_traffic_result(const struct scenario_traffic *traffic);
/* The same of a scenario that is a game, which may not have begun (NULL): its calls and values. */
json_t *scenario_traffic_game_result(const struct sim_scenario *scenario, const struct sim_game *game);

/* The names of all scenarios, separated by ", ". Free it with g_free. */
char *scenario_traffic_scenario_names(void);

#endif

/* SPDX-License-Identifier: MIT */
/* One side's part in a scenario of the simulator, on a real connection: sends that side's messages, and compares what
   comes with what the other side has to say. Channels stay open. */
#ifndef UERUDP_TOOLS_LIVE_SCENARIO_TRAFFIC_H
#define UERUDP_TOOLS_LIVE_SCENARIO_TRAFFIC_H

#include <jansson.h>

#include "tools/live/send_queue.h"
#include "tools/sim/scenario.h"

struct ue_streams;

/* The scenario lives as long as this. */
struct ue_streams *ue_streams_new(const struct ue_scenario *scenario, enum ue_role role);
void ue_streams_free(struct ue_streams *streams);

/* Channels that the scenario uses: from UE_SCENARIO_CHANNEL_FIRST, this many. */
uint32_t ue_streams_channels(const struct ue_scenario *scenario);

/* Once a tick: puts into the backlog what is due; channel_count channels are open. */
void ue_streams_work(struct ue_streams *streams, struct ue_backlog *backlog, uint32_t channel_count);
/* A message of the other side; false: it should not have come here, now, or so. */
bool ue_streams_take(struct ue_streams *streams, const struct ue_event *bunch);

json_t *ue_streams_result(const struct ue_streams *streams);

/* The names of all scenarios, separated by ", ". Free it with g_free. */
char *ue_streams_names(void);

#endif

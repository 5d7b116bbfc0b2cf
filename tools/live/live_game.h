/* SPDX-License-Identifier: MIT */
/* One side of a scenario that is a game, on a real connection: its actors, and voice if the scenario has any. */
#ifndef UERUDP_TOOLS_LIVE_LIVE_GAME_H
#define UERUDP_TOOLS_LIVE_LIVE_GAME_H

#include <jansson.h>

#include <uerudp/endpoint.h>
#include "tools/sim/scenario.h"

struct live_game;

/* The scenario with this name. NULL, with a message: there is none, or it is not played with a peer. */
const struct sim_scenario *live_game_find(const char *name);

/* The scenario and the connection must outlive the game. NULL: no memory. */
struct live_game *live_game_new(const struct sim_scenario *scenario, enum ue_role role, struct ue_conn *conn);
void live_game_free(struct live_game *game);

/* Handles an event of the connection; call it for all of them. Returns NULL, or what is wrong. */
const char *live_game_event(struct live_game *game, uint64_t now_ns, const struct ue_event *event);
/* Call it once a tick. is_quiet: nothing new is sent. */
void live_game_tick(struct live_game *game, uint64_t now_ns, bool is_quiet);
/* Whether anything of the other side was received. */
bool live_game_has_received(const struct live_game *game);

/* The numbers of calls, values and voice packets. The game may not have begun (NULL). */
json_t *live_game_result(const struct sim_scenario *scenario, const struct live_game *game);

#endif

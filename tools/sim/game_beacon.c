/* SPDX-License-Identifier: MIT */
/* A beacon's game: its client asks for seats, changes and cancels the request; the host answers each, and replicates
   how many seats are left. */
#include "tools/sim/game_state.h"

#define SEATS 16
#define SESSION "Sim-7"
/* Of the client, from the first tick with the beacon's actor on. */
#define TICKS_OF_ROUND 60
#define TICK_UPDATE 20
#define TICK_CANCEL 40

/* ---- host ---- */

void game_beacon_start(struct game_actor *a) {
    const struct ue_value seats = game_number(UE_VALUE_INT32, SEATS);
    ue_replicated_object_set(a->actor.object, GAME_BEACON_SEATS, &seats);
}

/* A request takes one seat, an update a second one, and a cancellation frees both. */
void game_beacon_work(struct sim_game *game, struct game_actor *a) {
    for (; game->answers != game->requests; game->answers++) {
        uint32_t state = (game->answers + 1) % 3;
        const struct ue_value values[] = {game_number(UE_VALUE_BYTE, state),
                                          game_number(UE_VALUE_INT32, SEATS - state)};
        ue_replicated_object_set(a->actor.object, GAME_BEACON_STATE, &values[0]);
        ue_replicated_object_set(a->actor.object, GAME_BEACON_SEATS, &values[1]);
        const struct ue_value number = game_number(UE_VALUE_INT32, game->answers + 1);
        game_server_call(game, a, NULL, GAME_BEACON_RESPONSE, &number);
    }
}

/* ---- client ---- */

void game_beacon_client_tick(struct sim_game *game, bool is_quiet) {
    const struct ue_received_actor *actor = game_client_find(game, GAME_CLASS_BEACON);
    if (actor == NULL || is_quiet) {
        return;
    }
    game->found_tick = game->found_tick != 0 ? game->found_tick : game->ticks;
    uint64_t tick = game->ticks - game->found_tick;
    uint32_t round = (uint32_t)(tick / TICKS_OF_ROUND) + 1;
    const struct ue_value number = game_number(UE_VALUE_INT32, round);
    const struct ue_value request[] = {game_text(SESSION), number};
    switch (tick % TICKS_OF_ROUND) {
    case 0: game_client_call(game, actor, GAME_BEACON_REQUEST, request); break;
    case TICK_UPDATE: game_client_call(game, actor, GAME_BEACON_UPDATE, request); break;
    case TICK_CANCEL: game_client_call(game, actor, GAME_BEACON_CANCEL, &number); break;
    default: break;
    }
}

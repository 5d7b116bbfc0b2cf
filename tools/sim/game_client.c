/* SPDX-License-Identifier: MIT */
/* The client of the simulated game: it moves each tick, and fires. */
#include "tools/sim/game_state.h"

const struct ue_received_actor *game_client_find(const struct sim_game *game, enum game_class kind) {
    const struct ue_received_actor *actor = game->received_actors.actors;
    while (actor != NULL && actor->objects->layout != game_class(kind)) {
        actor = actor->next;
    }
    return actor;
}

void game_client_call(struct sim_game *game, const struct ue_received_actor *actor, enum game_function id,
                      const struct ue_value *parameters) {
    if (ue_received_actors_call(&game->received_actors, game->now_ns, actor, actor->objects->guid, game_function(id),
                                parameters) == UE_OK) {
        game_call_sent(game, actor->objects->guid, actor->channel, actor->objects->layout, id, parameters);
    }
}

static uint64_t any_ship(struct sim_game *game) {
    for (const struct ue_received_actor *a = game->received_actors.actors; a != NULL; a = a->next) {
        if (a->objects->layout == game_class(GAME_CLASS_SHIP) && sim_rng_below(&game->rng, 4) == 0) {
            return a->objects->guid;
        }
    }
    return 0;
}

void game_client_tick(struct sim_game *game, bool is_quiet) {
    const struct ue_received_actor *pilot = game_client_find(game, GAME_CLASS_PILOT);
    if (pilot == NULL || is_quiet) {
        return;
    }
    int32_t time = (int32_t)game->ticks;
    const struct ue_value move[] = {
        game_number(UE_VALUE_INT32, (uint32_t)time), game_vector(game, time * 7 % 60000, -time * 3 % 40000, 885),
        game_turn((uint16_t)(time * 64), (uint16_t)(time * 128)), game_number(UE_VALUE_BYTE, (uint32_t)time & 3)};
    game_client_call(game, pilot, GAME_SERVER_MOVE, move);
    if (game->ticks % game->cast.fire_ticks == 0) {
        const struct ue_value fire[] = {game_number(UE_VALUE_INT32, (uint32_t)++game->shots),
                                        game_reference(any_ship(game)),
                                        game_number(UE_VALUE_BOOL, (uint32_t)sim_rng_below(&game->rng, 2))};
        game_client_call(game, pilot, GAME_SERVER_FIRE, fire);
    }
}

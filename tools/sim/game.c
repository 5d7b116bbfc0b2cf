/* SPDX-License-Identifier: MIT */
#include "tools/sim/game.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/sim/game_state.h"

static uint32_t ticks_or(uint32_t wanted, uint32_t usual) {
    return wanted != 0 ? wanted : usual;
}

static struct sim_game_cast cast_of(const struct sim_game_cast *wanted) {
    struct sim_game_cast cast = *wanted;
    if (cast.ships + cast.crates + cast.lamps == 0) {
        cast.ships = SIM_GAME_SHIPS_MAX;
        cast.crates = SIM_GAME_CRATES_MAX;
        cast.lamps = SIM_GAME_LAMPS_MAX;
    }
    cast.crate_ticks = ticks_or(cast.crate_ticks, 300);
    cast.hit_ticks = ticks_or(cast.hit_ticks, 3);
    cast.news_ticks = ticks_or(cast.news_ticks, 150);
    cast.horn_ticks = ticks_or(cast.horn_ticks, 120);
    cast.fire_ticks = ticks_or(cast.fire_ticks, 20);
    return cast;
}

/* A replay has the names of its objects outside of its packets. */
static bool client_init(struct sim_game *game) {
    const struct ue_call_handler handler = {game_call_received, game};
    return ue_received_actors_init(&game->received_actors, game->conn, NULL, game_class_find, &handler) &&
           (game->driver != UE_DRIVER_DEMO ||
            (game_names_add(game) && ue_received_actors_learn(&game->received_actors, &game->map) == UE_OK));
}

struct sim_game *sim_game_new(struct ue_conn *conn, const struct sim_game_config *config, sim_game_watch *watch,
                              void *user) {
    struct sim_game *game = calloc(1, sizeof *game);
    if (game == NULL) {
        return NULL;
    }
    game->conn = conn;
    game->driver = config->driver;
    game->role = config->role;
    game->cast = cast_of(&config->cast);
    game->rng.state = sim_rng_mix(config->seed, (uint64_t)config->role);
    game->watch = watch;
    game->user = user;
    ue_package_map_init(&game->map, NULL, ue_conn_context(conn));
    if (!(game->role == UE_ROLE_SERVER ? game_server_init : client_init)(game)) {
        sim_game_free(game);
        return NULL;
    }
    return game;
}

void sim_game_free(struct sim_game *game) {
    if (game == NULL) {
        return;
    }
    if (game->role == UE_ROLE_SERVER) {
        game_server_free(game);
    } else {
        ue_received_actors_free(&game->received_actors);
    }
    ue_package_map_free(&game->map);
    free(game);
}

void sim_game_set_peer(struct sim_game *game, struct sim_game *peer) {
    game->peer = peer;
}

static enum ue_status handle_event(struct sim_game *game, const struct ue_event *event) {
    const struct ue_call_handler handler = {game_call_received, game};
    if (game->role == UE_ROLE_CLIENT) {
        return ue_received_actors_event(&game->received_actors, event);
    }
    ue_replicator_event(&game->replicator, event);
    bool is_bunch = event->type == UE_EVENT_BUNCH && event->kind == UE_KIND_ACTOR;
    return is_bunch ? ue_replicator_read(&game->replicator, event, &handler) : UE_OK;
}

const char *sim_game_event(struct sim_game *game, uint64_t now_ns, const struct ue_event *event) {
    game->now_ns = now_ns;
    enum ue_status status = handle_event(game, event);
    game->counts.faults += status != UE_OK;
    if (status != UE_OK && game->problem[0] == '\0') {
        snprintf(game->problem, sizeof game->problem, "a message of channel %" PRIu32 " is not the game's: %s",
                 event->channel, ue_status_text(status));
    }
    return game->problem[0] != '\0' ? game->problem : NULL;
}

void sim_game_tick(struct sim_game *game, uint64_t now_ns, bool is_quiet) {
    game->now_ns = now_ns;
    if (game->role == UE_ROLE_CLIENT && game->driver != UE_DRIVER_DEMO) {
        (game->driver == UE_DRIVER_BEACON ? game_beacon_client_tick : game_client_tick)(game, is_quiet);
    } else if (game->role == UE_ROLE_SERVER) {
        game_server_tick(game, is_quiet);
    }
    game->ticks++;
}

bool sim_game_is_acked(const struct ue_conn *conn) {
    for (uint32_t channel = 0; channel <= SIM_GAME_CHANNELS_MAX; channel++) {
        if (ue_conn_unacked(conn, channel) != 0) {
            return false;
        }
    }
    return true;
}

struct sim_game_counts sim_game_counts(const struct sim_game *game) {
    struct sim_game_counts counts = game->counts;
    counts.values_received = game->role == UE_ROLE_CLIENT ? game->received_actors.properties : 0;
    return counts;
}

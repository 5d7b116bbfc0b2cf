/* SPDX-License-Identifier: MIT */
#include "tools/sim/game.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/sim/game_state.h"

struct sim_game *sim_game_new(struct ue_conn *conn, enum ue_driver driver, enum ue_role role, uint64_t seed,
                              sim_game_watch *watch, void *user) {
    struct sim_game *game = calloc(1, sizeof *game);
    if (game == NULL) {
        return NULL;
    }
    game->conn = conn;
    game->driver = driver;
    game->role = role;
    game->rng.state = sim_rng_mix(seed, (uint64_t)role);
    game->watch = watch;
    game->user = user;
    const struct ue_call_handler handler = {game_call_received, game};
    bool good = role == UE_ROLE_SERVER ? game_server_init(game)
                                       : ue_mirror_init(&game->mirror, conn, NULL, game_class_find, &handler);
    if (!good) {
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
        ue_mirror_free(&game->mirror);
    }
    free(game);
}

void sim_game_set_peer(struct sim_game *game, struct sim_game *peer) {
    game->peer = peer;
}

static enum ue_status handle_event(struct sim_game *game, const struct ue_event *event) {
    const struct ue_call_handler handler = {game_call_received, game};
    if (game->role == UE_ROLE_CLIENT) {
        return ue_mirror_event(&game->mirror, event);
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
    if (game->role == UE_ROLE_CLIENT) {
        (game->driver == UE_DRIVER_BEACON ? game_beacon_client_tick : game_client_tick)(game, is_quiet);
    } else {
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
    counts.values_received = game->role == UE_ROLE_CLIENT ? game->mirror.properties : 0;
    return counts;
}

/* SPDX-License-Identifier: MIT */
#include "tools/live/live_game.h"

#include <glib.h>

#include "tools/cli/command_line.h"
#include "tools/live/voice_channel.h"

struct live_game {
    const struct sim_scenario *scenario;
    struct sim_game *actors;
    struct voice_channel voice;
};

/* A replay is recorded into a file, and has no peer. */
static bool is_playable(const struct sim_scenario *scenario) {
    return scenario->game && scenario->driver != UE_DRIVER_DEMO;
}

static char *playable_names(void) {
    GString *names = g_string_new(NULL);
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        if (is_playable(scenario)) {
            g_string_append_printf(names, "%s%s", names->len != 0 ? ", " : "", scenario->name);
        }
    }
    return g_string_free(names, FALSE);
}

const struct sim_scenario *live_game_find(const char *name) {
    const struct sim_scenario *scenario = sim_scenario_find(name);
    if (scenario != NULL && is_playable(scenario)) {
        return scenario;
    }
    g_autofree char *names = playable_names();
    cli_error("--scenario=%s: %s; use one of %s", name,
              scenario == NULL                     ? "no such scenario"
              : scenario->driver == UE_DRIVER_DEMO ? "a replay is recorded into a file, not played with a peer"
                                                   : "its messages are for measurements of the simulator, not a game",
              names);
    return NULL;
}

struct live_game *live_game_new(const struct sim_scenario *scenario, enum ue_role role, struct ue_conn *conn) {
    const struct sim_game_config config = sim_scenario_game(scenario, role);
    struct sim_game *actors = sim_game_new(conn, &config, NULL, NULL);
    if (actors == NULL) {
        return NULL;
    }
    struct live_game *game = g_new0(struct live_game, 1);
    game->scenario = scenario;
    game->actors = actors;
    voice_channel_init(&game->voice, scenario, role, conn);
    return game;
}

void live_game_free(struct live_game *game) {
    if (game != NULL) {
        sim_game_free(game->actors);
        voice_channel_clear(&game->voice);
        g_free(game);
    }
}

const char *live_game_event(struct live_game *game, uint64_t now_ns, const struct ue_event *event) {
    const char *problem = sim_game_event(game->actors, now_ns, event);
    return voice_channel_event(&game->voice, event) || problem != NULL ? problem : "not the voice of the scenario";
}

void live_game_tick(struct live_game *game, uint64_t now_ns, bool is_quiet) {
    voice_channel_tick(&game->voice, now_ns, is_quiet);
    sim_game_tick(game->actors, now_ns, is_quiet);
}

static uint64_t received(const struct live_game *game, const struct sim_game_counts *counts) {
    return counts->calls_received[0] + counts->calls_received[1] + counts->values_received + game->voice.received;
}

bool live_game_has_received(const struct live_game *game) {
    const struct sim_game_counts counts = sim_game_counts(game->actors);
    return received(game, &counts) != 0;
}

json_t *live_game_result(const struct sim_scenario *scenario, const struct live_game *game) {
    static const struct live_game none;
    struct sim_game_counts counts = {0};
    if (game != NULL) {
        counts = sim_game_counts(game->actors);
    } else {
        game = &none;
    }
    uint64_t sent = counts.calls_sent[0] + counts.calls_sent[1] + counts.values_sent + game->voice.sent;
    uint64_t wrong = counts.faults + game->voice.wrong;
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "scenario", scenario->name, "sent", (json_int_t)sent, "received",
                     (json_int_t)received(game, &counts), "wrong", (json_int_t)wrong, "left_out",
                     (json_int_t)game->voice.left_out);
}

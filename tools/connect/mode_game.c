/* SPDX-License-Identifier: MIT */
/* connect --scenario: plays the client's side of a scenario that is a game with a server that plays the other side. */
#include "tools/connect/mode.h"
#include "tools/live/live_game.h"
#include "tools/sim/game.h"

struct game_mode {
    struct connect_mode mode;
    const struct sim_scenario *scenario;
    struct live_game *game; /* NULL before the first event */
    bool is_asked;          /* --scenario; a server that was not asked to play it may be any game's */
};

static void tick(struct connect_mode *mode, uint64_t now_ns) {
    struct game_mode *g = (struct game_mode *)mode;
    bool is_over = now_ns - mode->start_ns >= g->scenario->duration_ns;
    if (g->game != NULL) {
        live_game_tick(g->game, now_ns, is_over);
    }
    if (is_over && g->is_asked && (g->game == NULL || !live_game_has_received(g->game))) {
        connect_mode_fail(mode, "nothing of the game was received (does the server run the scenario?)");
    } else if (is_over && sim_game_is_acked(mode->conn)) {
        mode->state = CONNECT_MODE_DONE;
    }
}

static void handle_event(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *event) {
    struct game_mode *g = (struct game_mode *)mode;
    if (g->game == NULL) {
        g->game = live_game_new(g->scenario, UE_ROLE_CLIENT, mode->conn);
    }
    const char *problem = g->game != NULL ? live_game_event(g->game, now_ns, event) : "no memory";
    if (problem != NULL) {
        connect_mode_fail(mode, "%s (does the server run the scenario?)", problem);
    }
}

static json_t *result(const struct connect_mode *mode) {
    const struct game_mode *g = (const struct game_mode *)mode;
    return live_game_result(g->scenario, g->game);
}

static void clear(struct connect_mode *mode) {
    live_game_free(((struct game_mode *)mode)->game);
}

struct connect_mode *connect_mode_game_new(const struct connect_mode_options *options) {
    static const struct connect_mode_type kind = {
        .name = "scenario", .handle_event = handle_event, .tick = tick, .result = result, .clear = clear};
    struct game_mode *g = g_new0(struct game_mode, 1);
    g->mode.kind = &kind;
    g->scenario = options->scenario;
    g->is_asked = options->is_scenario_asked;
    return &g->mode;
}

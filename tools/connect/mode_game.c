/* SPDX-License-Identifier: MIT */
/* connect --scenario game: plays the client's side of the simulated game with a server that plays the other side. */
#include "tools/connect/mode.h"
#include "tools/live/scenario_traffic.h"
#include "tools/sim/game.h"

struct game_mode {
    struct connect_mode mode;
    const struct sim_scenario *scenario;
    struct sim_game *game; /* NULL before the first event */
    bool is_asked;         /* --scenario; a server that was not asked to play it may be any game's */
};

static bool has_received(const struct game_mode *g) {
    struct sim_game_counts counts = {0};
    if (g->game != NULL) {
        counts = sim_game_counts(g->game);
    }
    return counts.calls_received[0] + counts.calls_received[1] + counts.values_received != 0;
}

static void tick(struct connect_mode *mode, uint64_t now_ns) {
    struct game_mode *g = (struct game_mode *)mode;
    bool is_over = now_ns - mode->start_ns >= g->scenario->duration_ns;
    if (g->game != NULL) {
        sim_game_tick(g->game, now_ns, is_over);
    }
    if (is_over && g->is_asked && !has_received(g)) {
        connect_mode_fail(mode, "nothing of the game was received (does the server run the scenario?)");
    } else if (is_over && sim_game_is_acked(mode->conn)) {
        mode->state = CONNECT_MODE_DONE;
    }
}

static void handle_event(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *event) {
    struct game_mode *g = (struct game_mode *)mode;
    if (g->game == NULL) {
        const struct sim_game_config config = sim_scenario_game(g->scenario, UE_ROLE_CLIENT);
        g->game = sim_game_new(mode->conn, &config, NULL, NULL);
    }
    const char *problem = g->game != NULL ? sim_game_event(g->game, now_ns, event) : "no memory";
    if (problem != NULL) {
        connect_mode_fail(mode, "%s (does the server run the scenario?)", problem);
    }
}

static json_t *result(const struct connect_mode *mode) {
    const struct game_mode *g = (const struct game_mode *)mode;
    return scenario_traffic_game_result(g->scenario, g->game);
}

static void clear(struct connect_mode *mode) {
    sim_game_free(((struct game_mode *)mode)->game);
}

struct connect_mode *connect_mode_game_new(const struct sim_scenario *scenario, bool is_asked) {
    static const struct connect_mode_type kind = {
        .name = "scenario", .handle_event = handle_event, .tick = tick, .result = result, .clear = clear};
    struct game_mode *g = g_new0(struct game_mode, 1);
    g->mode.kind = &kind;
    g->scenario = scenario;
    g->is_asked = is_asked;
    return &g->mode;
}

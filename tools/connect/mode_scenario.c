/* SPDX-License-Identifier: MIT */
/* connect --scenario: sends the client's side of a scenario to a server that plays the other side. */
#include "tools/cli/command_line.h"
#include "tools/connect/mode.h"
#include "tools/live/scenario_traffic.h"

struct scenario_mode {
    struct connect_mode mode;
    const struct sim_scenario *scenario;
    struct scenario_traffic *traffic;
};

static bool is_acked(const struct scenario_mode *s) {
    for (uint32_t i = 0; i < scenario_traffic_channel_count(s->scenario); i++) {
        if (ue_conn_unacked(s->mode.conn, SIM_SCENARIO_CHANNEL_FIRST + i) != 0) {
            return false;
        }
    }
    return send_queue_is_empty(&s->mode.queue);
}

static void tick(struct connect_mode *mode, uint64_t now_ns) {
    struct scenario_mode *s = (struct scenario_mode *)mode;
    if (now_ns - mode->start_ns < s->scenario->duration_ns) {
        scenario_traffic_tick(s->traffic, &mode->queue, mode->opened_count);
    } else if (is_acked(s)) {
        mode->state = CONNECT_MODE_DONE;
    }
}

static void receive(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *bunch) {
    struct scenario_mode *s = (struct scenario_mode *)mode;
    (void)now_ns;
    if (!scenario_traffic_receive(s->traffic, bunch)) {
        connect_mode_fail(mode, "channel %u: not the next message of the scenario (does the server run it?)",
                          bunch->channel);
    }
}

static json_t *result(const struct connect_mode *mode) {
    return scenario_traffic_result(((const struct scenario_mode *)mode)->traffic);
}

static void clear(struct connect_mode *mode) {
    scenario_traffic_free(((struct scenario_mode *)mode)->traffic);
}

struct connect_mode *connect_mode_scenario_new(const struct connect_mode_options *options) {
    static const struct connect_mode_type kind = {
        .name = "scenario", .receive = receive, .tick = tick, .result = result, .clear = clear};
    const struct sim_scenario *scenario = sim_scenario_find(options->scenario);
    if (scenario == NULL) {
        g_autofree char *names = scenario_traffic_scenario_names();
        cli_error("--scenario=%s: no such scenario; use one of %s", options->scenario, names);
        return NULL;
    }
    if (scenario->game) {
        return connect_mode_game_new(scenario, options->is_scenario_asked);
    }
    struct scenario_mode *s = g_new0(struct scenario_mode, 1);
    s->mode.kind = &kind;
    s->scenario = scenario;
    s->traffic = scenario_traffic_new(scenario, UE_ROLE_CLIENT);
    return &s->mode;
}

/* SPDX-License-Identifier: MIT */
#include "tools/sim/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <uerudp/time_ns.h>

#include "tools/sim/rng.h"

#define TICK_HZ 60
#define RELEASE "5.5"
#define PATIENCE_NS (5 * UE_NS_PER_S)
#define PATIENCE_ROUNDS 10
#define SALT_KEY 8

const struct ue_profile *sim_scenario_profile(const struct sim_scenario *scenario, enum ue_role side) {
    const char *release = scenario->sides[side].release;
    return ue_profile_find(release != NULL ? release : RELEASE);
}

uint64_t sim_scenario_tick_ns(const struct sim_scenario *scenario, enum ue_role side) {
    double hz = scenario->sides[side].tick_hz;
    return (uint64_t)(UE_NS_PER_S / (hz > 0 ? hz : TICK_HZ));
}

static uint64_t delay_ns(const struct sim_link_config *config, uint64_t tick_ns) {
    uint64_t aside_ns = config->reorder > 0 ? SIM_LINK_REORDER_TIMEOUT_NS : 0;
    return config->delay_ns + config->jitter_ns + config->bloat_ns + config->frame_delay_ticks * tick_ns + aside_ns;
}

uint64_t sim_scenario_rtt_ns(const struct sim_scenario *scenario) {
    uint64_t sum_ns = 0;
    for (enum ue_role side = UE_ROLE_CLIENT; side <= UE_ROLE_SERVER; side++) {
        const struct sim_emulation *emulation = &scenario->sides[side].emulation;
        uint64_t tick_ns = sim_scenario_tick_ns(scenario, side);
        sum_ns += delay_ns(&scenario->paths[side], tick_ns) + delay_ns(&emulation->outgoing, tick_ns) +
                  delay_ns(&emulation->incoming, tick_ns) + 2 * tick_ns;
    }
    return sum_ns;
}

uint64_t sim_scenario_delivery_timeout_ns(const struct sim_scenario *scenario) {
    return scenario->delivery_timeout_ns != 0 ? scenario->delivery_timeout_ns
                                              : PATIENCE_NS + PATIENCE_ROUNDS * sim_scenario_rtt_ns(scenario);
}

struct sim_game_config sim_scenario_game(const struct sim_scenario *scenario, enum ue_role side) {
    return (struct sim_game_config){scenario->driver, side, scenario->cast, scenario->seed};
}

const struct sim_stream *sim_scenario_stream(const struct sim_scenario *scenario, enum ue_role from, uint32_t channel,
                                             bool reliable) {
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &scenario->streams[i];
        uint32_t channels = stream->channels != 0 ? stream->channels : 1;
        if (stream->every_ticks != 0 && stream->from == from && stream->reliable == reliable &&
            channel - stream->channel < channels) {
            return stream;
        }
    }
    return NULL;
}

bool sim_scenario_has_voice(const struct sim_scenario *scenario) {
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        if (scenario->streams[i].every_ticks != 0 && scenario->streams[i].is_voice) {
            return true;
        }
    }
    return false;
}

static uint32_t count_talkers(const struct sim_scenario *scenario, enum ue_role from) {
    uint32_t count = 0;
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &scenario->streams[i];
        if (stream->every_ticks != 0 && stream->is_voice && stream->from == from) {
            uint32_t talkers = stream->talkers != 0 ? stream->talkers : 1;
            count = talkers > count ? talkers : count;
        }
    }
    return count;
}

uint32_t sim_scenario_first_talker(const struct sim_scenario *scenario, enum ue_role from) {
    return from == UE_ROLE_CLIENT ? 0 : count_talkers(scenario, UE_ROLE_CLIENT);
}

void sim_scenario_key(const struct sim_scenario *scenario, uint8_t *key) {
    struct sim_rng rng = {sim_rng_mix(scenario->seed, SALT_KEY)};
    for (size_t i = 0; i < UE_KEY_BYTES; i++) {
        key[i] = (uint8_t)sim_rng_next(&rng);
    }
}

void sim_scenario_token(const struct sim_scenario *scenario, char token[SIM_SCENARIO_TOKEN_BYTES]) {
    snprintf(token, SIM_SCENARIO_TOKEN_BYTES, "sim-%016" PRIx64, scenario->seed);
}

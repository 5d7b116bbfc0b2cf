/* SPDX-License-Identifier: MIT */
/* The voice channel of one side of a scenario, on a real connection. The server opens it; each side's talkers talk in
   spurts, and what the other side's talkers said is compared with the scenario. */
#ifndef UERUDP_TOOLS_LIVE_VOICE_CHANNEL_H
#define UERUDP_TOOLS_LIVE_VOICE_CHANNEL_H

#include <uerudp/endpoint.h>
#include "tools/sim/scenario.h"

struct voice_channel {
    const struct sim_scenario *scenario;
    enum ue_role role;
    struct ue_conn *conn;
    bool is_open;
    uint64_t ticks;
    uint64_t number; /* of the next packet */
    uint64_t sent, received, wrong;
    uint64_t left_out; /* while the connection exceeds its bandwidth */
    uint8_t *value;    /* room for the largest value */
    uint8_t *packet;   /* and for its packet */
};

void voice_channel_init(struct voice_channel *voice, const struct sim_scenario *scenario, enum ue_role role,
                        struct ue_conn *conn);
void voice_channel_clear(struct voice_channel *voice);

/* Handles an event of the connection. False: a bunch of the voice channel is not the scenario's. */
bool voice_channel_event(struct voice_channel *voice, const struct ue_event *event);
/* Call it once a tick. is_quiet: nobody talks. */
void voice_channel_tick(struct voice_channel *voice, uint64_t now_ns, bool is_quiet);

#endif

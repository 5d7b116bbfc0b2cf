/* SPDX-License-Identifier: MIT */
/* A simulated endpoint: an endpoint with a program around it that opens channels, sends the streams of the scenario and
   reports what it receives to the checker. */
#ifndef UERUDP_TOOLS_SIM_SIMULATED_ENDPOINT_H
#define UERUDP_TOOLS_SIM_SIMULATED_ENDPOINT_H

#include <uerudp/server.h>
#include <uerudp/endpoint.h>
#include "tools/sim/checker.h"
#include "tools/sim/game.h"
#include "tools/sim/link.h"
#include "tools/sim/rng.h"
#include "tools/sim/sim.h"

enum sim_channel_state { SIM_CHANNEL_FREE, SIM_CHANNEL_OPEN, SIM_CHANNEL_CLOSING };

struct sim_endpoint_stream {
    uint32_t turn;
    uint64_t sent;
};

struct sim_endpoint {
    const struct sim_scenario *scenario;
    const struct sim_callbacks *watch;
    struct sim_checker *checker;
    uint64_t *transcript;
    const uint32_t *client_address; /* the client's current address */
    uint32_t peer_address;          /* server: the client's address as far as it knows */
    enum ue_role role;
    struct ue_listener *listener; /* server that waits for a handshake */
    struct ue_conn *conn;         /* NULL: not accepted yet */
    struct ue_login *login;       /* where has_login */
    bool has_login;
    struct sim_game *game; /* NULL: not connected yet, or the scenario has none */
    struct ue_conn_config config;
    uint8_t seed[UE_SEED_BYTES];
    uint8_t key[UE_KEY_BYTES]; /* and its name: where the scenario encrypts */
    char token[SIM_SCENARIO_TOKEN_BYTES];
    struct sim_link *in;
    struct sim_link *out;
    uint64_t start_ns;
    uint64_t ticks;
    uint32_t buffer_bunches; /* reliable bunches that fit into a channel's buffer */
    bool may_send_streams;   /* streams may be sent */
    bool is_silent;          /* sends no new messages */
    uint32_t talker;         /* of the voice packets that it sends now */
    struct sim_endpoint_stream streams[SIM_SCENARIO_STREAMS_MAX];
    uint8_t channels[SIM_SCENARIO_CHANNELS_MAX]; /* enum sim_channel_state */
    bool has_opened;                             /* all channels are open: none was freed since they were opened */
    uint32_t since_open[SIM_SCENARIO_CHANNELS_MAX];
    uint8_t *message;     /* room for the largest message */
    uint8_t *voice_bytes; /* room for the largest voice packet */
};

/* False: no memory, or the endpoint refuses its configuration. Everything that is passed in, and in and out, must
   outlive the simulated endpoint. */
bool sim_endpoint_init(struct sim_endpoint *endpoint, const struct sim_scenario *scenario, enum ue_role role,
                       struct sim_checker *checker);
void sim_endpoint_free(struct sim_endpoint *endpoint);
/* Starts connected or with the handshake, as the scenario says. */
void sim_endpoint_start(struct sim_endpoint *endpoint);

uint64_t sim_endpoint_next_ns(const struct sim_endpoint *endpoint);
/* Receives, sends and ticks the connection. */
void sim_endpoint_tick(struct sim_endpoint *endpoint, uint64_t now_ns);
/* Whether messages are compared with what was sent. */
static inline bool sim_endpoint_is_checked(const struct sim_endpoint *endpoint) {
    return !endpoint->scenario->hostile && !endpoint->scenario->unchecked;
}
/* Closes the connection with the close reason of its role. */
void sim_endpoint_close(struct sim_endpoint *endpoint, uint64_t now_ns);
bool sim_endpoint_is_closed(const struct sim_endpoint *endpoint);
/* Whether all reliable bunches that it sent on the scenario's channels and the control channel are acknowledged. */
bool sim_endpoint_is_acked(const struct sim_endpoint *endpoint);
/* Whether every stream of this side has a total and has reached it. A game never ends. */
bool sim_endpoint_is_done(const struct sim_endpoint *endpoint);

#endif

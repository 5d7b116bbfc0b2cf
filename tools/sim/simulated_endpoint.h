/* SPDX-License-Identifier: MIT */
/* One end of a run: an endpoint with the program around it, which opens channels, says what the streams of the
   scenario ask for, and hands to the checker what it hears. */
#ifndef UERUDP_TOOLS_SIM_SIMULATED_ENDPOINT_H
#define UERUDP_TOOLS_SIM_SIMULATED_ENDPOINT_H

#include <uerudp/listener.h>
#include <uerudp/login.h>
#include "tools/sim/checker.h"
#include "tools/sim/encryption_secret.h"
#include "tools/sim/link.h"
#include "tools/sim/rng.h"
#include "tools/sim/sim.h"

enum sim_channel_state { SIM_CHANNEL_FREE, SIM_CHANNEL_OPEN, SIM_CHANNEL_CLOSING };

struct sim_endpoint_stream {
    uint32_t turn;
    uint64_t said;
};

struct sim_endpoint {
    const struct sim_scenario *scenario;
    const struct sim_callbacks *watch;
    struct sim_checker *checker;
    uint64_t *transcript;
    const uint32_t *client_address; /* where the client is now */
    uint32_t peer_address;          /* server: where it believes the client to be */
    enum ue_role role;
    void *region;
    struct ue_pool *pool;
    struct ue_listener *listener; /* server that waits for a handshake */
    struct ue_conn *conn;         /* NULL: not yet accepted */
    struct ue_login login;        /* where the scenario has one */
    bool has_login;
    struct ue_conn_config config;
    uint8_t seed[UE_SEED_BYTES];
    uint8_t key[UE_KEY_BYTES]; /* and its name: where the scenario encrypts */
    char token[SIM_SECRET_TOKEN_BYTES];
    struct sim_link *in;
    struct sim_link *out;
    uint64_t begin_ns;
    uint64_t ticks;
    uint32_t buffer_bunches; /* reliable ones that a channel takes */
    bool is_serving;         /* what the streams say may be said */
    bool is_silent;          /* says nothing new */
    struct sim_endpoint_stream streams[SIM_SCENARIO_STREAMS_MAX];
    uint8_t channels[SIM_SCENARIO_CHANNELS_MAX]; /* enum sim_channel_state */
    bool has_opened;                            /* none was free since its channels were opened last */
    uint32_t since_open[SIM_SCENARIO_CHANNELS_MAX];
    uint8_t *message; /* room for the largest */
    uint8_t *framed;  /* and with what stands around it in an actor's bunch */
};

/* False: no memory, or the endpoint refuses its configuration. in and out, like all else given, must outlive the end.
 */
bool sim_endpoint_init(struct sim_endpoint *end, const struct sim_scenario *scenario, enum ue_role role, struct sim_checker *checker);
void sim_endpoint_free(struct sim_endpoint *end);
/* Begins: connected, or with the handshake. */
void sim_endpoint_start(struct sim_endpoint *end);

uint64_t sim_endpoint_next_ns(const struct sim_endpoint *end);
/* Reads, speaks, ticks and sends. */
void sim_endpoint_tick(struct sim_endpoint *end, uint64_t now_ns);
/* Whether what it says and hears is compared. */
static inline bool sim_endpoint_is_checked(const struct sim_endpoint *end) {
    return !end->scenario->hostile && !end->scenario->unchecked;
}
/* Leaves, for the reason of its role. */
void sim_endpoint_close(struct sim_endpoint *end, uint64_t now_ns);
bool sim_endpoint_is_closed(const struct sim_endpoint *end);
/* Whether all reliable bunches that it sent on the control channel and those of the scenario are acknowledged. */
bool sim_endpoint_is_acked(const struct sim_endpoint *end);
/* Whether every stream of this end has a total, and has said it. */
bool sim_endpoint_is_done(const struct sim_endpoint *end);

#endif

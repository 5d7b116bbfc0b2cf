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

enum ue_end_channel { UE_END_FREE, UE_END_OPEN, UE_END_CLOSING };

struct ue_end_stream {
    uint32_t turn;
    uint64_t said;
};

struct ue_end {
    const struct ue_scenario *scenario;
    const struct ue_sim_watch *watch;
    struct ue_checker *checker;
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
    char token[UE_SECRET_TOKEN_BYTES];
    struct ue_link *in;
    struct ue_link *out;
    uint64_t begin_ns;
    uint64_t ticks;
    uint32_t buffer_bunches; /* reliable ones that a channel takes */
    bool is_serving;         /* what the streams say may be said */
    bool is_silent;          /* says nothing new */
    struct ue_end_stream streams[UE_SCENARIO_STREAMS_MAX];
    uint8_t channels[UE_SCENARIO_CHANNELS_MAX]; /* enum ue_end_channel */
    bool has_opened;                            /* none was free since its channels were opened last */
    uint32_t since_open[UE_SCENARIO_CHANNELS_MAX];
    uint8_t *message; /* room for the largest */
    uint8_t *framed;  /* and with what stands around it in an actor's bunch */
};

/* False: no memory, or the endpoint refuses its configuration. in and out, like all else given, must outlive the end.
 */
bool ue_end_init(struct ue_end *end, const struct ue_scenario *scenario, enum ue_role role, struct ue_checker *checker);
void ue_end_free(struct ue_end *end);
/* Begins: connected, or with the handshake. */
void ue_end_start(struct ue_end *end);

uint64_t ue_end_next_ns(const struct ue_end *end);
/* Reads, speaks, ticks and sends. */
void ue_end_tick(struct ue_end *end, uint64_t now_ns);
/* Whether what it says and hears is compared. */
static inline bool ue_end_is_checked(const struct ue_end *end) {
    return !end->scenario->hostile && !end->scenario->unchecked;
}
/* Leaves, for the reason of its role. */
void ue_end_leave(struct ue_end *end, uint64_t now_ns);
bool ue_end_is_closed(const struct ue_end *end);
/* Whether all reliable bunches that it sent on the control channel and those of the scenario are acknowledged. */
bool ue_end_is_acked(const struct ue_end *end);
/* Whether every stream of this end has a total, and has said it. */
bool ue_end_is_done(const struct ue_end *end);

#endif

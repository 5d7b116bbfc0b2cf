/* SPDX-License-Identifier: MIT */
/* Private to the game: its state, and the values of calls. */
#ifndef UERUDP_TOOLS_SIM_GAME_STATE_H
#define UERUDP_TOOLS_SIM_GAME_STATE_H

#include "tools/endpoint/replication/received_actors.h"
#include "tools/endpoint/replication/package_map.h"
#include "tools/endpoint/replication/replicated_object.h"
#include "tools/endpoint/replication/replication.h"
#include "tools/sim/game.h"
#include "tools/sim/game_classes.h"
#include "tools/sim/rng.h"

#define GAME_ACTORS_MAX (1 + SIM_GAME_SHIPS_MAX + SIM_GAME_CRATES_MAX + SIM_GAME_LAMPS_MAX)
#define GAME_CALLS_MAX 1024 /* reliable ones on their way, or lost with their actor */

struct game_actor {
    enum game_class kind;
    uint32_t index; /* among those of its kind */
    struct ue_replicated_actor actor;
    bool is_leaving;      /* its channel closes */
    bool returns;         /* as the same actor */
    uint64_t return_tick; /* when it comes back */
};

/* A reliable call that was sent. */
struct game_call {
    uint64_t guid;
    uint64_t hash;
};

struct sim_game {
    struct ue_conn *conn;
    enum ue_driver driver;
    enum ue_role role;
    struct sim_game_cast cast;
    struct sim_rng rng;
    sim_game_watch *watch;
    void *user;
    struct sim_game *peer;
    uint64_t ticks;
    uint64_t now_ns;
    struct sim_game_counts counts;
    char problem[SIM_GAME_PROBLEM_CHARS];

    struct game_call calls[GAME_CALLS_MAX]; /* that the peer has not received, oldest first */
    uint32_t call_count;

    struct ue_package_map map; /* of the server, and of the client of a replay */

    struct ue_replicator replicator; /* server */
    struct game_actor actors[GAME_ACTORS_MAX];
    uint32_t actor_count;
    uint64_t next_guid;
    uint32_t closings;
    uint32_t requests; /* that a beacon's host received, and of these answered */
    uint32_t answers;

    struct ue_received_actors received_actors; /* client */
    int32_t shots;
    uint64_t found_tick; /* when a beacon's actor was first there; 0: not yet */
};

/* Values of parameters and properties. */
struct ue_value game_number(enum ue_value_type type, uint32_t number);
struct ue_value game_real(float real);
struct ue_value game_text(const char *text); /* points to the text */
struct ue_value game_reference(uint64_t guid);
struct ue_value game_vector(const struct sim_game *game, int32_t x, int32_t y, int32_t z); /* in tenths */
struct ue_value game_turn(uint16_t pitch, uint16_t yaw);

/* A call was sent or received: reports it, and compares it with the peer's. */
void game_call_sent(struct sim_game *game, uint64_t guid, uint32_t channel, const struct ue_class *layout,
                    enum game_function id, const struct ue_value *parameters);
void game_call_received(void *user, const struct ue_received_call *call);
/* Calls the client, if there is room for the largest call; target NULL: the actor. */
void game_server_call(struct sim_game *game, const struct game_actor *a, const struct ue_replicated_object *target,
                      enum game_function id, const struct ue_value *parameters);

/* game_names.c: adds the names of the game's objects to the map. */
bool game_names_add(struct sim_game *game);

/* game_server.c */
bool game_server_init(struct sim_game *game);
void game_server_free(struct sim_game *game);
void game_server_tick(struct sim_game *game, bool is_quiet);

/* game_client.c */
void game_client_tick(struct sim_game *game, bool is_quiet);
/* The newest actor of a class; NULL: none. */
const struct ue_received_actor *game_client_find(const struct sim_game *game, enum game_class kind);
void game_client_call(struct sim_game *game, const struct ue_received_actor *actor, enum game_function id,
                      const struct ue_value *parameters);

/* game_beacon.c */
void game_beacon_start(struct game_actor *a);
void game_beacon_work(struct sim_game *game, struct game_actor *a);
void game_beacon_client_tick(struct sim_game *game, bool is_quiet);

#endif

/* SPDX-License-Identifier: MIT */
/* The simulated game: what its server and its clients do with replicated actors (docs/program.md). A player's
   controller, ships that move each second tick and have labels, crates that come and go with every close reason, lamps
   of the map that sleep, and calls in both directions. Of a beacon: the reservation of seats in a game. Of a replay:
   what changes in the actors, without calls. */
#ifndef UERUDP_TOOLS_SIM_GAME_H
#define UERUDP_TOOLS_SIM_GAME_H

#include <uerudp/class_layout.h>
#include <uerudp/endpoint.h>

#define SIM_GAME_PROBLEM_CHARS 160
/* Limit of its channels that are open at once. */
#define SIM_GAME_CHANNELS_MAX 48
/* What a beacon's client asks for, and the id of the beacon's actor. */
#define SIM_GAME_BEACON_TYPE "PartyBeaconClient"
#define SIM_GAME_BEACON_GUID 64

#define SIM_GAME_SHIPS_MAX 16
#define SIM_GAME_CRATES_MAX 8
#define SIM_GAME_LAMPS_MAX 6
#define SIM_GAME_CRATE_TICKS_MIN 10

/* The number of its actors; all zero: the maxima. Then how often reliable calls are made, in ticks. */
struct sim_game_cast {
    uint32_t ships; /* at least 1 */
    uint32_t crates;
    uint32_t lamps;
    uint32_t crate_ticks; /* for which a crate lives; 0: 300 */
    uint32_t hit_ticks;   /* between two calls of ClientHit; 0: 3 */
    uint32_t news_ticks;  /* between two calls of ClientNews, which are larger than a packet; 0: 150 */
    uint32_t horn_ticks;  /* between two calls of MulticastHorn of a ship; 0: 120 */
    uint32_t fire_ticks;  /* between two calls of ServerFire; 0: 20 */
};

struct sim_game_config {
    enum ue_driver driver;
    enum ue_role role;
    struct sim_game_cast cast;
    uint64_t seed;
};

enum sim_game_event_kind {
    SIM_GAME_ACTOR,    /* an actor got a channel */
    SIM_GAME_GONE,     /* the server closes the channel of an actor, or destroys it without one: reason */
    SIM_GAME_DELETED,  /* a sub-object is deleted */
    SIM_GAME_VALUES,   /* values left: handles, packets */
    SIM_GAME_CALL,     /* a call left: function, bits */
    SIM_GAME_RECEIVED, /* a call arrived: function, bits */
    SIM_GAME_FINAL     /* a value that the client must have in the end: handles, one */
};

/* What the game did, for FILE.sent.json; valid during the call. Members that a kind does not name are zero. */
struct sim_game_event {
    enum sim_game_event_kind kind;
    enum ue_role from;
    uint64_t now_ns;
    uint64_t guid;  /* of the object */
    uint64_t actor; /* whose sub-object it is; the actor itself */
    const struct ue_class *layout;
    uint32_t channel;
    uint8_t reason;
    uint64_t handles;
    const struct ue_class_function *function;
    struct ue_view bits; /* of the parameters */
    struct ue_packet_range packets;
    /* VALUES, FINAL: the value of a handle as on the wire. */
    struct ue_view (*value)(const void *object, uint32_t handle);
    const void *object;
};

typedef void sim_game_watch(void *user, const struct sim_game_event *event);

struct sim_game;

/* The game of one side of a connection. watch may be NULL. NULL: no memory. */
struct sim_game *sim_game_new(struct ue_conn *conn, const struct sim_game_config *config, sim_game_watch *watch,
                              void *user);
void sim_game_free(struct sim_game *game);
/* The peer in the same process, with which calls are compared; without it they are only counted. */
void sim_game_set_peer(struct sim_game *game, struct sim_game *peer);

/* Handles an event of the connection; call it for all of them. Returns NULL, or what is wrong. */
const char *sim_game_event(struct sim_game *game, uint64_t now_ns, const struct ue_event *event);
/* Call it once a tick, before ue_conn_tick. is_quiet: nothing changes any more, but what is not delivered is sent. */
void sim_game_tick(struct sim_game *game, uint64_t now_ns, bool is_quiet);

/* Whether all reliable bunches of one side of a game are acknowledged. */
bool sim_game_is_acked(const struct ue_conn *conn);
/* Server: whether everything was sent and acknowledged, and the client's copies equal the actors. */
bool sim_game_is_equal(struct sim_game *server, const struct sim_game *client);
/* Server: reports the values that the client must have in the end. */
void sim_game_report_final(struct sim_game *server, uint64_t now_ns);

struct sim_game_counts {
    uint64_t calls_sent[2]; /* [reliable] */
    uint64_t calls_received[2];
    uint64_t values_sent;
    uint64_t values_received;
    uint64_t faults; /* messages that were not the game's */
};
struct sim_game_counts sim_game_counts(const struct sim_game *game);

#endif

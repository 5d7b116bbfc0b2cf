/* SPDX-License-Identifier: MIT */
/* What a simulated run is made of: two ends, two links, what they say to each other, how long, and one seed. Everything
   is a value; two runs of equal scenarios are equal (law L3). */
#ifndef UERUDP_TOOLS_SIM_SCENARIO_H
#define UERUDP_TOOLS_SIM_SCENARIO_H

#include <uerudp/endpoint.h>
#include "tools/sim/link.h"
#include "tools/sim/network_emulation.h"

#define SIM_SCENARIO_STREAMS_MAX 8
#define SIM_SCENARIO_CHANNELS_MAX 1024
/* Channel 0 is Control, 1 Voice. */
#define SIM_SCENARIO_CHANNEL_VOICE 1
#define SIM_SCENARIO_CHANNEL_FIRST 2
/* Unreliable messages carry their number. */
#define SIM_STREAM_UNRELIABLE_BITS_MIN 64
#define SIM_STREAM_BITS_MAX (65536u * 8)
/* What stands around a message of an actor is less, and counts to its bunch. */
#define SIM_STREAM_BLOCK_BITS 512
#define SIM_STREAM_ACTOR_BITS_MAX (SIM_STREAM_BITS_MAX - SIM_STREAM_BLOCK_BITS)
#define SIM_STREAM_VOICE_BITS_MAX (8192u * 8)

/* Messages of one kind. The server opens the channels; a channel carries at most one reliable and one unreliable stream
   of each side. Reliable messages wait while the channel's buffer is full, unreliable ones are left out while the
   connection is over its budget. */
struct sim_stream {
    enum ue_role from;
    uint32_t channel;  /* the first */
    uint32_t channels; /* so many, in turn; 0 counts as 1 */
    bool reliable;
    bool merge;           /* small messages may share a bunch */
    bool hasty;           /* unreliable ones are said even while the connection is over its budget */
    uint32_t every_ticks; /* 0: never */
    uint32_t burst;       /* messages each time, 0 counts as 1 */
    uint32_t min_bits;    /* sizes are spread evenly over the powers of two between these */
    uint32_t max_bits;
    uint64_t total;       /* messages in all; 0: as long as the run */
    uint32_t close_after; /* server: after so many messages a channel is closed and opened again; 0: never */
    uint8_t close_reason; /* of these closes */
    bool is_voice;        /* the channel is a voice channel, whose messages are voice packets of whole bytes */
    bool is_notice;       /* server, with actors: each message opens and closes a channel, and tells that its actor is
                             gone; bits are none */
};

struct sim_scenario_side {
    const char *release; /* of the engine; NULL: 5.5 */
    double tick_hz;      /* 0: 60 */
    uint16_t first_seq;  /* of its packets; bunches begin at the same number */
    uint32_t reliable_buffer;
    int32_t net_speed; /* bytes per second, 0: the endpoint's default */
    bool no_order_cache;
    struct ue_conn_options options;
    struct sim_emulation emulation;
};

/* How a run ends. */
enum sim_ending {
    SIM_ENDING_QUIET,   /* both sides agree, and the connection stays open */
    SIM_ENDING_CLIENT,  /* the client leaves */
    SIM_ENDING_SERVER,  /* the server throws the client out */
    SIM_ENDING_TIMEOUT, /* the paths go dead, see outages, until both have given up */
    SIM_ENDING_FAILURE, /* the server refuses the login */
    SIM_ENDING_UPGRADE  /* the versions do not fit */
};

struct sim_scenario {
    const char *name;
    const char *about; /* a sentence */
    uint64_t seed;
    struct sim_scenario_side sides[2]; /* by enum ue_role */
    struct sim_link_config paths[2];   /* by the role that sends */
    struct sim_stream streams[SIM_SCENARIO_STREAMS_MAX];
    bool handshake;              /* begin with it, instead of connected at the first sequences */
    bool login;                  /* join over the control channel first, instead of one message on it */
    bool encrypt;                /* the same, with AES-GCM after EncryptionAck */
    struct ue_settings settings; /* of both ends: magic header, and handlers; encrypt needs AES-GCM first, or no list */
    bool actors;                 /* messages travel as property updates and RPCs of actors (world.h), not as they are */
    bool hostile;                /* damage may get through: only what a bad network may never do is checked */
    bool unchecked;              /* nothing is: for speed */
    enum sim_ending ending;
    uint64_t timeout_ns;  /* of both ends; 0: the engine's */
    uint64_t move_ns;     /* the client's address changes; 0: never. Needs the handshake */
    uint64_t duration_ns; /* then the links heal and nothing new is said */
    uint64_t patience_ns; /* by then everything reliable must have arrived; 0: 5 s and ten round trips */
};

/* Named scenarios, for tests and generators; NULL behind the last, or for an unknown name. */
const struct sim_scenario *sim_scenario_at(size_t index);
const struct sim_scenario *sim_scenario_find(const char *name);

const struct ue_profile *sim_scenario_profile(const struct sim_scenario *scenario, enum ue_role side);
uint64_t sim_scenario_tick_ns(const struct sim_scenario *scenario, enum ue_role side);
/* Longest way there and back, ticks of both ends included. */
uint64_t sim_scenario_rtt_ns(const struct sim_scenario *scenario);
uint64_t sim_scenario_delivery_timeout_ns(const struct sim_scenario *scenario);

bool sim_scenario_has_voice(const struct sim_scenario *scenario);

/* Whether messages on this channel travel as an actor's. */
static inline bool sim_scenario_is_actor_channel(const struct sim_scenario *scenario, uint32_t channel) {
    return scenario->actors && channel >= SIM_SCENARIO_CHANNEL_FIRST && channel < SIM_SCENARIO_CHANNELS_MAX;
}
/* The stream that a side's messages on a channel belong to; NULL: none. */
const struct sim_stream *sim_scenario_stream(const struct sim_scenario *scenario, enum ue_role from, uint32_t channel,
                                           bool reliable);

/* Whether messages on this channel travel as voice packets. */
static inline bool sim_scenario_is_voice_channel(const struct sim_scenario *scenario, uint32_t channel) {
    return channel == SIM_SCENARIO_CHANNEL_VOICE && sim_scenario_has_voice(scenario);
}

#endif
